"""What a turn of a dial takes until it is on the screen: ``python -m tests.benchmarks.redraw``.

The real app without a terminal, the default model, and a model of random numbers with 262,144
tokens: − and + on the panels, ← and → in the sampler's window. No pass runs for any of it.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
from pathlib import Path

from screenshots.make import press, until_at_rest
from tests.benchmarks.large_vocabulary import TOKENS, write

TURNS = 24
WARM_UP = 2
SIZES = ((140, 40), (80, 24))
DIALS = {"panels": ("minus", "plus"), "window": ("left", "right")}


async def turns(source: str, prompt: str, size: tuple[int, int]) -> dict[str, list[float]]:
    """Milliseconds of each turn, sampler and paint, by where the dial is."""
    from tokenloop.app.application import TokenloopApp
    from tokenloop.app.options import Options
    from tokenloop.loop import Loop

    app = TokenloopApp(Options(source=source, device="cpu", prompt=prompt), Loop)
    times: dict[str, list[float]] = {}
    async with app.run_test(size=size) as pilot:
        await until_at_rest(app, pilot)
        for place, keys in DIALS.items():
            if place == "window":
                await press(app, pilot, "s")
            times[place] = []
            for turn in range(TURNS):
                await press(app, pilot, keys[turn % 2])
                snapshot = app.conductor.snapshot
                redraw = snapshot.latency.redraw_ms if snapshot else None
                if redraw is None or app.conductor.paint_ms is None:
                    raise RuntimeError(f"{keys[turn % 2]} in the {place} redrew nothing")
                times[place].append(redraw + app.conductor.paint_ms)
    return times


async def main() -> None:
    """Print a table: median and least of each."""
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.gguf"
        write(large, "gpt2")
        print("| candidates | screen | dial | median | least |\n|---|---|---|---|---|")
        for source, prompt, count in (
            ("smollm2", "The capital of Australia is", 49_152),
            (str(large), "abcdef", TOKENS),
        ):
            for width, height in SIZES:
                for place, times in (await turns(source, prompt, (width, height))).items():
                    kept = times[WARM_UP:]
                    figures = f"{statistics.median(kept):.1f} ms | {min(kept):.1f} ms"
                    print(f"| {count:,} | {width} × {height} | {place} | {figures} |")


if __name__ == "__main__":
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    asyncio.run(main())
