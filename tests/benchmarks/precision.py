"""What each way to compute costs in truth: ``python -m tests.benchmarks.precision``.

Against float32 on the default model, position by position of a text: the largest and the median
difference of a logit, the largest of a probability, the Kullback-Leibler divergence, and how often
the best candidate is the same. Prints the table of docs/precision.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tokenloop_models import load
from tokenloop_models.catalogue import DEFAULT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokenloop_models.model import Model

POSITIONS = 400
TEXT = Path(__file__).resolve().parents[2] / "docs" / "how-it-works.md"
WAYS = (
    ("float32, decoded one by one", "float32", "exact", True),
    ("bfloat16", "bfloat16", "exact", False),
    ("float16", "float16", "exact", False),
    ("fast (float32, packed weights)", "float32", "fast", False),
    ("fast, decoded one by one", "float32", "fast", True),
    ("fast, bfloat16", "bfloat16", "fast", False),
)


def logits(model: Model, ids: list[int], *, one_by_one: bool) -> NDArray[np.float64]:
    """Every logit after each id, (positions, vocabulary)."""
    cache = model.new_cache()
    if one_by_one:
        return np.stack([model.forward([each], cache).logits.astype(np.float64) for each in ids])
    size = model.info.vocab_size
    scores = model.forward(ids, cache, top=size).scores
    assert scores is not None
    every = np.empty((len(ids), size))
    np.put_along_axis(every, scores.top_ids, scores.top_logits.astype(np.float64), axis=1)
    return every


def log_softmax(of: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logprobs, row by row."""
    below: NDArray[np.float64] = of - of.max(axis=1, keepdims=True)
    below -= np.log(np.exp(below).sum(axis=1, keepdims=True))
    return below


def main() -> None:
    """Measure and print."""
    exact = load(DEFAULT, device="cpu", dtype="float32")
    ids = exact.tokenizer.encode(TEXT.read_text(encoding="utf-8"))[:POSITIONS]
    expected = logits(exact, ids, one_by_one=False)
    logprobs = log_softmax(expected)
    p = np.exp(logprobs)
    print("| way | largest Δlogit | median of each position's largest | largest Δp | mean KL, nats "
          "| largest KL | same best candidate |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name, dtype, precision, one_by_one in WAYS:
        model = load(DEFAULT, device="cpu", dtype=dtype, precision=precision)
        found = logits(model, ids, one_by_one=one_by_one)
        difference = np.abs(found - expected).max(axis=1)
        others = log_softmax(found)
        kl = (p * (logprobs - others)).sum(axis=1)
        same = float((found.argmax(axis=1) == expected.argmax(axis=1)).mean())
        print(
            f"| {name} | {difference.max():.2g} | {np.median(difference):.2g} "
            f"| {np.abs(np.exp(others) - p).max():.2g} | {kl.mean():.2g} | {kl.max():.2g} "
            f"| {same:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
