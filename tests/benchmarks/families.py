"""How near every family comes to the reference: ``python -m tests.benchmarks.families``.

Prints the table of docs/precision.md: of tiny random models in all the shapes that the tests hold
to the reference implementation, the largest |Δlogit| over 20 positions.
"""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from tests.models.families.converting import write_gguf
from tests.models.families.reference import make
from tests.models.families.shapes import SHAPES
from tests.models.families.test_parity import IDS, MIDDLE, OTHERS, every_logit
from tokenloop_models import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.models.families.shapes import Shape


def differences(shape: Shape, folder: Path) -> list[float]:
    """Largest logit, then largest |Δlogit| of prefill, decoding, after a rewind, and as a GGUF."""
    made = make(shape, folder / "model")
    model = load(made.folder, device="cpu")
    expected = made.logits(IDS)
    prefilled = every_logit(model, IDS)
    cache = model.new_cache()
    decoded = [model.forward([each], cache).logits for each in IDS]
    cache.truncate(MIDDLE)
    changed = made.logits(IDS[:MIDDLE] + OTHERS)[MIDDLE:]
    rewound = [model.forward([each], cache).logits for each in OTHERS]
    found = [
        float(np.abs(expected).max()),
        _largest(prefilled, expected),
        _largest(np.stack(decoded), expected),
        _largest(np.stack(rewound), changed),
    ]
    if shape.gguf:
        path = write_gguf(made.folder, folder / "model.gguf", shape.extra)
        found.append(_largest(every_logit(load(path, device="cpu"), IDS), expected))
    return found


def _largest(found: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    return float(np.abs(found - expected).max())


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    print("| family | shapes | largest logit | prefill | one by one | after a rewind | GGUF |")
    print("|---|---|---|---|---|---|---|")
    ordered = sorted(SHAPES.values(), key=lambda shape: shape.model_type)
    for family, shapes in groupby(ordered, key=lambda shape: shape.model_type):
        every = []
        for shape in shapes:
            with tempfile.TemporaryDirectory() as folder:
                every.append(differences(shape, Path(folder)))
        logit = max(each[0] for each in every)
        columns = [
            max((each[column] for each in every if column < len(each)), default=None)
            for column in range(1, 5)
        ]
        cells = " | ".join("–" if each is None else f"{each * 1e6:.0f}" for each in columns)
        print(f"| {family} | {len(every)} | {logit:.0f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
