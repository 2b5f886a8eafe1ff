"""Record the moments that the gallery shows, from a real model.

Run from the repository's root, on a machine that is otherwise at rest (its times are recorded):

    python widgets/record_steps.py [MODEL [THREADS]]

The package itself only reads the file that this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tokenloop.records import StepRecord
from tokenloop.sampling.settings import SamplerSettings
from tokenloop.session import Session
from tokenloop_models import load
from tokenloop_widgets.recorded import PATH, Moment, Recording, save

PROMPT = "The capital of Australia is"
SHOWN = 24


def record(source: str, threads: int | None) -> Recording:
    """Run the class demo and keep what the screen would show at each of its moments."""
    model = load(source, threads=threads)
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


if __name__ == "__main__":
    source = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else None
    print(f"{PATH}: {save(record(source, threads), Path(PATH)):,} bytes")
