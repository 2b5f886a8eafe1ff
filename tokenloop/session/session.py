"""The session: a prefix, the distribution held after it, and everything that may happen next.

Nothing of the session changes before a command has succeeded: a command that fails or is cancelled
leaves the prefix, the held logits and the settings as they were. Only one thread may use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tokenloop.errors import ContextFullError, SessionError
from tokenloop.records import Choice, StepRecord
from tokenloop.sampling import SamplerSettings, check_seed
from tokenloop.session.now import Dials, Now
from tokenloop.session.passes import Pass, common_prefix
from tokenloop.session.path import ids_of
from tokenloop.session.recorder import forced_choice, step_record
from tokenloop.session.runtime import IsCancelled, OnProgress
from tokenloop.session.situations import next_mu, prompt_length_after
from tokenloop.session.standing import Standing
from tokenloop.session.writing import edited_ids


class Session(Standing):
    """One run of a model: see the module's text, and :class:`Standing` for what can be asked."""

    # --- text to prefix --------------------------------------------------------------------------

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
            now = self._sampler.look(
                run.output.logits, ids, prompt_length=len(ids), mu=None, attempt=0
            )
        self._path.forget()
        self._path.give(ids, common=0, run=run, now=now, before=None)
        self._now = now

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
        if self._now is None:
            ids = self.encode(text, specials=specials)
            self.open(ids, progress=progress, cancelled=cancelled)
            return
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
        self.rewind_to(len(self._path.branch) - count)

    def rewind_to(self, length: int) -> None:
        """Keep the first ``length`` tokens; a pass runs only if their logits are no longer held.

        Raises:
            SessionError: ``length`` is not from 1 to the prefix's.
        """
        self._held_now()
        path = self._path
        if not 1 <= length <= len(path.branch):
            raise SessionError("nothing left to rewind: a pass needs at least one token")
        branch, logits, run = path.branch[:length], path.logits_after(length), None
        ids = ids_of(branch)
        with self._unchanged_on_failure():
            if logits is None:
                run = path.run(ids)
                logits = run.output.logits
            now = self._sampler.look(
                logits,
                ids,
                prompt_length=min(self._prompt_length, length),
                mu=branch[-1].mu,
                attempt=branch[-1].attempt,
            )
        path.stand(branch, logits, run, now.sample_ms)
        self._now = now

    def roll(self) -> Choice:
        """Roll again: the next attempt at the same position. No pass runs.

        Raises:
            SessionError: at T = 0 nothing is drawn, and no stage acts by chance: every attempt
                would be the same.
        """
        now = self._held_now()
        if self.settings.greedy and not now.choice.by_chance:
            raise SessionError("greedy draws no number: raise the temperature to roll again")
        last = self._path.branch[-1]
        self._redrawn(self._sampler.again(now, last.mu, last.attempt + 1, self._sampler.dials))
        last.attempt += 1
        return self.held

    def resample(self) -> StepRecord:
        """Rewind one, roll, step.

        Raises:
            SessionError: the last token was given, not sampled; or as for :meth:`roll`.
        """
        self._held_now()
        if self._path.branch[-1].shown.how == "given":
            raise SessionError("the last token was given, not sampled: edit the text instead")
        parent = self._path.branch[-2]
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
        self._turn(replace(self._sampler.dials, settings=settings))

    def reseed(self, seed: int) -> None:
        """Change the seed; the pending draw changes with it.

        Raises:
            SettingError: it is out of range.
        """
        self._turn(replace(self._sampler.dials, seed=check_seed(seed)))

    def show(self, count: int) -> None:
        """Show so many candidates from now on."""
        self._turn(replace(self._sampler.dials, shown=max(1, count)))

    def watch(self, token_id: int) -> None:
        """Pin a token, or unpin it: the snapshot says where it stood at each position.

        Raises:
            SessionError: the model has no such token, or too many are pinned.
        """
        if not 0 <= token_id < self._tokenizer.size:
            raise SessionError(f"no token {token_id}: ids are 0 to {self._tokenizer.size - 1}")
        self._watch_list.toggle(token_id)

    # --- inside ----------------------------------------------------------------------------------

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """Whatever goes wrong inside, the prefix and what is held after it stay as they were."""
        before = self._path.branch, self._now
        try:
            yield
        except BaseException:
            branch, self._now = before
            self._path.go_back(branch)
            raise

    def _turn(self, dials: Dials) -> None:
        if self._now is None:
            self._sampler.check(dials.settings)
        else:
            last = self._path.branch[-1]
            self._redrawn(self._sampler.again(self._now, last.mu, last.attempt, dials))
        self._sampler.dials = dials

    def _redrawn(self, now: Now) -> None:
        self._now = now
        self._path.history.redrawn(now.sample_ms)

    def _append(self, choice: Choice) -> StepRecord:
        """Append the chosen token, run one pass, look at what comes next, record it."""
        if self.context_full:
            raise ContextFullError(self.model.context_length)
        before, path, settings = self._held_now(), self._path, self._sampler.dials.settings
        ids = [*path.ids, choice.chosen.id]
        mu = next_mu(path.branch[-1].mu, choice, settings)
        with self._unchanged_on_failure():
            run = path.run(ids)
            now = self._sampler.look(
                run.output.logits,
                ids,
                prompt_length=self._prompt_length,
                mu=mu,
                attempt=path.attempt(ids),
            )
        node = path.child(choice.chosen.id)
        node.arrived(choice.draw.how, choice.chosen.p, choice.chosen.rank)
        node.then, node.mu = (settings, self._prompt_length), mu
        self._watch_list.note(node, choice.position, before.trace)
        path.stand((*path.branch, node), run.output.logits, run, now.sample_ms, step=True)
        self._now = now
        node.record = step_record(
            choice,
            step=self.steps,
            vocabulary=self._vocabulary,
            cache=path.cache,
            latency=run.latency(now.sample_ms),
        )
        return node.record

    def _give(
        self, ids: list[int], progress: OnProgress | None, cancelled: IsCancelled | None
    ) -> None:
        """Make the prefix ``ids``: keep what is common, read the rest in one prefill."""
        path = self._path
        common = common_prefix(path.ids, ids)
        if common == len(ids) and common > 0:
            self.rewind_to(common)
            return
        before = path.logits_after(common)
        # Without the logits before the first new token, its predecessor is computed once more.
        keep = common if before is not None else max(0, common - 1)
        with self._unchanged_on_failure():
            run = self._prefill(ids, keep=keep, progress=progress, cancelled=cancelled)
            now = self._sampler.look(
                run.output.logits,
                ids,
                prompt_length=prompt_length_after(path.ids, ids, self._prompt_length),
                mu=path.branch[common - 1].mu if common else None,
                attempt=path.attempt(ids),
            )
        held = None if before is None else self._sampler.candidates(before)
        path.give(ids, common=common, run=run, now=now, before=held)
        self._now = now

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
        shown = self._sampler.dials.shown
        return self._path.run(ids, keep=keep, top=shown, progress=progress, cancelled=cancelled)
