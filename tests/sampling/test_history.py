"""The stages that look at the prefix, against distributions small enough to work out by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling.chains import P, chain, chain_on, final, outcome
from tokenloop.errors import DistributionError, SettingError
from tokenloop.sampling import Grammar, Situation, Trace
from tokenloop.sampling.stages.repeats import longest_by_successor, repeats

ROSES, ARE, RED, LINE = range(4)


@dataclass(frozen=True)
class Spelled:
    """A vocabulary of a few pieces."""

    pieces: tuple[bytes, ...] = (b"roses", b" are", b" red", b",\n")

    def raw(self, token_id: int) -> bytes:
        return self.pieces[token_id]

    def encode(self, text: str) -> list[int]:
        raise AssertionError(text)

    def label(self, token_id: int) -> str:
        return self.raw(token_id).decode(errors="replace").replace(" ", "␣").replace("\n", "⏎")


def seen(
    *prefix: int, prompt: int = 0, eos: tuple[int, ...] = (), words: Spelled | None = None
) -> Situation:
    return Situation(prefix, prompt, eos, words=words or Spelled())


def changes(trace: Trace) -> dict[int, float]:
    """What was added to each logit."""
    index, here = trace.raw.locate(trace.final.ids)
    assert here.all()
    added = trace.final.logits - trace.raw.logits[index]
    ids = trace.final.ids.tolist()
    return {token: float(by) for token, by in zip(ids, added, strict=True) if by}


# --- DRY -----------------------------------------------------------------------------------------


def dry(situation: Situation, **settings: object) -> Trace:
    values: dict[str, object] = {"dry_multiplier": 1.0, "dry_sequence_breakers": ()}
    return chain(situation=situation, **{**values, **settings})


def test_dry_subtracts_multiplier_times_base_to_the_excess() -> None:
    # "roses are red" came before and "roses are" ends the text: a match of 2, red would follow.
    trace = dry(seen(ROSES, ARE, RED, LINE, ROSES, ARE), dry_multiplier=math.log(2))
    assert changes(trace) == pytest.approx({RED: -math.log(2)})
    assert final(trace) == pytest.approx(
        {ROSES: 0.5 / 0.925, ARE: 0.25 / 0.925, RED: 0.075 / 0.925, LINE: 0.1 / 0.925}, abs=1e-6
    )


@pytest.mark.parametrize(("match", "penalty"), [(1, None), (2, 1.0), (3, 1.75), (4, 1.75**2)])
def test_dry_grows_with_the_match(match: int, penalty: float | None) -> None:
    sequence = [ROSES, ARE, RED, ARE][-match:]
    trace = dry(seen(*sequence, LINE, *sequence))
    assert changes(trace) == ({LINE: pytest.approx(-penalty)} if penalty else {})


def test_dry_shows_the_match_its_length_and_the_penalty() -> None:
    done = outcome(dry(seen(ROSES, ARE, RED, LINE, ROSES, ARE, RED)), "dry")
    assert done.note == "repeats roses␣are␣red: 3 tokens, ,⏎ −1.75"
    assert done.figures == {
        "match": 3,
        "sequence": "roses␣are␣red",
        "next": ",⏎",
        "penalty": 1.75,
        "penalised": 1,
    }


def test_dry_takes_each_candidates_longest_match() -> None:
    # "are" was followed by red after "roses", and by a line break after "red".
    trace = dry(seen(ROSES, ARE, RED, ARE, LINE, ROSES, ARE), dry_allowed_length=1)
    assert changes(trace) == pytest.approx({RED: -1.75, LINE: -1.0})


@pytest.mark.parametrize(
    ("prefix", "settings", "says"),
    [
        ((ROSES, ARE, RED), {}, "␣red does not come earlier in the window"),
        ((ARE, RED, ARE), {}, "the end repeats 1 token: it counts from 2"),
        (
            (ROSES, LINE, ARE, RED, ROSES, LINE, ARE),
            {"dry_sequence_breakers": ("\n",)},
            "a breaker leaves 1 of 3 tokens that repeat: it counts from 2",
        ),
        (
            (ROSES, ARE, LINE, RED, ROSES, ARE),
            {"dry_sequence_breakers": ("\n",)},
            "what would repeat is cut already, or breaks sequences",
        ),
        ((ROSES, ARE, RED, ROSES, ARE), {"dry_penalty_last_n": 0}, "off: a window of 0 tokens"),
        ((ROSES, ARE, RED, ROSES, ARE), {"dry_multiplier": 0.0}, "off: multiplier 0"),
    ],
)
def test_dry_that_does_nothing_says_why(prefix, settings, says) -> None:
    trace = dry(seen(*prefix), **settings)
    assert outcome(trace, "dry").skipped == says
    assert changes(trace) == {}


def test_a_breaker_counts_however_it_is_cut_into_tokens() -> None:
    words = Spelled((b"you", b"<|", b"im|>x", b" a", b" b"))
    situation = seen(0, 1, 2, 3, 4, 0, 1, 2, 3, words=words)
    p = (0.2, 0.2, 0.2, 0.2, 0.2)
    one = chain(p=p, situation=situation, dry_multiplier=1.0, dry_allowed_length=1)
    assert changes(one) == pytest.approx({4: -(1.75**3)})
    broken = ("<|im|>",)  # ends within the third token: only " a" is behind it
    two = chain(
        p=p,
        situation=situation,
        dry_multiplier=1.0,
        dry_allowed_length=1,
        dry_sequence_breakers=broken,
    )
    assert changes(two) == pytest.approx({4: -1.0})


def test_dry_leaves_the_prompt_out_where_it_is_told_to() -> None:
    situation = seen(ROSES, ARE, RED, ROSES, ARE, prompt=3)
    assert changes(dry(situation)) == {RED: -1.0}
    without = dry(situation, penalize_prompt=False)
    assert changes(without) == {}
    assert outcome(without, "dry").definition == "all 2 tokens, without the prompt"


def test_the_dry_window_counts_from_the_end() -> None:
    situation = seen(ROSES, ARE, RED, ROSES, ARE)
    assert changes(dry(situation, dry_penalty_last_n=5)) == {RED: -1.0}
    assert changes(dry(situation, dry_penalty_last_n=4)) == {}
    shown = outcome(dry(situation, dry_penalty_last_n=4), "dry").definition
    assert shown == "the last 4 of 5 tokens, the prompt counts"


def test_dry_never_cuts_however_long_the_match() -> None:
    trace = dry(seen(*([ROSES] * 5000)), dry_base=100.0, dry_multiplier=100.0)
    assert len(trace.final) == 4
    assert np.isfinite(trace.final.logits).all()
    assert trace.final.probabilities[0] == 0


def naive_repeats(sequence: list[int]) -> list[int]:
    lengths = []
    for place in range(len(sequence) - 1):
        length = 0
        while length <= place and sequence[place - length] == sequence[-1 - length]:
            length += 1
        lengths.append(length)
    return lengths


@given(st.lists(st.integers(0, 3), max_size=60))
def test_repeats_are_found_as_by_looking_at_every_place(sequence: list[int]) -> None:
    assert repeats(sequence).tolist() == naive_repeats(sequence)


@given(st.integers(1, 5), st.integers(0, 40))
def test_repeats_of_what_repeats_itself(period: int, times: int) -> None:
    sequence = list(range(period)) * times
    assert repeats(sequence).tolist() == naive_repeats(sequence)


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 4))
def test_each_successors_longest_repetition(sequence: list[int], least: int) -> None:
    expected: dict[int, int] = {}
    for place, length in enumerate(naive_repeats(sequence)):
        if length >= least:
            after = sequence[place + 1]
            expected[after] = max(expected.get(after, 0), length)
    ids, lengths = longest_by_successor(sequence, repeats(sequence), least)
    assert dict(zip(ids.tolist(), lengths.tolist(), strict=True)) == expected


# --- bans ----------------------------------------------------------------------------------------


def test_no_bigram_twice_bans_what_followed_the_last_token() -> None:
    trace = chain(situation=seen(ROSES, ARE, RED, ARE), no_repeat_ngram_size=2)
    assert final(trace) == pytest.approx({0: 0.5 / 0.85, 1: 0.25 / 0.85, 3: 0.1 / 0.85}, abs=1e-6)
    done = outcome(trace, "no_repeat_ngram")
    assert (done.note, done.figures) == ("bans ␣red", {"banned": 1})
    assert trace.cut_by(trace.raw.ids)[RED] == "no_repeat_ngram"


def test_no_unigram_twice_bans_everything_seen() -> None:
    trace = chain(situation=seen(ROSES, RED), no_repeat_ngram_size=1)
    assert set(final(trace)) == {ARE, LINE}


def test_ngrams_of_the_prompt_count_unless_told_otherwise() -> None:
    situation = seen(ROSES, ARE, RED, ARE, prompt=3)
    assert RED not in final(chain(situation=situation, no_repeat_ngram_size=2))
    without = chain(situation=situation, no_repeat_ngram_size=2, penalize_prompt=False)
    assert RED in final(without)
    skipped = outcome(without, "no_repeat_ngram").skipped
    assert skipped == "no n-gram would come a second time"


def test_bad_words_ban_the_last_token_of_what_the_text_ends_with_the_rest_of() -> None:
    words = ((ROSES, ARE), (RED, LINE), (RED,), (ROSES, ROSES, ARE, LINE))
    trace = chain(situation=seen(RED, ROSES), bad_words=words)
    assert final(trace) == pytest.approx({ROSES: 0.5 / 0.6, LINE: 0.1 / 0.6}, abs=1e-6)
    assert outcome(trace, "bad_words").note == "bans ␣are, ␣red"
    assert outcome(trace, "bad_words").values == {"sequences": 4}


def test_a_bad_word_that_only_ends_the_text_is_left_to_the_least_length() -> None:
    trace = chain(situation=seen(ROSES, eos=(LINE,)), bad_words=((LINE,), (ROSES, LINE)))
    assert LINE not in final(trace)
    alone = chain(situation=seen(ROSES, eos=(LINE,)), bad_words=((LINE,),))
    assert LINE in final(alone)
    assert "min-length is for that" in str(outcome(alone, "bad_words").definition)


@pytest.mark.parametrize(("new", "missing"), [(0, 2), (1, 1), (2, None), (3, None)])
def test_the_end_is_banned_until_there_are_enough_new_tokens(new: int, missing: int | None) -> None:
    prefix = [ROSES] * (5 + new)
    trace = chain(situation=seen(*prefix, prompt=5, eos=(LINE, RED)), min_new_tokens=2)
    done = outcome(trace, "min_length")
    if missing is None:
        assert done.skipped == f"reached: {new} new tokens"
        assert len(trace.final) == 4
    else:
        assert final(trace) == pytest.approx({ROSES: 2 / 3, ARE: 1 / 3}, abs=1e-6)
        token = "token" if missing == 1 else "tokens"
        assert done.note == f"{missing} more new {token} before ␣red, ,⏎ may come"
        assert done.figures == {"missing": missing, "banned": 2}


def test_a_vocabulary_without_an_end_says_so() -> None:
    trace = chain(situation=seen(ROSES), min_new_tokens=9)
    assert outcome(trace, "min_length").skipped == "no token of this vocabulary ends a text"


def test_bias_adds_and_minus_infinity_bans_and_both_are_shown() -> None:
    trace = chain(situation=seen(), logit_bias={ARE: math.log(4), ROSES: -math.inf})
    assert final(trace) == pytest.approx({ARE: 0.8, RED: 0.12, LINE: 0.08}, abs=1e-6)
    done = outcome(trace, "logit_bias")
    assert done.values == {"tokens": 2, "banned": 1}
    assert done.note == "bans roses · adds to ␣are"
    assert done.figures == {"added_ids": "1", "banned_ids": "0"}


@pytest.mark.parametrize(
    ("name", "value"), [("logit_bias", {9: 1.0}), ("bad_words", ((0, 9),)), ("bad_words", ((9,),))]
)
def test_ids_outside_the_vocabulary_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SettingError, match=rf"{name} = 9 .* ids from 0 to 3"):
        chain(situation=seen(), **{name: value})


@pytest.mark.parametrize(
    ("stage", "settings"),
    [
        ("no_repeat_ngram", {"no_repeat_ngram_size": 1}),
        ("bad_words", {"bad_words": ((3, 0), (3, 1), (3, 2), (3, 3))}),
        ("logit_bias", {"logit_bias": dict.fromkeys(range(4), -math.inf)}),
        ("min_length", {"min_new_tokens": 9}),
    ],
)
def test_banning_everything_names_the_stage(stage: str, settings: dict[str, object]) -> None:
    with pytest.raises(DistributionError, match=f"{stage} leaves no candidate"):
        chain(situation=seen(0, 1, 2, 3, prompt=4, eos=(0, 1, 2, 3)), **settings)


# --- penalties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["llamacpp", "transformers"])
def test_the_penalties_say_which_window_is_active(order: str) -> None:
    situation = seen(*([ROSES] * 70), prompt=60)
    of = {"llamacpp": "the last 64 of 70 tokens", "transformers": "all 70 tokens"}[order]
    trace = chain(situation=situation, order=order, repeat_penalty=2.0)
    assert outcome(trace, "penalties").definition == f"{of}, the prompt counts"
    assert outcome(trace, "penalties").figures == {"penalised": 1}
    trace = chain(situation=situation, order=order, repeat_penalty=2.0, penalize_prompt=False)
    assert outcome(trace, "penalties").definition == "all 10 tokens, without the prompt"


def test_penalties_leave_the_prompt_out_where_they_are_told_to() -> None:
    situation = seen(ROSES, ARE, prompt=1)
    trace = chain(situation=situation, presence_penalty=1.0, penalize_prompt=False)
    assert changes(trace) == {ARE: -1.0}


# --- the grammar, as a stage ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Allows:
    """A grammar's answer at one prefix."""

    allowed: np.ndarray | None
    state: str = "not complete yet"


def under(*allowed: int, eos: tuple[int, ...] = (), **settings: object) -> Trace:
    mask = np.isin(np.arange(4), allowed)
    situation = Situation((), eos_ids=eos, words=Spelled(), constraint=Allows(mask))
    return chain_on(np.log(np.array(P)), situation, grammar=Grammar("regex", "x"), **settings)


def test_a_grammar_keeps_the_models_own_odds_among_what_it_allows() -> None:
    trace = under(ARE, LINE)
    assert final(trace) == pytest.approx({ARE: 0.25 / 0.35, LINE: 0.1 / 0.35})
    done = outcome(trace, "grammar")
    assert done.mass_cut == pytest.approx(0.65)
    assert done.note == "not complete yet · allows 2 · would have said roses 50.0 %"


def test_what_the_model_would_have_said_is_only_said_where_it_is_cut() -> None:
    assert "best cut ␣are 25.0 %" in str(outcome(under(ROSES, RED), "grammar").note)


def test_an_end_that_is_cut_says_that_the_text_is_not_complete() -> None:
    note = outcome(under(RED, eos=(ROSES,)), "grammar").note
    assert str(note).endswith("would have said roses 50.0 %, but the text can't end yet")


def test_a_dead_end_names_the_place_and_who_left_nothing() -> None:
    with pytest.raises(DistributionError, match=r"^grammar: dead end after 0 new tokens: no token"):
        under()
    with pytest.raises(DistributionError, match=r"of the 1 token that it allows .* leave none"):
        under(RED, logit_bias={RED: -math.inf})
