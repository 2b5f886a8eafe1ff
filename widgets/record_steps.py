"""Record the moments that the gallery shows, from a real model.

Run from the repository's root, on a machine that is otherwise at rest (its times are recorded):

    python widgets/record_steps.py [MODEL [THREADS]]

``--laboratory`` before them records the laboratory's answers alone. The package itself only reads
the files that this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import structs

from tokenloop.records import FoundTokens, StepRecord
from tokenloop.sampling.presets import PRESETS
from tokenloop.sampling.settings import SamplerSettings
from tokenloop.session import Session
from tokenloop_models import load
from tokenloop_models.model import Model
from tokenloop_widgets.recorded import (
    LABORATORY_PATH,
    PATH,
    Laboratory,
    Moment,
    Recording,
    save,
    save_laboratory,
)

PROMPT = "The capital of Australia is"
SHOWN = 24
TRADITIONS = ("llamacpp", "transformers")


def record(model: Model) -> Recording:
    """Run the class demo and keep what the screen would show at each of its moments."""
    session = Session(model, shown=SHOWN)
    moments: list[Moment] = []

    def keep(title: str, *, record: StepRecord | None = None, landed: int = 0) -> None:
        now = session.snapshot()
        moments.append(
            Moment(
                title=title,
                prefix=now.prefix,
                choice=now.choice,
                cache=now.cache,
                latency=now.latency,
                record=record,
                landed=landed,
            )
        )

    ids = session.encode(PROMPT)
    session.open(ids)  # the first pass of a process also warms caches up: read the prompt twice
    session.open(ids)
    keep("the prompt is read; the draw that will happen is known")
    session.configure(SamplerSettings(temperature=0.3))
    keep("temperature 0.3: the intervals move under a u that stands still")
    session.configure(SamplerSettings(temperature=0))
    keep("temperature 0: greedy, nothing is drawn")
    session.configure(SamplerSettings())
    session.step()
    keep("one step: the draw became fact", landed=1)
    session.rewind()
    session.roll()
    keep("rewound and rolled again: another u, no pass")
    canberra = next(c for c in session.held.candidates if c.text == " Canberra")
    forced = session.force(canberra.id)
    keep("Canberra taken by hand", landed=1)
    for _ in range(12):
        session.step()
    keep("twelve steps on", landed=1)
    keep("then: how an earlier token was chosen", record=forced)
    keep("then: a token that was given", record=session.look(3))
    return Recording(model=session.model, seed=7, moments=tuple(moments))


def record_laboratory(model: Model) -> Laboratory:
    """Ask the held distribution everything that the views can ask."""
    session = Session(model, shown=SHOWN)
    session.open(session.encode(PROMPT))
    plain = session.held
    draws = tuple(session.draws(count) for count in (1_000, 100_000))
    sweeps = tuple(session.sweep(name) for name in ("temperature", "top_p", "min_p", "top_k"))
    queries = ("perth", "0x20 41", "#16570")
    found = tuple(_short(session.find(query)) for query in queries)
    warm = SamplerSettings(temperature=1.5, min_p=0.0)
    orders = tuple(
        (f"{name} order", warm.replace(order=order))
        for name, order in (("llama.cpp", "llamacpp"), ("transformers", "transformers"))
    )
    defaults = tuple((PRESETS[name].label, PRESETS[name].settings) for name in TRADITIONS)
    comparisons = (session.compare(*orders), session.compare(*defaults))
    session.configure(PRESETS["creative"].settings.replace(top_n_sigma=2.0, typical_p=0.9))
    busy = session.held
    session.configure(SamplerSettings(temperature=0))
    greedy = session.held
    session.configure(SamplerSettings())
    for candidate in plain.candidates[:3]:
        session.watch(candidate.id)
    for _ in range(16):
        session.step()
    now = session.snapshot()
    return Laboratory(
        choices=(plain, busy, greedy),
        draws=draws,
        sweeps=sweeps,
        comparisons=comparisons,
        found=found,
        watched=now.watched,
        position=len(now.prefix),
    )


def _short(found: FoundTokens) -> FoundTokens:
    """No more tokens than a page shows."""
    return structs.replace(found, candidates=found.candidates[:SHOWN])


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--laboratory"]
    source = words[0] if words else "smollm2"
    model = load(source, threads=int(words[1]) if len(words) > 1 else None)
    if "--laboratory" not in sys.argv:
        print(f"{PATH}: {save(record(model), Path(PATH)):,} bytes")
    size = save_laboratory(record_laboratory(model), Path(LABORATORY_PATH))
    print(f"{LABORATORY_PATH}: {size:,} bytes")
