"""``tokenloop check`` on the tiny model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.tiny_model import TinySpec, write_gguf
from tokenloop.cli import check as check_module
from tokenloop.cli.program import program
from tokenloop_models.parts.packed import packed_products_work

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(program, ["check", *arguments], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.output


def test_cached_passes_agree_with_a_fresh_one(tiny_model_folder: Path) -> None:
    code, output = run(str(tiny_model_folder), "-p", "the rain", "--steps", "6")
    assert code == 0
    largest = float(output.split("largest |Δlogit|")[1].split()[0])
    assert largest < 1e-4
    assert "it stays" in output


def test_a_lower_precision_is_compared_with_float32_and_is_no_fault(
    tiny_model_folder: Path,
) -> None:
    code, output = run(str(tiny_model_folder), "-p", "the rain", "--dtype", "bfloat16")
    assert code == 0
    assert "in bfloat16" in output
    assert float(output.split("largest |Δlogit|")[1].split()[0]) > 1e-4


@pytest.mark.skipif(not packed_products_work(), reason="this torch has no packed product")
def test_packed_weights_are_compared_with_exact_ones(tmp_path: Path) -> None:
    spec = TinySpec(intermediate=64, vocab_size=304)
    path = write_gguf(spec, tmp_path / "tiny.gguf", kinds={"": "Q4_0"})
    code, output = run(str(path), "-p", "the rain", "--precision", "fast", "--device", "cpu")
    assert code == 0
    assert "in float32, packed weights" in output
    assert float(output.split("largest |Δlogit|")[1].split()[0]) > 1e-4


def test_float32_beyond_its_tolerance_fails(
    tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_module, "TOLERANCE", -1.0)
    code, output = run(str(tiny_model_folder), "-p", "the rain", "--steps", "1")
    assert code == 1
    assert "should agree" in output
