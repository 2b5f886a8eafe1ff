"""The comparison's table: what was reached, what was missed, what was not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.benchmarks import large_vocabulary
from tests.benchmarks.compare import TASKS, Row, table
from tokenloop_models import load

if TYPE_CHECKING:
    from pathlib import Path

FACTS = {"float32": 538_000_000, "position": 46_080, "threads": 2, "torch": "2.13.0"}


def samples() -> dict[str, list[float]]:
    made = {task.name: [10.0, 20.0, 30.0] for task in TASKS}
    loads = ("first", "peak", "cache", "first gpt2", "first llama")
    others = (*loads, "sampler 49", "sampler 262")
    return made | {name: [1.0] for name in others}


def test_medians_become_ratios() -> None:
    made = samples() | {"exact": [14.0, 15.0, 90.0]}
    line = next(each for each in table(made, {}, FACTS).splitlines() if "· transformers |" in each)
    assert line.startswith("| decode, float32 · transformers | 15.0 ms · 20.0 ms | 0.75 | ≤ 0.75")
    assert line.endswith("| reached |")


def test_a_longer_text_is_held_against_the_bytes_it_reads() -> None:
    """188 MB at 26.8 GB/s (512 MiB in 20 ms) are 7.0 ms."""
    made = samples() | {"exact 4096": [34.0]}
    line = next(each for each in table(made, {}, FACTS).splitlines() if "decode at 4,096" in each)
    assert "(keys and values between: 188 MB) | 34.0 ms · 20.0 ms | 2 |" in line
    assert line.endswith("≤ 1 × what their bytes take, 7.0 ms | **missed** |")


def test_what_is_missed_is_named() -> None:
    assert Row("a", "2 ms", 1.2, 1.0, "× b").line() == "| a | 2 ms | 1.2 | ≤ 1 × b | **missed** |"


def test_a_peer_that_is_not_there_has_no_figure_and_a_reason() -> None:
    made = samples() | {"llama.cpp": [], "llama.cpp prefill": []}
    text = table(made, {"llama.cpp": "No module named 'llama_cpp'"}, FACTS)
    assert "| decode, packed weights · llama.cpp | 20.0 ms · — | not measured | ≤ 1 ×" in text
    assert "- llama.cpp was not measured: No module named 'llama_cpp'." in text


@pytest.mark.parametrize("model", ["gpt2", "llama"])
def test_a_large_vocabulary_s_file_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """Made small here; its tokenizer cuts what it was grown from into its own tokens."""
    for name, size in {"TOKENS": 600, "HIDDEN": 64, "INTERMEDIATE": 64, "LAYERS": 1}.items():
        monkeypatch.setattr(large_vocabulary, name, size)
    path = tmp_path / "large.gguf"
    large_vocabulary.write(path, model)
    loaded = load(path, device="cpu")
    ids = loaded.tokenizer.encode("a cabbage faded")
    assert loaded.tokenizer.decode(ids).strip() == "a cabbage faded"
    assert len(ids) < len("a cabbage faded")
    logits = loaded.forward(ids, loaded.new_cache()).logits
    assert logits.shape == (600,)
    assert np.isfinite(logits).all()
