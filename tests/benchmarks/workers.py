"""What is measured, in one process for each runtime: a line of JSON in, a line of JSON out.

Run by ``compare.py`` with the interpreter of the environment that has the runtime, so it imports
nothing of its own. A command is {"do": name, …}; the answer {"ms": […]} or {"error": text}.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

IDS = [504, 3575, 282, 4617, 314]
"""Of "The capital of Australia is" in the default model's vocabulary; any would do."""


def text(length: int) -> list[int]:
    """Ids of that many positions."""
    return (IDS * (length // len(IDS) + 1))[:length]


def timed(work: Any) -> float:
    """Milliseconds that a call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


class Tokenloop:
    """This project's runtime."""

    def __init__(self, path: str, threads: int, precision: str) -> None:
        from tokenloop_models import load

        self.load = lambda: load(path, device="cpu", precision=precision, threads=threads)
        self.model = self.load()
        self.caches: dict[int, Any] = {}

    def filled(self, length: int) -> Any:
        """A cache that holds that many positions."""
        if length not in self.caches:
            cache = self.caches[length] = self.model.new_cache()
            self.model.forward(text(length), cache)
        return self.caches[length]

    def decode(self, at: int, count: int) -> list[float]:
        cache = self.filled(at)
        times = []
        for _ in range(count):
            times.append(timed(lambda: self.model.forward([314], cache)))
            cache.truncate(at)
        return times

    def edit(self, at: int, back: int, count: int) -> list[float]:
        """Change the token so many before the end: what comes after it is computed anew."""
        times = []
        cache = self.filled(at)
        for _ in range(count):
            cache.truncate(at - back)
            times.append(timed(lambda: self.model.forward(text(at)[-back:], cache)))
        return times

    def prefill(self, length: int, count: int) -> list[float]:
        caches = [self.model.new_cache() for _ in range(count)]
        return [timed(lambda c=cache: self.model.forward(text(length), c)) for cache in caches]


class Transformers:
    """The reference implementation, on the same file's weights in float32."""

    def __init__(self, path: str, threads: int, precision: str) -> None:
        import pathlib

        import torch
        from transformers import AutoModelForCausalLM

        torch.set_num_threads(threads)
        self.torch = torch
        where = pathlib.Path(path)
        self.model = AutoModelForCausalLM.from_pretrained(
            str(where.parent), gguf_file=where.name, dtype=torch.float32
        ).eval()
        self.cache: Any = None

    def run(self, ids: list[int], cache: Any = None, *, keep: bool = True) -> Any:
        with self.torch.inference_mode():
            return self.model(
                self.torch.tensor([ids]), past_key_values=cache, use_cache=keep, logits_to_keep=1
            )

    def decode(self, at: int, count: int) -> list[float]:
        cache = self.run(text(at)).past_key_values
        times = []
        for _ in range(count):
            times.append(timed(lambda: self.run([314], cache)))
            cache.crop(-1)
        return times

    def prefill(self, length: int, count: int) -> list[float]:
        return [timed(lambda: self.run(text(length))) for _ in range(count)]

    def again(self, length: int, count: int) -> list[float]:
        """A step without a cache: a full pass, logits of every position, as token-explorer does."""
        ids = self.torch.tensor([text(length)])

        def step() -> None:
            with self.torch.no_grad():
                self.model(ids)

        return [timed(step) for _ in range(count)]


class LlamaCpp:
    """llama.cpp through its Python binding, on the file as it is."""

    def __init__(self, path: str, threads: int, precision: str) -> None:
        from llama_cpp import Llama

        self.model = Llama(
            path, n_ctx=1024, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
        )

    def decode(self, at: int, count: int) -> list[float]:
        self.model.reset()
        self.model.eval(text(at))
        times = []
        for _ in range(count):
            times.append(timed(lambda: self.model.eval([314])))
            self.model.n_tokens = at
        return times

    def prefill(self, length: int, count: int) -> list[float]:
        times = []
        for _ in range(count):
            self.model.reset()
            times.append(timed(lambda: self.model.eval(text(length))))
        return times


class Memory:
    """How fast the memory is read: the limit of a product with one row."""

    def __init__(self, path: str, threads: int, precision: str) -> None:
        import torch

        torch.set_num_threads(threads)
        self.numbers = torch.ones(1 << 27)  # 512 MiB, far beyond every cache

    def read(self, count: int) -> list[float]:
        return [timed(self.numbers.sum) for _ in range(count)]


class Once:
    """What a process can measure only once: loading, and the most memory it ever had."""

    def __init__(self, path: str, threads: int, precision: str) -> None:
        import torch  # noqa: F401 - its own import isn't counted

        from tokenloop_models import load

        start = time.perf_counter()
        model = load(path, device="cpu", precision=precision, threads=threads)
        cache = model.new_cache()
        model.forward(IDS, cache)
        self.first_ms = (time.perf_counter() - start) * 1e3
        model.forward(text(512), cache)
        for _ in range(16):
            model.forward([314], cache)
        self.cache_bytes = cache.allocated_bytes

    def load(self, count: int) -> list[float]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return [self.first_ms, float(peak), float(self.cache_bytes)]


KINDS = {
    "tokenloop": Tokenloop,
    "transformers": Transformers,
    "llama.cpp": LlamaCpp,
    "memory": Memory,
    "once": Once,
}


def main() -> None:
    """Answer commands until the input ends."""
    kind, path, threads, precision = sys.argv[1:]
    try:
        worker = KINDS[kind](path, int(threads), precision)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}".splitlines()[0]}), flush=True)
        return
    print(json.dumps({"ms": []}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        name = command.pop("do")
        try:
            answer: dict[str, Any] = {"ms": getattr(worker, name)(**command)}
        except Exception as error:
            answer = {"error": f"{name}: {type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
