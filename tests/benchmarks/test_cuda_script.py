"""The script that measures a CUDA device runs, on a tiny model and a CPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from tests.benchmarks import cuda
from tokenloop_models.errors import ModelError

if TYPE_CHECKING:
    from tokenloop_models.recorded import Replay


def test_it_measures_a_tiny_model_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cuda.COPY_BYTES, "cpu", 2**20)
    said: list[str] = []
    arguments = ["--device", "cpu", "--shape", "tiny", "--dtype", "float32", "--tokens", "3"]
    cuda.main(arguments, said.append)
    text = "\n".join(said)
    assert re.match(r".* CPU, \d+ threads · torch .* · copy [\d,]+ GB/s", text)
    numbers = r"( [\d.,]+ \|){5} \d+% \| [\d.]+ \|"
    for after in (16, 128):
        for graph in ("on", "off"):
            assert re.search(rf"\| {after} \| {graph} \|{numbers}", text), text
    assert re.search(r"\| 32 \| [\d.]+ \| [\d,]+ \| [\d.]+ \|", text), text


def test_the_bytes_are_those_that_a_token_reads() -> None:
    size = cuda.SIZES["tiny"]
    model = cuda.random_model("tiny", size, torch.float32, torch.device("cpu"))
    layer = 64 * (64 + 32 + 32) + 64 * 64 + 3 * 64 * 128 + 2 * 64
    once = 512 * 64 + 64  # the head and the last norm; the embedding is only looked up
    assert cuda.weight_bytes(model, size, torch.float32) == 4 * (2 * layer + once)


@pytest.mark.parametrize(("name", "billions"), [("1B", 1.24), ("8B", 8.03)])
def test_the_shapes_are_those_of_the_models_that_they_stand_for(name: str, billions: float) -> None:
    """Built on the meta device, where a weight takes no memory."""
    model = cuda.random_model(name, cuda.SIZES[name], torch.bfloat16, torch.device("meta"))
    assert model.info.parameters / 1e9 == pytest.approx(billions, abs=0.005)


def test_it_stops_where_decodes_are_not_replayed() -> None:
    def fail(_: Replay) -> Replay:
        raise RuntimeError("no capture")

    size = cuda.SIZES["tiny"]
    model = cuda.random_model("tiny", size, torch.float32, torch.device("cpu"))
    model.record_decodes(fail)
    stops = pytest.raises(SystemExit, match="recording failed: 'no capture'")
    with pytest.warns(UserWarning, match="without a CUDA graph"), stops:
        cuda.decode(model, 4, 2, replayed=True)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_device_it_says_so() -> None:
    with pytest.raises(ModelError, match=r"^device = cuda is not there"):
        cuda.main([])
