"""Loading: where to, as what, with how many threads, and what the model says of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from tests.tiny_model import TinySpec, write_folder, write_gguf
from tokenloop_models import ModelError, load
from tokenloop_models.loading import chosen_device, chosen_dtype, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tokenloop_models.model import Model


@pytest.fixture
def threads_restored() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_info_is_what_runs(tiny_model: Model) -> None:
    info = tiny_model.info
    assert (info.name, info.family, info.device) == ("tiny", "llama", "cpu")
    assert (info.dtype, info.threads, info.quantisation) == (
        "float32",
        torch.get_num_threads(),
        None,
    )
    assert (info.layers, info.kv_heads, info.head_dim) == (3, 2, 8)
    assert (info.vocab_size, info.context_length) == (299, 256)
    layer = 32 * (32 + 16 + 16) + 32 * 32 + 3 * 32 * 48 + 2 * 32
    assert info.parameters == 299 * 32 + 3 * layer + 32
    assert len(info.fingerprint) == 64


def test_an_untied_head_counts(tmp_path: Path) -> None:
    tied = load(write_folder(TinySpec(), tmp_path / "a")).info.parameters
    untied = load(write_folder(TinySpec(tied=False), tmp_path / "b")).info.parameters
    assert untied - tied == 299 * 32


def test_the_fingerprint_is_of_the_weights(tmp_path: Path, tiny_model: Model) -> None:
    same = load(write_folder(TinySpec(), tmp_path / "same")).info.fingerprint
    other = load(write_folder(TinySpec(seed=1), tmp_path / "other")).info.fingerprint
    assert same == tiny_model.info.fingerprint
    assert other != same


def test_a_single_safetensors_beside_its_settings_loads(tiny_model_folder: Path) -> None:
    assert load(tiny_model_folder / "model.safetensors").info.name == "tiny"


def test_the_tokenizer_comes_along(tmp_path: Path, tiny_model: Model) -> None:
    gguf = load(write_gguf(TinySpec(), tmp_path / "m.gguf"))
    text = "The capital of Australia is 12 naïve 日本 😀"
    ids = tiny_model.tokenizer.encode(text)
    assert gguf.tokenizer.encode(text) == ids
    assert b"".join(map(tiny_model.tokenizer.token_bytes, ids)) == text.encode()
    assert tiny_model.tokenizer.eos_ids == (2,)


def test_progress_counts_every_tensor(tiny_model_folder: Path) -> None:
    told: list[tuple[str, int, int]] = []
    load(tiny_model_folder, progress=lambda *each: told.append(each))
    assert told == [("weights", done, 29) for done in range(1, 30)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct"),
        ("a/tinyllama-1.1b-chat-v1.0.Q4_K_M.gguf", "tinyllama-1.1b-chat-v1.0"),
        ("a/Llama-3.2-1B-Instruct-IQ4_XS.gguf", "Llama-3.2-1B-Instruct"),
        ("a/thing-f16.gguf", "thing"),
        ("a/MyModel", "MyModel"),
        ("a/MyModel/model.safetensors", "MyModel"),
        ("a/MyModel/model-00001-of-00002.safetensors", "MyModel"),
        ("a/Big-Q4_K_M-00002-of-00003.gguf", "Big"),
        ("models--HuggingFaceTB--SmolLM2-135M/snapshots/3fa9c0", "SmolLM2-135M"),
        ("a/evil\x1b[2J.gguf", "evil\\x1b[2J"),
    ],
)
def test_a_model_is_named_after_its_file_or_folder(path: str, name: str) -> None:
    assert title(Path(path)) == name


def test_a_file_called_by_its_hash_is_named_as_it_says_itself(tmp_path: Path) -> None:
    blob = write_gguf(TinySpec(layers=1), tmp_path / "tiny.gguf").rename(tmp_path / "sha256-0a1b")
    assert load(blob, device="cpu").info.name == "Tiny"


def test_auto_is_float32_on_the_cpu(tiny_model_folder: Path) -> None:
    assert load(tiny_model_folder, device="cpu").info.dtype == "float32"


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cuda:-1", "mps", "", "cpu:0"])
def test_an_unknown_device_is_refused(tiny_model_folder: Path, device: str) -> None:
    with pytest.raises(ModelError, match=r"^device = .* is not possible: auto, cpu, cuda"):
        load(tiny_model_folder, device=device)


def test_a_device_that_is_not_there_is_refused(tiny_model_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"^device = cuda:99 is not there"):
        load(tiny_model_folder, device="cuda:99")


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert chosen_device("auto") == chosen_device("cuda") == torch.device("cuda", 0)
    assert chosen_device("cuda:1") == torch.device("cuda", 1)
    assert chosen_dtype("auto", torch.device("cuda", 1)) == torch.bfloat16
    with pytest.raises(ModelError, match=r"needs a CUDA device, it sees 2$"):
        chosen_device("cuda:2")


@pytest.mark.parametrize("dtype", ["int8", "float64", "f32", ""])
def test_an_unknown_dtype_is_refused(tiny_model_folder: Path, dtype: str) -> None:
    with pytest.raises(ModelError, match=r"^dtype = .* is not possible: auto, float32, bfloat16"):
        load(tiny_model_folder, device="cpu", dtype=dtype)


@pytest.mark.usefixtures("threads_restored")
def test_threads_are_the_person_s_choice(tiny_model_folder: Path) -> None:
    assert load(tiny_model_folder, threads=1).info.threads == 1
    assert torch.get_num_threads() == 1
    assert load(tiny_model_folder).info.threads == 1


@pytest.mark.parametrize("threads", [0, -1, True, 1.0, "2", 5000])
def test_impossible_threads_are_refused(tiny_model_folder: Path, threads: object) -> None:
    before = torch.get_num_threads()
    with pytest.raises(ModelError, match=r"^threads = .* is not possible: a whole number from 1"):
        load(tiny_model_folder, threads=threads)  # type: ignore[arg-type]  # that is the point
    assert torch.get_num_threads() == before


def test_too_little_memory_for_the_weights_is_one_clean_line(
    tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokenloop_models import loading

    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(loading, "Decoder", none_left)
    with pytest.raises(ModelError, match=r"^not enough memory for the weights of .* on cpu$"):
        load(tiny_model_folder, device="cpu")


def test_a_fault_that_is_not_about_memory_stays_visible(
    tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokenloop_models import loading

    def broken(*_: object) -> None:
        raise RuntimeError("shapes don't match")

    monkeypatch.setattr(loading, "Decoder", broken)
    with pytest.raises(RuntimeError, match="shapes don't match"):
        load(tiny_model_folder, device="cpu")


def test_importing_the_package_imports_no_torch() -> None:
    code = (
        "import sys, tokenloop_models; from tokenloop_models import load, ModelError, Cancelled;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
