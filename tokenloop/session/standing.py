"""What a session is, and what can be asked of it: nothing in here changes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokenloop.errors import SessionError
from tokenloop.records import (
    CheckRecord,
    Choice,
    Comparison,
    DrawsRecord,
    FoundTokens,
    StepRecord,
    SweepRecord,
)
from tokenloop.sampling import DEFAULT_SEED, SamplerSettings, Situation, check_seed
from tokenloop.session.check import check
from tokenloop.session.laboratory.compare import Named, compare
from tokenloop.session.laboratory.draws import draw_many
from tokenloop.session.laboratory.find import find
from tokenloop.session.laboratory.sweep import sweep
from tokenloop.session.laboratory.watch import WatchList
from tokenloop.session.now import Dials, Now
from tokenloop.session.path import Path
from tokenloop.session.runtime import IsCancelled, OnProgress, Runtime, model_info
from tokenloop.session.sampler import Sampler
from tokenloop.session.snapshot import Snapshot
from tokenloop.session.vocabulary import Vocabulary
from tokenloop.session.writing import prompt_ids
from tokenloop.session.written import Written

SHOWN = 40
"""Candidates that a record shows unless told otherwise."""


class Standing:
    """Where a session stands.

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
        dials = Dials(settings or SamplerSettings(), check_seed(seed), shown)
        self.model = model_info(runtime)
        self._runtime = runtime
        self._tokenizer = runtime.tokenizer
        self._vocabulary = Vocabulary(runtime.tokenizer)
        self._sampler = Sampler(self._vocabulary, self.model.eos_ids, dials)
        self._path = Path(runtime, self._vocabulary)
        self._watch_list = WatchList()
        self._now: Now | None = None
        self._written = Written()

    # --- what it is now --------------------------------------------------------------------------

    @property
    def ids(self) -> list[int]:
        """The prefix: the truth of the session."""
        return self._path.ids

    @property
    def cached_ids(self) -> tuple[int, ...]:
        """The prefix that the KV cache holds."""
        return self._path.cached_ids

    @property
    def settings(self) -> SamplerSettings:
        """The sampler's settings."""
        return self._sampler.dials.settings

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
        return self._path.steps

    @property
    def ended(self) -> bool:
        """Whether a step appended a token that ends a text."""
        if not self._path.branch:
            return False
        last = self._path.branch[-1]
        return last.shown.how != "given" and last.token.id in self.model.eos_ids

    @property
    def context_full(self) -> bool:
        """Whether no further token fits."""
        return len(self._path.branch) >= self.model.context_length

    @property
    def text(self) -> str:
        """The prefix as text; bytes that are no character show as U+FFFD."""
        return self._as_written().text

    def snapshot(self) -> Snapshot:
        """All of this as one immutable value."""
        path, dials, now = self._path, self._sampler.dials, self._now
        written = self._as_written()
        return Snapshot(
            model=self.model,
            prefix=written.tokens,
            text=written.text,
            choice=now.choice if now is not None else None,
            cache=path.cache,
            latency=path.history.record(),
            settings=dials.settings,
            seed=dials.seed,
            steps=self.steps,
            ended=self.ended,
            context_full=self.context_full,
            notice=None if now is not None else "no prompt yet",
            prompt_length=self._prompt_length,
            watched=self._watch_list.record(path, now, self._sampler, self._vocabulary),
            repetition=written.repetition,
        )

    def look(self, position: int) -> StepRecord:
        """How an earlier token came to be; nothing is recomputed.

        Raises:
            SessionError: there is no such token, or nothing came before it.
        """
        branch = self._path.branch
        if not 0 <= position < len(branch):
            raise SessionError(f"no token at position {position}: the prefix has {len(branch)}")
        node = branch[position]
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
            self._sampler.dials,
            self._vocabulary,
            dtype=self.model.dtype,
            progress=progress,
            cancelled=cancelled,
        )

    def encode(self, text: str, *, specials: bool = False) -> list[int]:
        """A text's ids, behind the BOS where the tokenizer wants one.

        Args:
            text: any text.
            specials: whether ``<|…|>`` in it means the special token rather than its characters.

        Raises:
            ModelError: the text can't be encoded.
        """
        return prompt_ids(text, self._tokenizer, specials=specials)

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
        now, settings = self._held_now(), self.settings
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

    # --- inside ----------------------------------------------------------------------------------

    def _held_now(self) -> Now:
        if self._now is None:
            raise SessionError("no prompt yet: give the model a text to go on from")
        return self._now

    def _as_written(self) -> Written:
        self._written = self._written.of(self._path.branch, self._vocabulary)
        return self._written

    @property
    def _prompt_length(self) -> int:
        return self._now.situation.prompt_length if self._now is not None else 0

    def _situate(self, settings: SamplerSettings) -> Situation:
        """Where the pending draw would stand under other settings."""
        return self._sampler.situation(self._held_now(), self._path.branch[-1].mu, settings)
