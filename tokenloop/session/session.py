"""The session: a prefix, the distribution held after it, and everything that may happen next.

Nothing of the session changes before a command has succeeded: a command that fails or is cancelled
leaves the prefix, the held logits and the settings as they were. Only one thread may use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tokenloop.errors import ContextFullError, SessionError
from tokenloop.records import (
    CheckRecord,
    Choice,
    Comparison,
    DrawsRecord,
    FoundTokens,
    ModelInfo,
    StepRecord,
    SweepRecord,
    Watched,
)
from tokenloop.sampling import (
    DEFAULT_SEED,
    Candidates,
    SamplerSettings,
    Situation,
    check_seed,
    raw_candidates,
)
from tokenloop.session.check import check
from tokenloop.session.history import History
from tokenloop.session.laboratory.compare import Named, compare
from tokenloop.session.laboratory.draws import draw_many
from tokenloop.session.laboratory.find import find
from tokenloop.session.laboratory.past import BranchPast
from tokenloop.session.laboratory.repetition import repetition
from tokenloop.session.laboratory.sweep import sweep
from tokenloop.session.laboratory.watch import WatchList
from tokenloop.session.now import Dials, Now, consider
from tokenloop.session.passes import CachedPasses, Pass, common_prefix
from tokenloop.session.reading import read_tokens
from tokenloop.session.recorder import forced_choice, step_record
from tokenloop.session.runtime import IsCancelled, OnProgress, Runtime
from tokenloop.session.situations import Mu, Situations, next_mu, prompt_length_after
from tokenloop.session.snapshot import Snapshot
from tokenloop.session.tree import HeldLogits, Node, Tree
from tokenloop.session.vocabulary import Vocabulary
from tokenloop.session.writing import edited_ids, layout, prompt_ids

SHOWN = 40
"""Candidates that a record shows unless told otherwise."""

Branch = tuple[Node, ...]
"""The nodes of a prefix, one a token."""


class Session:
    """One run of a model: see the module's text.

    Args:
        runtime: the decoder.
        settings: the sampler's.
        seed: where the draws come from, in [0, 2**64).
        shown: candidates that a record shows. It never changes what can be drawn.

    Raises:
        SettingError: the seed is out of range.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        settings: SamplerSettings | None = None,
        seed: int = DEFAULT_SEED,
        shown: int = SHOWN,
    ) -> None:
        self._runtime = runtime
        self._tokenizer = runtime.tokenizer
        self._vocabulary = Vocabulary(runtime.tokenizer)
        self._passes = CachedPasses(runtime)
        self._dials = Dials(settings or SamplerSettings(), check_seed(seed), shown)
        self._tree = Tree()
        self._held = HeldLogits()
        self._branch: Branch = ()
        self._now: Now | None = None
        self._cache = self._passes.record(0, 0)
        self._history = History()
        self._prompt_length = 0
        self.model = _model_info(runtime)
        self._watch_list = WatchList()
        self._situations = Situations(self._vocabulary, self.model.eos_ids)

    # --- what it is now --------------------------------------------------------------------------

    @property
    def ids(self) -> list[int]:
        """The prefix: the truth of the session."""
        return _ids_of(self._branch)

    @property
    def cached_ids(self) -> tuple[int, ...]:
        """The prefix that the KV cache holds."""
        return self._passes.ids

    @property
    def settings(self) -> SamplerSettings:
        """The sampler's settings."""
        return self._dials.settings

    @property
    def held(self) -> Choice:
        """The held distribution and the draw that will happen.

        Raises:
            SessionError: no prompt was opened.
        """
        return self._held_now().choice

    @property
    def held_logits(self) -> NDArray[np.float64]:
        """(vocab,) logits after the prefix; minus infinity for what is no candidate.

        Raises:
            SessionError: no prompt was opened.
        """
        raw = self._held_now().raw
        logits = np.full(self.model.vocab_size, -np.inf)
        logits[raw.ids] = raw.logits
        return logits

    @property
    def steps(self) -> int:
        """Tokens of the prefix that a step appended."""
        return sum(node.shown.how != "given" for node in self._branch)

    @property
    def ended(self) -> bool:
        """Whether a step appended a token that ends a text."""
        if not self._branch:
            return False
        last = self._branch[-1]
        return last.shown.how != "given" and last.token.id in self.model.eos_ids

    @property
    def context_full(self) -> bool:
        """Whether no further token fits."""
        return len(self._branch) >= self.model.context_length

    @property
    def text(self) -> str:
        """The prefix as text; bytes that are no character show as U+FFFD."""
        return layout(self.ids, self._vocabulary).text

    def snapshot(self) -> Snapshot:
        """All of this as one immutable value."""
        return Snapshot(
            model=self.model,
            prefix=tuple(node.shown for node in self._branch),
            text=self.text,
            choice=self._now.choice if self._now is not None else None,
            cache=self._cache,
            latency=self._history.record(),
            settings=self._dials.settings,
            seed=self._dials.seed,
            steps=self.steps,
            ended=self.ended,
            context_full=self.context_full,
            notice=None if self._now is not None else "no prompt yet",
            prompt_length=self._prompt_length,
            watched=self._watched(),
            repetition=repetition(self._branch),
        )

    def look(self, position: int) -> StepRecord:
        """How an earlier token came to be; nothing is recomputed.

        Raises:
            SessionError: there is no such token, or nothing came before it.
        """
        if not 0 <= position < len(self._branch):
            raise SessionError(
                f"no token at position {position}: the prefix has {len(self._branch)}"
            )
        node = self._branch[position]
        if node.record is not None:
            return node.record
        if node.reading is None:
            raise SessionError("nothing comes before the first token: it had no distribution")
        reading, row = node.reading
        return reading.record(row, node.token.id, position, self._vocabulary)

    def check(
        self,
        reference: Runtime | None = None,
        *,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> CheckRecord:
        """Compare what is held with the same prefix computed afresh; nothing changes.

        Args:
            reference: the same model in float32; the session's own where it is that already.
            progress: told of positions done.
            cancelled: asked between chunks.

        Raises:
            SessionError: no prompt yet.
            Cancelled, ModelError: as for :meth:`open`.
        """
        return check(
            self._held_now(),
            self.ids,
            reference or self._runtime,
            self._dials,
            self._vocabulary,
            dtype=self.model.dtype,
            progress=progress,
            cancelled=cancelled,
        )

    # --- text to prefix --------------------------------------------------------------------------

    def encode(self, text: str, *, specials: bool = False) -> list[int]:
        """A text's ids, behind the BOS where the tokenizer wants one.

        Args:
            text: any text.
            specials: whether ``<|…|>`` in it means the special token rather than its characters.

        Raises:
            ModelError: the text can't be encoded.
        """
        return prompt_ids(text, self._tokenizer, specials=specials)

    def open(
        self,
        ids: Sequence[int],
        *,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> None:
        """Begin anew with a prompt: one prefill.

        Raises:
            SessionError: no ids.
            ContextFullError: too many.
            ModelError: an id that the model does not have.
            Cancelled: stopped between chunks.
        """
        ids = list(ids)
        with self._unchanged_on_failure():
            run = self._prefill(ids, keep=0, progress=progress, cancelled=cancelled)
            candidates = self._candidates(run.output.logits)
            situation = self._situations.after(ids, len(ids), None, self._dials.settings)
            now = consider(candidates, situation, 0, self._dials, self._vocabulary)
        self._tree, self._held = Tree(), HeldLogits()
        self._history = History()
        self._commit_given(ids, common=0, run=run, now=now, before=None)

    def edit(
        self,
        text: str,
        *,
        specials: bool = False,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> None:
        """Replace the text: tokens outside what changed keep their ids, the rest is encoded.

        Raises:
            SessionError: the new text is empty.
            ContextFullError, ModelError, Cancelled: as for :meth:`open`.
        """
        ids = edited_ids(self.ids, text, self._vocabulary, specials=specials)
        self._give(ids, progress, cancelled)

    def type(
        self,
        text: str,
        *,
        specials: bool = False,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> None:
        """Append text: one token is a forced step, several are read in one prefill.

        Raises:
            SessionError: no text, or no prompt yet.
            ContextFullError, ModelError, Cancelled: as for :meth:`open`.
        """
        self._held_now()
        ids = self._tokenizer.encode(text, specials=specials, continues=True)
        if not ids:
            raise SessionError("nothing to append: the text is empty")
        if len(ids) == 1:
            self.force(ids[0])
        else:
            self._give(self.ids + ids, progress, cancelled)

    # --- one token at a time ---------------------------------------------------------------------

    def step(self) -> StepRecord:
        """Make the pending draw fact: append its token, run one pass.

        Raises:
            SessionError: no prompt yet.
            ContextFullError: no room for another token.
            DistributionError: nothing can be drawn from the next logits; the session is unchanged.
        """
        return self._append(self._held_now().choice)

    def force(self, token_id: int) -> StepRecord:
        """Append a token of the person's choice, whether the sampler kept it or not.

        Raises:
            SessionError: it is no candidate; otherwise as for :meth:`step`.
        """
        now = self._held_now()
        if now.raw.find(token_id) is None:
            raise SessionError(f"token {token_id} is no candidate here: see the table's ids")
        return self._append(forced_choice(now.choice, now.trace, token_id, self._vocabulary))

    def rewind(self, count: int = 1) -> None:
        """Drop tokens from the end.

        Raises:
            SessionError: fewer than one token would be left.
        """
        self.rewind_to(len(self._branch) - count)

    def rewind_to(self, length: int) -> None:
        """Keep the first ``length`` tokens; a pass runs only if their logits are no longer held.

        Raises:
            SessionError: ``length`` is not from 1 to the prefix's.
        """
        self._held_now()
        if not 1 <= length <= len(self._branch):
            raise SessionError("nothing left to rewind: a pass needs at least one token")
        branch = self._branch[:length]
        ids = _ids_of(branch)
        logits = self._held.get(branch[-1])
        run = None
        with self._unchanged_on_failure():
            if logits is None:
                run = self._passes.run(ids)
                logits = run.output.logits
            prompt_length = min(self._prompt_length, length)
            now = self._consider(ids, logits, prompt_length, branch[-1].mu)
        self._passes.truncate(length)
        self._commit(branch, now, logits, run)

    def roll(self) -> Choice:
        """Roll again: the next attempt at the same position. No pass runs.

        Raises:
            SessionError: at T = 0 nothing is drawn, so nothing can be rolled.
        """
        now = self._held_now()
        if self._dials.settings.greedy:
            raise SessionError("greedy draws no number: raise the temperature to roll again")
        last = self._branch[-1]
        last.attempt += 1
        self._now = consider(now.raw, now.situation, last.attempt, self._dials, self._vocabulary)
        self._history.redrawn(self._now.sample_ms)
        return self._now.choice

    def resample(self) -> StepRecord:
        """Rewind one, roll, step.

        Raises:
            SessionError: the last token was given, not sampled; or as for :meth:`roll`.
        """
        self._held_now()
        if self._branch[-1].shown.how == "given":
            raise SessionError("the last token was given, not sampled: edit the text instead")
        parent = self._branch[-2]
        attempt = parent.attempt
        try:
            with self._unchanged_on_failure():
                self.rewind()
                self.roll()
                return self.step()
        except Exception:
            parent.attempt = attempt
            raise

    # --- the dials -------------------------------------------------------------------------------

    def configure(self, settings: SamplerSettings) -> None:
        """Change the sampler and redraw from the held logits. No pass runs.

        Raises:
            DistributionError, SettingError: the settings leave nothing to draw from, or don't fit
                this vocabulary; they are as before.
        """
        self._turn(replace(self._dials, settings=settings))

    def reseed(self, seed: int) -> None:
        """Change the seed; the pending draw changes with it.

        Raises:
            SettingError: it is out of range.
        """
        self._turn(replace(self._dials, seed=check_seed(seed)))

    def show(self, count: int) -> None:
        """Show so many candidates from now on."""
        self._turn(replace(self._dials, shown=max(1, count)))

    # --- the laboratory: no pass, nothing changes ------------------------------------------------

    def draws(self, count: int, *, shown: int = SHOWN) -> DrawsRecord:
        """What the first ``count`` rolls at this position would draw: see :mod:`.laboratory.draws`.

        Raises:
            SettingError, SessionError: as :func:`~tokenloop.session.laboratory.draws.draw_many`.
        """
        return draw_many(self._held_now(), count, self._vocabulary, shown=shown)

    def sweep(self, setting: str, *, points: int = 41, shown: int = 8) -> SweepRecord:
        """The chain over a range of one setting: see :mod:`.laboratory.sweep`.

        Raises:
            SettingError, SessionError: as :func:`~tokenloop.session.laboratory.sweep.sweep`.
        """
        now, settings = self._held_now(), self._dials.settings
        return sweep(
            now, settings, setting, self._situate, self._vocabulary, points=points, shown=shown
        )

    def compare(self, left: Named, right: Named, *, shown: int = SHOWN) -> Comparison:
        """Two named settings on the held logits: see :mod:`.laboratory.compare`.

        Raises:
            DistributionError, SettingError, SessionError: as
                :func:`~tokenloop.session.laboratory.compare.compare`.
        """
        now = self._held_now()
        return compare(now, left, right, self._situate, self._vocabulary, shown=shown)

    def find(self, query: str, *, shown: int = 200) -> FoundTokens:
        """Search the whole vocabulary by text, bytes or id: see :mod:`.laboratory.find`.

        Raises:
            SessionError: as :func:`~tokenloop.session.laboratory.find.find`.
        """
        return find(self._held_now(), query, self._vocabulary, shown=shown)

    def watch(self, token_id: int) -> None:
        """Pin a token, or unpin it: the snapshot says where it stood at each position.

        Raises:
            SessionError: the model has no such token, or too many are pinned.
        """
        if not 0 <= token_id < self._tokenizer.size:
            raise SessionError(f"no token {token_id}: ids are 0 to {self._tokenizer.size - 1}")
        self._watch_list.toggle(token_id)

    # --- inside ----------------------------------------------------------------------------------

    def _held_now(self) -> Now:
        if self._now is None:
            raise SessionError("no prompt yet: give the model a text to go on from")
        return self._now

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """Whatever goes wrong inside, the prefix and what is held after it stay as they were.

        The cache keeps the part of the prefix that the failed pass did not overwrite, and says so.
        """
        before = self._branch, self._now
        try:
            yield
        except BaseException:
            self._branch, self._now = before
            kept = common_prefix(self._passes.ids, self.ids)
            self._passes.truncate(kept)
            if kept != self._cache.positions:
                self._cache = self._passes.record(kept, 0)
            raise

    def _situate(self, settings: SamplerSettings) -> Situation:
        """Where the pending draw would stand under other settings."""
        mu = self._branch[-1].mu
        situation = self._situations.after(self.ids, self._prompt_length, mu, settings)
        return replace(situation, chance=self._held_now().luck.chance)

    def _watched(self) -> tuple[Watched, ...]:
        if self._now is None:
            return ()
        past = BranchPast(
            self._branch, self._held, self._situations, self._prompt_length, self._candidates
        )
        return self._watch_list.record(self._branch, self._now, past, self._vocabulary)

    def _turn(self, dials: Dials) -> None:
        if self._now is not None:
            last = self._branch[-1]
            situation = self._situations.after(
                self.ids, self._prompt_length, last.mu, dials.settings
            )
            self._now = consider(self._now.raw, situation, last.attempt, dials, self._vocabulary)
            self._history.redrawn(self._now.sample_ms)
        self._dials = dials

    def _consider(
        self, ids: list[int], logits: NDArray[np.float32], prompt_length: int, mu: Mu | None
    ) -> Now:
        """What would be held after ``ids``; the attempt is the one last made there, if any."""
        visited = self._tree.find(ids)
        attempt = visited.attempt if visited is not None else 0
        situation = self._situations.after(ids, prompt_length, mu, self._dials.settings)
        return consider(self._candidates(logits), situation, attempt, self._dials, self._vocabulary)

    def _candidates(self, logits: NDArray[np.float32]) -> Candidates:
        # Ids beyond the tokenizer's are padding of the weights: no text, so no candidates.
        return raw_candidates(logits[: self._tokenizer.size])

    def _append(self, choice: Choice) -> StepRecord:
        """Append the chosen token, run one pass, look at what comes next, record it."""
        if self.context_full:
            raise ContextFullError(self.model.context_length)
        ids = [*self.ids, choice.chosen.id]
        mu = next_mu(self._branch[-1].mu, choice, self._dials.settings)
        with self._unchanged_on_failure():
            run = self._passes.run(ids)
            now = self._consider(ids, run.output.logits, self._prompt_length, mu)
        node = self._tree.child(self._branch[-1], self._vocabulary.token(choice.chosen.id))
        node.arrived(choice.draw.how, choice.chosen.p, choice.chosen.rank)
        node.settings, node.mu = self._dials.settings, mu
        self._watch_list.note(node, choice.position, self._held_now().trace)
        self._commit((*self._branch, node), now, run.output.logits, run, step=True)
        latency = run.latency(now.sample_ms)
        node.record = step_record(
            choice,
            step=self.steps,
            vocabulary=self._vocabulary,
            cache=self._cache,
            latency=latency,
        )
        return node.record

    def _give(
        self, ids: list[int], progress: OnProgress | None, cancelled: IsCancelled | None
    ) -> None:
        """Make the prefix ``ids``: keep what is common, read the rest in one prefill."""
        common = common_prefix(self.ids, ids)
        if common == len(ids) and common > 0:
            self.rewind_to(common)
            return
        before = self._held.get(self._branch[common - 1]) if common else None
        # Without the logits before the first new token, its predecessor is computed once more.
        keep = common if before is not None else max(0, common - 1)
        prompt_length = prompt_length_after(self.ids, ids, self._prompt_length)
        mu = self._branch[common - 1].mu if common else None
        with self._unchanged_on_failure():
            run = self._prefill(ids, keep=keep, progress=progress, cancelled=cancelled)
            now = self._consider(ids, run.output.logits, prompt_length, mu)
        self._commit_given(ids, common=common, run=run, now=now, before=before)

    def _prefill(
        self,
        ids: list[int],
        *,
        keep: int,
        progress: OnProgress | None,
        cancelled: IsCancelled | None,
    ) -> Pass:
        if not ids:
            raise SessionError("the text is empty: a pass needs at least one token")
        if len(ids) > self.model.context_length:
            raise ContextFullError(self.model.context_length, given=len(ids))
        return self._passes.run(
            ids, keep=keep, top=self._dials.shown, progress=progress, cancelled=cancelled
        )

    def _commit_given(
        self,
        ids: list[int],
        *,
        common: int,
        run: Pass,
        now: Now,
        before: NDArray[np.float32] | None,
    ) -> None:
        """Make a prefill's tokens the prefix, each with what the model expected before it."""
        branch = list(self._branch[:common])
        for token_id in ids[common:]:
            parent = branch[-1] if branch else None
            branch.append(self._tree.child(parent, self._vocabulary.token(token_id)))
        held = None if before is None else self._candidates(before)
        self._commit(tuple(branch), now, run.output.logits, run)
        reading = read_tokens(
            run,
            ids,
            first=max(1, common),
            held=held,
            vocab_size=now.choice.vocab_size,
            seed=self._dials.seed,
            order=self._dials.settings.order,
            cache=self._cache,
            latency=run.latency(now.sample_ms),
        )
        for position in range(common, len(ids)):
            node = branch[position]
            node.mu = branch[common - 1].mu if common else None
            if position == 0:
                node.arrived("given", None, None)
                continue
            row = position - max(1, common)
            node.arrived("given", reading.probability(row), int(reading.rank[row]))
            node.reading = (reading, row)

    def _commit(
        self,
        branch: Branch,
        now: Now,
        logits: NDArray[np.float32],
        run: Pass | None,
        *,
        step: bool = False,
    ) -> None:
        """Make a branch the prefix; the pass that led there, if one ran, is a step's or not."""
        self._branch = branch
        self._now = now
        self._prompt_length = now.situation.prompt_length
        self._held.hold(branch[-1], logits)
        if run is None:
            self._cache = self._passes.record(len(branch), 0)
            self._history.redrawn(now.sample_ms)
            return
        self._cache = self._passes.record(run.kept, run.computed)
        self._history.add(run.latency(now.sample_ms), step=step)


def _ids_of(branch: Branch) -> list[int]:
    return [node.token.id for node in branch]


def _model_info(runtime: Runtime) -> ModelInfo:
    info, tokenizer = runtime.info, runtime.tokenizer
    names = set(ModelInfo.__struct_fields__) - {"eos_ids", "notices"}
    fields = {name: getattr(info, name) for name in names}
    notices = (*tokenizer.notices, *info.notices)
    return ModelInfo(**fields, eos_ids=tuple(tokenizer.eos_ids), notices=notices)
