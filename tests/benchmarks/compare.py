"""``make bench``: this runtime beside transformers and llama.cpp, on one file's weights.

Every figure is measured in rounds that take turns between the runtimes, so that what else the
machine does meets them all; the medians go into a table in docs/performance.md. The peers live in
an environment of their own, ``.venv-bench``, which borrows this one's torch; a peer that can't be
installed is left out, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORKERS = Path(__file__).with_name("workers.py")
PEERS = ROOT / ".venv-bench"
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
NEEDED = {
    "transformers": ("transformers", "accelerate", "gguf"),
    "llama.cpp": ("llama-cpp-python",),
}


class Worker:
    """A runtime in a process of its own."""

    def __init__(self, kind: str, path: Path, threads: int, precision: str = "exact") -> None:
        self._kind = kind
        peer = kind in NEEDED
        python = PEERS / "bin" / "python" if peer else Path(sys.executable)
        # -P: what lies beside the script is not to be imported in the place of something else
        arguments = [str(python), "-P", str(WORKERS), kind, str(path), str(threads), precision]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=environment,
        )  # fmt: skip
        self.error = self._answer().get("error")

    def do(self, what: str, **how: Any) -> list[float]:
        """Measure, in milliseconds."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": what, **how}) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise SystemExit(f"bench: {self._kind}: {answer['error']}")
        return list(answer["ms"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": "its process ended"}


@dataclass(frozen=True)
class Task:
    """One figure of one runtime."""

    name: str
    runtime: str
    what: str
    how: dict[str, int]


TASKS = (
    Task("read", "memory", "read", {"count": 3}),
    Task("exact", "exact", "decode", {"at": 16, "count": 12}),
    Task("exact 4096", "exact", "decode", {"at": 4096, "count": 4}),
    Task("exact 461", "exact", "decode", {"at": 461, "count": 6}),
    Task("exact 2000", "exact", "decode", {"at": 2000, "count": 6}),
    Task("edit", "exact", "edit", {"at": 2000, "back": 3, "count": 4}),
    Task("exact prefill", "exact", "prefill", {"length": 512, "count": 1}),
    Task("fast", "fast", "decode", {"at": 16, "count": 12}),
    Task("fast prefill", "fast", "prefill", {"length": 512, "count": 1}),
    Task("transformers", "transformers", "decode", {"at": 16, "count": 12}),
    Task("transformers prefill", "transformers", "prefill", {"length": 512, "count": 1}),
    Task("transformers again", "transformers", "again", {"length": 461, "count": 1}),
    Task("llama.cpp", "llama.cpp", "decode", {"at": 16, "count": 12}),
    Task("llama.cpp prefill", "llama.cpp", "prefill", {"length": 512, "count": 1}),
)


def install_peers() -> None:
    """Make the environment of the peers; what can't be installed stays out."""
    if not PEERS.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        purelib = sysconfig.get_paths(vars={"base": str(PEERS), "platbase": str(PEERS)})["purelib"]
        # the same torch for both, so that runtimes are compared and not builds
        (Path(purelib) / "torch_of_tokenloop.pth").write_text(sysconfig.get_paths()["purelib"])
    for packages in NEEDED.values():
        pip = [str(PEERS / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
        if subprocess.run(pip, check=False).returncode:
            print(f"bench: {', '.join(packages)} can't be installed here", file=sys.stderr)


def measure(path: Path, threads: int, rounds: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    """All samples by task, and why a runtime has none."""
    kinds = {
        "memory": ("memory", "exact"), "exact": ("tokenloop", "exact"),
        "fast": ("tokenloop", "fast"), "transformers": ("transformers", "exact"),
        "llama.cpp": ("llama.cpp", "exact"),
    }  # fmt: skip
    workers, missing = {}, {}
    for runtime, (kind, precision) in kinds.items():
        worker = Worker(kind, path, threads, precision)
        if worker.error:
            missing[runtime] = worker.error
        else:
            workers[runtime] = worker
    samples: dict[str, list[float]] = {task.name: [] for task in TASKS}
    for number in range(rounds + 1):
        print(f"bench: round {number} of {rounds}", file=sys.stderr)
        for task in TASKS:
            if task.runtime in workers:
                times = workers[task.runtime].do(task.what, **task.how)
                if number:  # the first round warms up
                    samples[task.name] += times
    for worker in workers.values():
        worker.close()
    once = [loaded(path, threads) for _ in range(3)]
    for name, values in zip(("first", "peak", "cache"), zip(*once, strict=True), strict=True):
        samples[name] = list(values)
    return samples, missing


def loaded(path: Path, threads: int) -> list[float]:
    """What a process takes to load a file: ms to the first distribution, bytes at most and kept."""
    worker = Worker("once", path, threads)
    if worker.error:
        raise SystemExit(f"bench: {path.name}: {worker.error}")
    answer = worker.do("load", count=1)
    worker.close()
    return answer


def large_vocabularies(threads: int) -> dict[str, list[float]]:
    """How long files with 262,144 tokens load, in milliseconds, by their tokenizer's model."""
    from tests.benchmarks.large_vocabulary import write

    samples: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for model in ("gpt2", "llama"):
            path = Path(folder) / f"{model}.gguf"
            write(path, model)
            samples[f"first {model}"] = [loaded(path, threads)[0] for _ in range(3)]
            path.unlink()
    return samples


def sampler(size: int) -> list[float]:
    """What chain, trace, draw and record take for a vocabulary of a size, in milliseconds."""
    import numpy as np

    from tokenloop.sampling import SamplerSettings, Situation, raw_candidates
    from tokenloop.session.now import Dials, consider
    from tokenloop.session.vocabulary import Vocabulary

    class Letters:
        def token_bytes(self, token_id: int) -> bytes:
            return b"abc"

        def is_special(self, token_id: int) -> bool:
            return False

    logits = np.random.default_rng(0).standard_normal(size).astype(np.float32) * 2
    logits[:50] += 5
    vocabulary: Any = Vocabulary(Letters())  # type: ignore[arg-type]  # all that it asks for
    dials = Dials(SamplerSettings(), 7, 40)
    times = []
    for _ in range(60):
        start = time.perf_counter()
        consider(raw_candidates(logits), Situation(IDS), 0, dials, vocabulary)
        times.append((time.perf_counter() - start) * 1e3)
    return times


IDS = [504, 3575, 282, 4617, 314]


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, and what was to be reached."""

    what: str
    measured: str
    figure: float | None
    target: float
    of: str = ""

    def line(self) -> str:
        """As Markdown."""
        goal = f"≤ {self.target:g} {self.of}".rstrip()
        if self.figure is None:
            return f"| {self.what} | {self.measured} | not measured | {goal} | |"
        mark = "reached" if self.figure <= self.target else "**missed**"
        figure = f"{self.figure:.3g}" if self.figure < 1000 else f"{self.figure:,.0f}"
        return f"| {self.what} | {self.measured} | {figure} | {goal} | {mark} |"


def table(samples: dict[str, list[float]], missing: dict[str, str], weights: dict[str, int]) -> str:
    """The table, from medians."""
    of = {name: statistics.median(times) for name, times in samples.items() if times}
    speed = (1 << 29) / of["read"] / 1e6  # GB/s
    limit = weights["float32"] / speed / 1e6

    def ms(*names: str) -> str:
        return " · ".join(f"{of[name]:.1f} ms" if name in of else "—" for name in names)

    def over(one: str, other: str) -> float | None:
        return of[one] / of[other] if one in of and other in of else None

    grown_mb = (4096 - 16) * weights["position"] / 1e6
    attention = grown_mb / speed
    held = weights["float32"] + of["cache"]
    again = over("exact 461", "transformers again")
    rows = [
        Row("decode, float32 · transformers", ms("exact", "transformers"),
            over("exact", "transformers"), 0.75, "× transformers"),
        Row(f"decode, float32 · the memory's limit, {limit:.1f} ms", ms("exact"),
            of["exact"] / limit, 1.15, "× the limit"),
        Row("decode, packed weights · llama.cpp", ms("fast", "llama.cpp"),
            over("fast", "llama.cpp"), 1.0, "× llama.cpp"),
        Row("prefill of 512, float32 · transformers", ms("exact prefill", "transformers prefill"),
            over("exact prefill", "transformers prefill"), 0.8, "× transformers"),
        Row("prefill of 512, float32 · llama.cpp", ms("exact prefill", "llama.cpp prefill"),
            over("exact prefill", "llama.cpp prefill"), 0.3, "× llama.cpp"),
        Row("prefill of 512, packed weights · llama.cpp", ms("fast prefill", "llama.cpp prefill"),
            over("fast prefill", "llama.cpp prefill"), 0.3, "× llama.cpp"),
        Row(f"decode at 4,096 · at 16 (keys and values between: {grown_mb:,.0f} MB)",
            ms("exact 4096", "exact"), (of["exact 4096"] - of["exact"]) / attention, 1.0,
            f"× what their bytes take, {attention:.1f} ms"),
        Row("step at 461 · a full pass each step with transformers",
            ms("exact 461", "transformers again"), again, 0.04, "× the full pass"),
        Row("edit 3 before the end of 2,000 · a decode there", ms("edit", "exact 2000"),
            over("edit", "exact 2000"), 2.0, "decodes"),
        Row("load to first distribution, float32", ms("first"), of["first"], 1000, "ms"),
        Row("the same, 262,144 byte-level tokens", ms("first gpt2"), of["first gpt2"], 3000, "ms"),
        Row("the same, 262,144 SentencePiece tokens", ms("first llama"), of["first llama"],
            3000, "ms"),
        Row(f"peak memory, float32 ({held / 1e6:,.0f} MB are weights and KV)",
            f"{of['peak'] / 1e6:,.0f} MB", of["peak"] / (1.25 * held + 350e6), 1.0,
            "× (1.25 × weights and KV + 350 MB)"),
        Row("sampler with trace, 49,152", ms("sampler 49"), of["sampler 49"], 1.5, "ms"),
        Row("sampler with trace, 262,144", ms("sampler 262"), of["sampler 262"], 6, "ms"),
    ]  # fmt: skip
    lines = [
        f"Measured {date.today():%Y-%m-%d} on {processor()}, {weights['threads']} threads, "
        f"torch {weights['torch']}, Python {platform.python_version()}; the memory was read at "
        f"{speed:.1f} GB/s in the same rounds.",
        "",
        "| what · beside what | medians | figure | to reach | |",
        "|---|---|---|---|---|",
        *(row.line() for row in rows),
    ]
    if missing:
        lines.append("")
    lines += [f"- {runtime} was not measured: {why}." for runtime, why in missing.items()]
    return "\n".join(lines)


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def facts(path: Path, threads: int) -> dict[str, Any]:
    """Bytes of weights and of a position in float32."""
    import torch

    from tokenloop_models import load

    model = load(path, device="cpu", threads=threads)
    return {
        "float32": 4 * model.info.parameters,
        "position": model.new_cache().bytes_per_position,
        "threads": threads,
        "torch": torch.__version__,
    }


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 2))
    parser.add_argument("--no-install", action="store_true", help="take .venv-bench as it is")
    options = parser.parse_args()
    from tokenloop_models.catalogue import DEFAULT
    from tokenloop_models.finding import resolve

    path = resolve(DEFAULT)
    if not options.no_install:
        install_peers()
    samples, missing = measure(path, options.threads, options.rounds)
    samples |= large_vocabularies(options.threads)
    samples |= {"sampler 49": sampler(49_152), "sampler 262": sampler(262_144)}
    text = table(samples, missing, facts(path, options.threads))
    print(text)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
