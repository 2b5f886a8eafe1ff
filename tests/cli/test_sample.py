"""``tokenloop sample``: one pass, one distribution, many draws, two samplers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Ended
from tokenloop.cli.sample import MOST_DRAWS
from tokenloop.session.laboratory import draws as laboratory_draws
from tokenloop.session.passes import CachedPasses
from tokenloop_models import load

PROMPT = ("-p", "The cat is on the")
WIDE = (*PROMPT, "--temperature", "2", "--top-p", "1", "--min-p", "0")
"""Many candidates are left."""

Sample = Callable[..., Ended]


@pytest.fixture
def sample(cli: Cli, tiny_model_folder: Path) -> Sample:
    """Sample from the tiny model."""
    return lambda *arguments: cli("sample", str(tiny_model_folder), *arguments)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many positions each pass computed."""
    seen: list[int] = []
    run = CachedPasses.run

    def counted(self: CachedPasses, ids: list[int], **options: Any) -> Any:
        done = run(self, ids, **options)
        seen.append(done.computed)
        return done

    monkeypatch.setattr(CachedPasses, "run", counted)
    return seen


def record_of(ended: Ended) -> dict[str, Any]:
    """The one object on stdout, of a command that went well."""
    assert (ended.code, ended.err) == (0, "")
    [line] = ended.out.splitlines()
    return json.loads(line)


def test_one_pass_is_all_whatever_the_number_of_draws(sample: Sample, passes: list[int]) -> None:
    record = record_of(sample(*PROMPT, "--draws", "5000", "--token", "e", "--json"))
    assert len(passes) == 1
    assert passes == [record["latency_ms"]["positions"]] == [record["position"]]


def test_counts_and_rest_are_all_draws(sample: Sample) -> None:
    asked = (*WIDE, "--draws", "3000", "--candidates", "4", "--json")
    record = record_of(sample(*asked))
    draws = record["draws"]
    assert (draws["draws"], len(draws["counts"]), len(record["candidates"])) == (3000, 4, 4)
    assert sum(one["count"] for one in draws["counts"]) + draws["rest_count"] == 3000
    assert sum(one["final_p"] for one in draws["counts"]) + draws["rest_p"] == pytest.approx(1)
    assert sum(c["p"] for c in record["candidates"]) + record["tail"]["p"] == pytest.approx(1)
    assert 0.001 < draws["p_value"] <= 1


def test_without_a_number_it_is_ten_thousand_draws(sample: Sample) -> None:
    assert record_of(sample(*PROMPT, "--json"))["draws"]["draws"] == 10_000


def test_the_seed_decides_the_counts(sample: Sample) -> None:
    asked = (*WIDE, "--json")
    once, again, other = (
        [one["count"] for one in record_of(sample(*asked, "--seed", seed))["draws"]["counts"]]
        for seed in ("5", "5", "6")
    )
    assert once == again
    assert once != other


def test_its_next_token_is_the_one_that_a_run_takes(
    cli: Cli, sample: Sample, tiny_model_folder: Path
) -> None:
    asked = (*PROMPT, "--temperature", "2", "--top-k", "0", "--json")
    step = json.loads(cli("run", str(tiny_model_folder), *asked, "--steps", "1").out)
    record = record_of(sample(*asked))
    for key in ("chosen", "draw", "stages", "candidates", "tail", "ribbon"):
        assert record[key] == step[key]


def test_greedy_has_nothing_to_draw(sample: Sample) -> None:
    assert record_of(sample(*PROMPT, "--greedy", "--json"))["draws"] is None
    table = sample(*PROMPT, "--greedy", "--min-p", "0").out
    assert "expected" not in table
    assert "T = 0 takes the best" in table
    ended = sample(*PROMPT, "--greedy", "--draws", "10")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("tokenloop: greedy draws no number")
    assert ended.err.count("\n") == 1


def cells(line: str) -> list[str]:
    return line.replace(" %", "%").split()


def test_the_table_counts_every_candidate_that_it_shows(sample: Sample) -> None:
    asked = (*WIDE, "--draws", "2000", "--candidates", "5")
    record = record_of(sample(*asked, "--json", "--candidates", "299"))
    counts = {one["id"]: one["count"] for one in record["draws"]["counts"]}
    lines = sample(*asked).out.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("────"))
    rows = [cells(line.lstrip("▸ ")) for line in lines[start + 1 : start + 6]]
    assert [int(row[0]) for row in rows] == [1, 2, 3, 4, 5]
    for row, candidate in zip(rows, record["candidates"], strict=False):
        expected = candidate["final_p"] * 2000
        assert row[-2:] == [f"{counts.get(candidate['id'], 0):,}", f"{expected:,.1f}"]
    rest = cells(lines[start + 6])
    shown = sum(int(row[-2].replace(",", "")) for row in rows)
    assert int(rest[-2].replace(",", "")) == 2000 - shown


def test_the_table_ends_with_the_test_of_the_draws(sample: Sample) -> None:
    told = sample(*WIDE).out
    record = record_of(sample(*WIDE, "--json"))["draws"]
    assert record["degrees"] > 1
    assert f"χ² = {record['chi_square']:.2f}, {record['degrees']} degrees of freedom" in told
    assert f"p = {record['p_value']:.3f}: where draws follow it" in told


def test_draws_that_can_only_be_one_token_are_not_tested(sample: Sample) -> None:
    asked = (*PROMPT, "--stages", "top_k,temperature", "--top-k", "1")
    assert record_of(sample(*asked, "--json"))["draws"]["chi_square"] is None
    assert "one token has all the probability, nothing to test" in sample(*asked).out


def test_too_few_draws_for_a_test_are_not_called_certain(sample: Sample) -> None:
    asked = (*WIDE, "--draws", "4")
    assert record_of(sample(*asked, "--json"))["draws"]["chi_square"] is None
    assert "too few for these odds, nothing to test" in sample(*asked).out


def test_a_tokens_fate_at_every_stage(sample: Sample) -> None:
    # min-p off: what top-k 5 cuts is cut by nothing else
    asked = (*PROMPT, "--top-k", "5", "--top-p", "1", "--min-p", "0", "--token", "#40", "--json")
    record = record_of(sample(*asked))
    [found] = record["found"]
    [candidate] = found["candidates"]
    assert (found["kind"], candidate["id"]) == ("id", 40)
    assert candidate["rank"] > 5
    assert candidate["cut_by"] == "top_k"
    place = [stage["name"] for stage in record["stages"]].index("top_k")
    assert candidate["after"][place - 1] > 0
    assert candidate["after"][place:] == [0.0] * (len(record["stages"]) - place)


def test_the_table_marks_where_a_token_was_cut(sample: Sample) -> None:
    table = sample(*PROMPT, "--top-k", "5", "--temperature", "0.5", "--token", "#40").out
    heading, _, after = table.partition("#40 as id: 1 token")[2].strip().partition("\n")
    row = cells(after.splitlines()[1])
    assert cells(heading)[:5] == ["rank", "id", "token", "model", "top_k"]
    assert row[1] == "40"
    assert row[-2:] == ["✗", "top_k"]


def test_a_token_that_nothing_holds_is_said(sample: Sample) -> None:
    record = record_of(sample(*PROMPT, "--token", "no such text", "--json"))
    assert record["found"][0]["total"] == 0
    assert "no␣such␣text as text: 0 tokens" in sample(*PROMPT, "--token", "no such text").out


def test_two_presets_on_the_same_logits(sample: Sample, passes: list[int]) -> None:
    record = record_of(sample(*PROMPT, "--compare", "llamacpp,transformers", "--json"))
    assert len(passes) == 1
    left, right = record["left"], record["right"]
    assert (left["name"], right["name"]) == ("llamacpp", "transformers")
    assert (left["order"], right["order"]) == ("llamacpp", "transformers")
    assert left["survivors"] == record["both"] + record["only_left"]
    assert right["survivors"] == record["both"] + record["only_right"]
    for preset, side in (("llamacpp", left), ("transformers", right)):
        alone = record_of(sample(*PROMPT, "--preset", preset, "--json"))
        assert side["stages"] == alone["stages"]
        assert side["draw"] == alone["draw"]


def test_what_else_is_given_goes_on_top_of_both_sides(sample: Sample) -> None:
    asked = ("--compare", "precise,greedy", "--top-k", "3", "--json", *PROMPT)
    record = record_of(sample(*asked))
    for side in (record["left"], record["right"]):
        [top_k] = [stage for stage in side["stages"] if stage["name"] == "top_k"]
        assert top_k["settings"]["k"] == 3


def test_ones_own_preset_can_be_a_side(sample: Sample, settings_folder: Path) -> None:
    (settings_folder / "settings.toml").write_text(
        "[presets.mine]\ntop_k = 2\nmin_p = 0\ntop_p = 1\n"
    )
    record = record_of(sample(*PROMPT, "--compare", "mine,llamacpp", "--json"))
    assert (record["left"]["name"], record["left"]["survivors"]) == ("mine", 2)


def test_the_comparisons_table_has_both_sides_and_what_only_one_keeps(sample: Sample) -> None:
    asked = (*PROMPT, "--compare", "precise,transformers", "--candidates", "299")
    record = record_of(sample(*asked, "--json"))
    told = sample(*asked).out
    assert f"only transformers {record['only_right']:,}" in told
    assert f"disagree on {record['total_variation'] * 100:.2f} % of the probability" in told
    most = record["candidates"][0]
    difference = f"{(most['right_p'] - most['left_p']) * 100:+.2f}".replace("-", "−")
    assert difference in told
    assert "precise in llamacpp order" in told
    assert "transformers in transformers order" in told
    assert "✗ top_p" in told


def test_what_a_ban_takes_is_said_in_its_stage(sample: Sample) -> None:
    best = record_of(sample(*PROMPT, "--json"))["candidates"][0]
    banned = record_of(sample(*PROMPT, "--ban", str(best["id"]), "--json"))
    assert banned["candidates"][0]["cut_by"] == "logit_bias"
    assert banned["stages"][0]["mass_cut"] == pytest.approx(best["p"])


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), "-p TEXT"),
        ((*PROMPT, "--draws", "0"), "--draws"),
        ((*PROMPT, "--draws", "1000001"), "--draws"),
        ((*PROMPT, "--compare", "llamacpp"), "--compare takes two presets"),
        ((*PROMPT, "--compare", "llamacpp,llamacpp"), "--compare takes two presets"),
        ((*PROMPT, "--compare", "llamacpp,mine"), "'mine' is no preset"),
        ((*PROMPT, "--compare", "llamacpp,greedy", "--draws", "5"), "--compare goes with no"),
        ((*PROMPT, "--compare", "llamacpp,greedy", "--token", "a"), "--compare goes with no"),
        ((*PROMPT, "--compare", "llamacpp,greedy", "--preset", "greedy"), "--compare goes with no"),
        ((*PROMPT, "--top-p", "2"), "top_p = 2.0 is not possible"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    sample: Sample, arguments: tuple[str, ...], names: str
) -> None:
    ended = sample(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("tokenloop: ")
    assert ended.err.endswith("(tokenloop sample --help)\n")
    assert ended.err.count("\n") == 1
    assert names in ended.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--token", ""), "an empty search"),
        (("--ban", "99999"), "logit_bias = 99999 is not possible"),
        (("--bad-words", "99999"), "bad_words"),
        (("--stages", "logit_bias", *(f"--ban={n}" for n in range(299))), "logit_bias leaves"),
        (("--json-schema", "no-such-file.json"), "no-such-file.json: No such file"),
    ],
)
def test_what_cannot_be_sampled_is_one_line_and_exit_1(
    sample: Sample, arguments: tuple[str, ...], why: str
) -> None:
    ended = sample(*PROMPT, *arguments)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("tokenloop: ")
    assert ended.err.count("\n") == 1
    assert why in ended.err


def test_the_most_draws_are_what_the_laboratory_allows() -> None:
    assert MOST_DRAWS == laboratory_draws.MOST_DRAWS


@pytest.mark.real
def test_the_walk_of_the_readme(
    cli: Cli, real_model_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load(real_model_path)  # once for all commands
    monkeypatch.setattr("tokenloop.cli.sample.load_model", lambda _model, _choice: loaded)
    australia = ("sample", str(real_model_path), "-p", "The capital of Australia is")

    def final(*arguments: str) -> dict[str, float]:
        record = record_of(cli(*australia, *arguments, "--json"))
        return {c["label"]: c["final_p"] for c in record["candidates"]}

    plain = final()
    assert plain["␣Sydney"] > plain["␣Canberra"] > 0.4
    excluded = final("--xtc-probability", "1", "--xtc-threshold", "0.3")
    assert excluded["␣Sydney"] == 0
    assert excluded["␣Canberra"] == max(excluded.values())
    found = record_of(cli(*australia, "--min-p", "0.2", "--token", "Perth", "--json"))["found"]
    assert found[0]["candidates"][0]["cut_by"] == "min_p"
    draws = record_of(cli(*australia, "--draws", "1000", "--json"))["draws"]
    assert draws["p_value"] > 0.001
