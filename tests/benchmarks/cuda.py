"""How fast a CUDA device decodes and prefills, against what its memory allows.

    python -m tests.benchmarks.cuda                     # 1B and 8B in bfloat16, under five minutes
    python -m tests.benchmarks.cuda --shape 1B --tokens 200
    python -m tests.benchmarks.cuda --device cpu --shape tiny --dtype float32

The models are random numbers in the shape of a Llama, made on the device: no file is needed. A
decoded token must read every weight once, and the keys and values of the positions before it. Those
bytes over the time it took is the achieved bandwidth; it is held against that of a copy from the
device's memory to the same memory (each byte read and written), measured in the same run.
"""

from __future__ import annotations

import argparse
import gc
import platform
import random
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import torch

from tokenloop_models.config import DecoderConfig, LayerConfig, Rotary
from tokenloop_models.cuda_graph import cuda_graphs
from tokenloop_models.decoder import Decoder
from tokenloop_models.loading import DTYPES, chosen_device
from tokenloop_models.model import Model, ModelInfo
from tokenloop_models.parts import rope
from tokenloop_models.products import Products
from tokenloop_models.roles import roles_of_layer, roles_once
from tokenloop_models.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tokenloop_models.recorded import Recorder, Replay

COPIES = 10
COPY_BYTES = {"cuda": 2**30, "cpu": 2**26}
WARM_UP = 4
PREFILLS = 3


@dataclass(frozen=True)
class Size:
    """The shape of a Llama, and what of it is measured."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int
    tied: bool
    context: int = 8192
    prefills: tuple[int, ...] = (512, 4096)
    decodes_after: tuple[int, ...] = (16, 4096)


SIZES = {
    "1B": Size(16, 2048, 32, 8, 64, 8192, 128_256, tied=True),
    "8B": Size(32, 4096, 32, 8, 128, 14_336, 128_256, tied=False),
    "tiny": Size(
        2, 64, 4, 2, 16, 128, 512, tied=False, context=256, prefills=(32,), decodes_after=(16, 128)
    ),
}


class RandomWeights:
    """Stands where a checkpoint's weights would: random numbers of the shapes that are asked for.

    Attributes:
        parameters: how many have been made.
    """

    def __init__(self, config: DecoderConfig, dtype: torch.dtype, device: torch.device) -> None:
        self._shapes = roles_once(config) | roles_of_layer(config, config.layers[0])
        self._dtype = dtype
        self._device = device
        self.parameters = 0

    def one(self, role: str, layer: int = 0) -> torch.Tensor:
        shape = self._shapes[role]
        tensor = torch.empty(shape, dtype=self._dtype, device=self._device)
        self.parameters += tensor.numel()
        return tensor.fill_(1.0) if len(shape) == 1 else tensor.normal_(std=0.02)

    def joined(
        self, some: Sequence[str], layer: int = 0, expert: int | None = None
    ) -> torch.Tensor:
        return torch.cat([self.one(role, layer) for role in some])

    def joined_bias(self, some: Sequence[str], layer: int = 0) -> None:
        return None


def random_model(name: str, size: Size, dtype: torch.dtype, device: torch.device) -> Model:
    """Make a model of a size on a device."""
    frequencies = rope.Fixed(tuple(rope.plain(500_000.0, size.head_dim).tolist()))
    layer = LayerConfig(intermediate=size.intermediate, rotary=Rotary(frequencies=frequencies))
    config = DecoderConfig(
        vocab_size=size.vocabulary,
        hidden=size.hidden,
        heads=size.heads,
        kv_heads=size.kv_heads,
        head_dim=size.head_dim,
        context_length=size.context,
        layers=(layer,) * size.layers,
        norm_eps=1e-5,
        tied_head=size.tied,
    )
    weights = RandomWeights(config, dtype, device)
    with torch.inference_mode():
        decoder = Decoder(config, weights, Products(weights), device)
    info = ModelInfo(
        name=f"random {name}",
        family="llama",
        device=str(device),
        dtype=str(dtype).removeprefix("torch."),
        threads=torch.get_num_threads(),
        quantisation=None,
        parameters=weights.parameters,
        layers=size.layers,
        kv_heads=size.kv_heads,
        head_dim=size.head_dim,
        vocab_size=size.vocabulary,
        context_length=size.context,
        fingerprint="random",
    )
    return Model(decoder, None, info, config, device=device, dtype=dtype)


def weight_bytes(model: Model, size: Size, dtype: torch.dtype) -> int:
    """Bytes of the weights that a decoded token reads: of an embedding, one row is as good as none.

    A tied embedding is the head as well, and is read as that.
    """
    looked_up = 0 if size.tied else size.vocabulary * size.hidden
    return (model.info.parameters - looked_up) * dtype.itemsize


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second, read and written, of a copy within the device's memory."""
    source = torch.ones(COPY_BYTES[device.type], dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)
    times = []
    for _ in range(COPIES):
        watch = Stopwatch(device)
        target.copy_(source)
        watch.lap("copy")
        times.append(watch.milliseconds()["copy"])
    return 2 * source.numel() / (median(times) / 1e3)


@dataclass(frozen=True)
class Decoded:
    """Medians over the tokens of a run, in milliseconds."""

    total: float
    layers: float
    head: float
    copy: float
    recording: float


def decode(model: Model, after: int, tokens: int, *, replayed: bool) -> Decoded:
    """Step from a prefix of some length on."""
    cache = model.new_cache()
    model.forward(ids(model, after), cache)
    timings = []
    for token in ids(model, WARM_UP + tokens):
        output = model.forward([token], cache)
        if output.replayed != replayed:
            raise SystemExit(f"decodes were not replayed: {model.unrecorded}")
        timings.append(output.timings)
    recording = sum(each.recording_ms for each in timings)
    timings = timings[WARM_UP:]
    return Decoded(
        total=median(each.total_ms for each in timings),
        layers=median(each.layers_ms for each in timings),
        head=median(each.head_ms for each in timings),
        copy=median(each.copy_ms for each in timings),
        recording=recording,
    )


def prefill(model: Model, length: int) -> float:
    """Median milliseconds of a prefill, its last position's logits on the host."""
    every = [
        model.forward(ids(model, length), model.new_cache()).timings.total_ms
        for _ in range(1 + PREFILLS)
    ]
    return median(every[1:])


def ids(model: Model, count: int) -> list[int]:
    """Some ids."""
    generator = random.Random(count)
    return [generator.randrange(model.info.vocab_size) for _ in range(count)]


def recorder(device: torch.device) -> Recorder:
    """CUDA graphs, or on a CPU the step as it is."""
    return cuda_graphs(device) if device.type == "cuda" else as_it_is


def as_it_is(step: Replay) -> Replay:
    """Record nothing."""
    return step


def measure(
    name: str,
    dtype: torch.dtype,
    device: torch.device,
    tokens: int,
    bandwidth: float,
    say: Callable[[str], None],
) -> None:
    """Measure one model and say two tables."""
    size = SIZES[name]
    began = time.perf_counter()
    model = random_model(name, size, dtype, device)
    weights = weight_bytes(model, size, dtype)
    say(
        f"\n## {name}: {model.info.parameters / 1e9:.2f} billion parameters, {model.info.dtype}, "
        f"{weights / 1e9:.2f} GB of weights a token, "
        f"made in {time.perf_counter() - began:.1f} s\n"
    )
    say("| decode after | graph | ms a token | layers | head | copy | GB/s | of the copy's | ¹ |")
    say("|---:|---|---:|---:|---:|---:|---:|---:|---:|")
    for after in size.decodes_after:
        for graph in (True, False):
            model.record_decodes(recorder(device) if graph else None)
            took = decode(model, after, tokens, replayed=graph)
            positions = after + WARM_UP + tokens // 2
            cache_bytes = positions * model.new_cache().bytes_per_position
            achieved = (weights + cache_bytes) / (took.total / 1e3)
            say(
                f"| {after:,} | {'on' if graph else 'off'} | {took.total:.3f} | {took.layers:.3f} "
                f"| {took.head:.3f} | {took.copy:.3f} | {achieved / 1e9:,.1f} "
                f"| {achieved / bandwidth:.0%} | {took.recording:.1f} |"
            )
    say("\n¹ once a window, to record the graph, ms\n")
    say("| prefill of | ms | positions a second | TFLOP/s of products |")
    say("|---:|---:|---:|---:|")
    for length in size.prefills:
        took_ms = prefill(model, length)
        rate = length / (took_ms / 1e3)
        in_layers = weights / dtype.itemsize - size.vocabulary * size.hidden
        say(f"| {length:,} | {took_ms:.1f} | {rate:,.0f} | {2 * in_layers * rate / 1e12:.1f} |")


def machine(device: torch.device) -> str:
    """What it ran on."""
    if device.type == "cpu":
        return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"
    properties = torch.cuda.get_device_properties(device)
    memory = properties.total_memory / 2**30
    return f"{properties.name}, {memory:.0f} GiB, CUDA {torch.version.cuda}"


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> None:
    """Read the options, measure, say."""
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.cuda", description=summary)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu to try the script")
    parser.add_argument("--shape", action="append", choices=SIZES, help="1B and 8B by default")
    parser.add_argument("--dtype", default="bfloat16", choices=DTYPES)
    parser.add_argument("--tokens", type=int, default=64, help="decoded a measurement")
    options = parser.parse_args(arguments)
    device, dtype = chosen_device(options.device), DTYPES[options.dtype]
    bandwidth = copy_bandwidth(device)
    say(f"{machine(device)} · torch {torch.__version__} · copy {bandwidth / 1e9:,.0f} GB/s")
    for name in options.shape or ("1B", "8B"):
        measure(name, dtype, device, options.tokens, bandwidth, say)
        gc.collect()  # graphs, caches and weights of the one before the next


if __name__ == "__main__":
    main()
