"""A loop without a model, a thread or a clock: it answers at once, from records made by hand.

The distribution after any prefix is the same small table, rotated by the prefix's length, so that
every step draws something else and the same keys always give the same screen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.app import fake_laboratory as laboratory
from tokenloop.loop.events import (
    Answered,
    Changed,
    Checked,
    Event,
    Failed,
    Finished,
    Loaded,
    Looked,
    Progress,
    RunEnded,
    Started,
)
from tokenloop.records import (
    CacheRecord,
    Candidate,
    CheckRecord,
    Choice,
    Draw,
    Interval,
    Latency,
    LatencyHistory,
    ModelInfo,
    PrefixToken,
    StageRecord,
    StepRecord,
    Tail,
    Token,
    Watched,
)
from tokenloop.sampling.settings import SamplerSettings
from tokenloop.session.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tokenloop.records import Answer, Repetition

WORDS = (
    *(" Sydney", " Canberra", " the", " Perth", " New", " Adelaide", ".", ",", "\n", " a"),
    *(" is", " not", " known", " for", " its", " beaches", " [bold]x[/bold]", "[/nope]"),
    *("[@click=app.quit]x[/]", "<|im_end|>", "\x1b[31mred", " of", " capital", "\u202eevil"),
)
LOGITS = (13.4, 13.3, 11.2, 11.1, 11.0, 10.1, 9.6, 9.4, 9.0, 8.9, 8.8, 8.6, 8.3, 8.2, 8.1, 8.0)
VOCABULARY = 49_152
EOS = 19
CONTEXT = 64

MODEL = ModelInfo(
    name="Fake-135M",
    family="llama",
    device="cpu",
    dtype="float32",
    threads=1,
    quantisation=None,
    parameters=135_000_000,
    layers=30,
    kv_heads=3,
    head_dim=64,
    vocab_size=VOCABULARY,
    context_length=CONTEXT,
    fingerprint="fake",
    eos_ids=(EOS,),
)

PREFILL = Latency(
    prefill=61.0,
    decode=0.0,
    layers=50.0,
    head=10.0,
    copy=0.5,
    sample=0.6,
    total=61.6,
    positions=5,
)


def label_of(text: str) -> str:
    """Visible blanks and controls, as the real labels have."""
    shown = text.replace(" ", "␣", 1) if text.startswith(" ") else text
    return shown.replace("\n", "⏎").replace("\x1b", "␛").replace("\u202e", "␦")


def token(token_id: int) -> Token:
    """A token of the fake vocabulary."""
    text = WORDS[token_id % len(WORDS)]
    return Token(
        id=token_id,
        text=text,
        bytes_hex=text.encode().hex(),
        label=label_of(text),
        special=token_id == EOS,
    )


def _softmax(logits: Sequence[float]) -> list[float]:
    weights = [math.exp(logit - max(logits)) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def _stages(settings: SamplerSettings, keep: int) -> tuple[StageRecord, ...]:
    """The chain in its order: top-k and temperature act, XTC finds nothing, the rest is off."""
    records = []
    left, entropy = VOCABULARY, 3.58
    for name in settings.chain:
        values: dict[str, float | int | str] = {}
        figures: dict[str, float | int | str] = {}
        after, entropy_after, cut, skipped, definition = left, entropy, 0.0, "off: n = 0", None
        if name in settings.off:
            skipped = "off: switched off"
        elif name == "top_k":
            values, skipped, definition = {"k": settings.top_k}, None, "exactly k"
            after, entropy_after, cut = keep, 2.4, 0.03
        elif name == "temperature":
            values, skipped, entropy_after = {"t": settings.temperature}, None, 2.0
        elif name == "xtc" and settings.xtc_probability:
            values = {"probability": settings.xtc_probability, "threshold": settings.xtc_threshold}
            skipped, figures = "by chance: 0.63 is not below 0.5", {"chance": 0.63}
        records.append(
            StageRecord(
                name=name,
                settings=values,
                survivors_before=left,
                survivors=after,
                mass_cut=cut,
                entropy_before_bits=entropy,
                entropy_bits=entropy_after,
                skipped=skipped,
                definition=definition,
                figures=figures,
            )
        )
        left, entropy = after, entropy_after
    return tuple(records)


def _after(settings: SamplerSettings, p: float, cut: float, final: float) -> tuple[float, ...]:
    """A candidate's probability after each stage."""
    after = []
    for name in settings.chain:
        p = {"top_k": cut, "temperature": final}.get(name, p)
        after.append(p)
    return tuple(after)


def choice_after(
    length: int, settings: SamplerSettings, seed: int, attempt: int, shown: int
) -> Choice:
    """The distribution after a prefix of ``length`` tokens, and the draw that will happen."""
    ids = [(place + 3 * (length - 5)) % len(WORDS) for place in range(len(LOGITS))]
    raw = _softmax(LOGITS)
    keep = min(settings.top_k or len(LOGITS), len(LOGITS))
    temperature = settings.temperature or 0.01
    final = _softmax([logit / temperature for logit in LOGITS[:keep]]) + [0.0] * (
        len(LOGITS) - keep
    )
    candidates = tuple(
        Candidate(
            **{name: getattr(token(token_id), name) for name in Token.__struct_fields__},
            rank=place + 1,
            logit=LOGITS[place],
            p=raw[place] * 0.97,
            final_p=final[place],
            cut_by=None if place < keep else "top_k",
            after=_after(settings, raw[place], raw[place] if place < keep else 0.0, final[place]),
        )
        for place, token_id in enumerate(ids)
    )
    u = (0.3117 + 0.29 * attempt + 0.013 * (length - 5) + 0.001 * (seed - 7)) % 1
    low, ribbon, chosen, interval = 0.0, [], candidates[0], (0.0, final[0])
    for candidate in candidates[:keep]:
        high = low + (candidate.final_p or 0.0)
        ribbon.append(Interval(id=candidate.id, label=candidate.label, low=low, high=high))
        if low <= u < high and not settings.greedy:
            chosen, interval = candidate, (low, high)
        low = high
    draw = Draw(
        how="greedy" if settings.greedy else "drawn",
        u=None if settings.greedy else u,
        low=interval[0],
        high=interval[1],
        attempt=attempt,
        seed=seed,
    )
    return Choice(
        position=length,
        vocab_size=VOCABULARY,
        entropy_bits=3.58,
        final_entropy_bits=2.0,
        order=settings.order,
        candidates=candidates[:shown],
        tail=Tail(
            count=VOCABULARY - min(shown, len(candidates)),
            p=0.03 + sum(candidate.p for candidate in candidates[shown:]),
            final_p=sum(candidate.final_p or 0.0 for candidate in candidates[shown:]),
            cut={"top_k": VOCABULARY - keep},
        ),
        stages=_stages(settings, keep),
        ribbon=tuple(ribbon),
        chosen=chosen,
        draw=draw,
    )


class FakeLoop:
    """Answers as ``tokenloop.loop.Loop`` does, at once and on the caller's thread.

    Attributes:
        calls: every command with its arguments, in order.
        hold: answers wait for :meth:`release`, as if the loop were busy.
        fail_next: the next command fails with this message.
        repetition: what the next snapshots say of the end of the text.
    """

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._request = 0
        self._waiting: list[Callable[[], None]] = []
        self.calls: list[tuple[object, ...]] = []
        self.hold = False
        self.fail_next: str | None = None
        self.closed = False
        self.loaded = False
        self.settings, self.seed, self.shown, self.attempt = SamplerSettings(), 7, 12, 0
        self.prefix: list[PrefixToken] = []
        self.records: list[StepRecord | None] = []
        self.kept, self.computed = 0, 0
        self.steps_ms: tuple[float, ...] = ()
        self.running: int | None = None
        self.pins: tuple[int, ...] = ()
        self.repetition: Repetition | None = None
        self.steps_a_run = 3

    # commands

    def load(
        self,
        source: str | Path,
        *,
        device: str = "auto",
        dtype: str = "auto",
        precision: str = "exact",
        threads: int | None = None,
        settings: SamplerSettings | None = None,
        seed: int = 7,
    ) -> int:
        def work(request: int) -> None:
            self.settings, self.seed = settings or SamplerSettings(), seed
            self.prefix, self.records, self.loaded = [], [], True
            self._say(Progress(request=request, what="weights", done=1, total=2, unit=""))
            self._say(Loaded(request=request, model=MODEL, load_ms=1.0))

        return self._do("load", work, source)

    def open(self, text: str, *, specials: bool = False) -> int:
        return self._do("open", lambda request: self._replace(request, text, "opened"), text)

    def edit(self, text: str, *, specials: bool = False) -> int:
        return self._do("edit", lambda r: self._replace(r, text, "edited"), text, specials)

    def type(self, text: str, *, specials: bool = False) -> int:
        def work(request: int) -> None:
            self._give(text)
            self._changed(request, "typed")

        return self._do("type", work, text, specials)

    def step(self) -> int:
        return self._do("step", lambda request: self._step(request, None))

    def force(self, token_id: int, /) -> int:
        return self._do("force", lambda request: self._step(request, token_id), token_id)

    def resample(self) -> int:
        def work(request: int) -> None:
            self._cut(len(self.prefix) - 1)
            self.attempt = 1
            self._step(request, None)

        return self._do("resample", work)

    def rewind(self, count: int = 1) -> int:
        def work(request: int) -> None:
            self._cut(max(1, len(self.prefix) - count))
            self._changed(request, "rewound")

        return self._do("rewind", work, count)

    def rewind_to(self, length: int) -> int:
        def work(request: int) -> None:
            self._cut(length)
            self._changed(request, "rewound")

        return self._do("rewind_to", work, length)

    def roll(self) -> int:
        def work(request: int) -> None:
            self.attempt += 1
            self._changed(request, "rolled")

        return self._do("roll", work)

    def check(self) -> int:
        def work(request: int) -> None:
            choice = self._choice()
            record = CheckRecord(
                positions=len(self.prefix),
                dtype="float32",
                largest_logit_diff=0.000031,
                at=choice.candidates[0],
                largest_p_diff=0.0000042,
                chosen=choice.chosen,
                fresh_chosen=choice.chosen,
                fresh_ms=140.0,
            )
            self._say(Checked(request=request, record=record))

        return self._do("check", work)

    def regenerate(self, length: int, steps: int | None = None) -> int:
        def work(request: int) -> None:
            self._cut(length)
            self._run(request, steps)

        return self._do("regenerate", work, length)

    def run(self, steps: int | None = None) -> int:
        return self._do("run", lambda request: self._run(request, steps), steps)

    def configure(self, settings: SamplerSettings) -> int:
        return self._turn("configure", "configured", "settings", settings)

    def reseed(self, seed: int) -> int:
        return self._turn("reseed", "configured", "seed", seed)

    def show(self, count: int) -> int:
        return self._turn("show", "shown", "shown", count)

    def watch(self, token_id: int) -> int:
        kept = tuple(pin for pin in self.pins if pin != token_id)
        pins = kept if token_id in self.pins else (*kept, token_id)
        return self._turn("watch", "watched", "pins", pins, token_id)

    def draws(self, count: int) -> int:
        return self._answer("draws", lambda: laboratory.draws(self._held(), count), count)

    def sweep(self, setting: str) -> int:
        def answer() -> Answer:
            return laboratory.sweep(self._choice_under, self.settings, setting)

        return self._answer("sweep", answer, setting)

    def compare(self, left: tuple[str, SamplerSettings], right: tuple[str, SamplerSettings]) -> int:
        def answer() -> Answer:
            return laboratory.compare(self._choice_under, left, right)

        return self._answer("compare", answer, left, right)

    def find(self, query: str) -> int:
        return self._answer("find", lambda: laboratory.find(self._held(), query), query)

    def look(self, position: int) -> int:
        def work(request: int) -> None:
            record = self.records[position]
            assert record is not None
            self._say(Looked(request=request, position=position, record=record))

        return self._do("look", work, position)

    def pause(self) -> None:
        self.calls.append(("pause",))

    def close(self) -> None:
        self.closed = True

    # holding answers back

    def release(self) -> None:
        """Give the answers that were held back, and hold no more."""
        self.hold = False
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            answer()

    # answers

    def _turn(self, name: str, done: str, dial: str, value: object, *shown: object) -> int:
        """A dial is turned: nothing else changes."""

        def work(request: int) -> None:
            setattr(self, dial, value)
            self._changed(request, done)

        return self._do(name, work, *(shown or (value,)))

    def _answer(self, name: str, ask: Callable[[], Answer], *arguments: object) -> int:
        """A question to the laboratory."""

        def work(request: int) -> None:
            self._say(Answered(request=request, record=ask()))

        return self._do(name, work, *arguments)

    def _do(self, name: str, work: Callable[[int], None], *arguments: object) -> int:
        self._request += 1
        request, failure = self._request, self.fail_next
        self.fail_next = None
        self.calls.append((name, *arguments))

        def answer() -> None:
            self._say(Started(request=request, what=name))
            if failure:
                self._say(Failed(request=request, message=failure))
            else:
                work(request)
            self._say(Finished(request=request))

        if self.hold:
            self._waiting.append(answer)
        else:
            answer()
        return request

    def _say(self, event: Event) -> None:
        self._on_event(event)

    def _run(self, request: int, steps: int | None) -> None:
        made = steps or self.steps_a_run
        for _ in range(made):
            self._step(request, None)
        self._say(RunEnded(request=request, reason=f"{made} steps", steps=made))

    def _replace(self, request: int, text: str, done: str) -> None:
        self.prefix, self.records, self.attempt, self.computed = [], [], 0, 0
        self._give(text)
        self._changed(request, done)

    def _give(self, text: str) -> None:
        words = [" " + word for word in text.split(" ")] if text else []
        for number, word in enumerate(words):
            shown = word[1:] if number == 0 and not self.prefix else word
            given = Token(
                id=100 + len(self.prefix),
                text=shown,
                bytes_hex=shown.encode().hex(),
                label=label_of(shown),
            )
            first = not self.prefix
            self._append(given, "given", None if first else 0.2, None if first else 3)
        self.kept, self.computed = len(self.prefix) - len(words), len(words)

    def _step(self, request: int, token_id: int | None) -> None:
        choice = self._choice()
        if choice is None or self._full:
            self._say(Failed(request=request, message="context full"))
            return
        chosen = next((c for c in choice.candidates if c.id == token_id), choice.chosen)
        how = "forced" if token_id is not None else choice.draw.how
        made = token(chosen.id if token_id is None else token_id)
        self.kept, self.computed = len(self.prefix), 1
        self._append(made, how, chosen.p, chosen.rank)
        self.attempt = 0
        self.steps_ms = (*self.steps_ms, 25.1)
        self._changed(request, "stepped", self.records[-1])

    def _append(self, item: Token, how: str, p: float | None, rank: int | None) -> None:
        choice = self._choice()
        self.prefix.append(PrefixToken(token=item, how=how, p=p, rank=rank))
        record = None
        if choice is not None and len(self.prefix) > 1:
            fields = {name: getattr(choice, name) for name in Choice.__struct_fields__}
            fields["draw"] = Draw(
                how=how,
                u=choice.draw.u if how == "drawn" else None,
                low=choice.draw.low,
                high=choice.draw.high,
                attempt=self.attempt,
                seed=self.seed,
            )
            step = 0 if how == "given" else sum(entry.how != "given" for entry in self.prefix)
            record = StepRecord(
                **fields,
                step=step,
                token=item,
                cache=self._cache(),
                latency_ms=PREFILL if how == "given" else self._latency(),
            )
        self.records.append(record)

    def _cut(self, length: int) -> None:
        self.prefix, self.records = self.prefix[:length], self.records[:length]
        self.attempt, self.kept, self.computed = 0, length, 0

    @property
    def _full(self) -> bool:
        return len(self.prefix) >= CONTEXT

    def _choice(self) -> Choice | None:
        return self._choice_under(self.settings) if self.prefix else None

    def _choice_under(self, settings: SamplerSettings) -> Choice:
        return choice_after(len(self.prefix), settings, self.seed, self.attempt, self.shown)

    def _held(self) -> Choice:
        """The held distribution with all of its candidates."""
        everything = len(LOGITS)
        return choice_after(len(self.prefix), self.settings, self.seed, self.attempt, everything)

    def _watched(self) -> tuple[Watched, ...]:
        def choice_at(position: int) -> Choice:
            return choice_after(position, self.settings, self.seed, 0, len(LOGITS))

        taken = [item.token.id for item in self.prefix]
        return tuple(laboratory.watched(token(pin), taken, choice_at) for pin in self.pins)

    def _cache(self) -> CacheRecord:
        each = 30 * 3 * 64 * 2 * 4
        return CacheRecord(
            positions=len(self.prefix),
            bytes=len(self.prefix) * each,
            allocated_bytes=256 * each,
            kept=self.kept,
            computed=self.computed,
            dtype="float32",
            bytes_per_position=each,
            context_length=CONTEXT,
            layers=30,
            kv_heads=3,
            head_dim=64,
            itemsize=4,
        )

    def _latency(self) -> Latency:
        return Latency(
            prefill=0.0,
            decode=24.5,
            layers=17.9,
            head=6.1,
            copy=0.5,
            sample=0.6,
            total=25.1,
            positions=1,
        )

    def _changed(self, request: int, done: str, record: StepRecord | None = None) -> None:
        snapshot = Snapshot(
            model=MODEL,
            prefix=tuple(self.prefix),
            text="".join(item.token.text or "" for item in self.prefix),
            choice=self._choice(),
            cache=self._cache(),
            latency=LatencyHistory(
                steps_ms=self.steps_ms,
                prefill=PREFILL,
                decode=self._latency() if self.steps_ms else None,
                last=self._latency() if self.steps_ms else PREFILL,
                last_is_step=bool(self.steps_ms),
                redraw_ms=0.8 if done in ("configured", "rolled") else None,
            ),
            settings=self.settings,
            seed=self.seed,
            steps=sum(item.how != "given" for item in self.prefix),
            ended=bool(self.prefix) and self.prefix[-1].token.special,
            context_full=self._full,
            prompt_length=sum(item.how == "given" for item in self.prefix),
            watched=self._watched(),
            repetition=self.repetition,
            notice=None,
        )
        self._say(Changed(request=request, done=done, snapshot=snapshot, record=record))
