"""What lies on this machine, in everyone's folders: found, described, opened by its listed name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.models.stores import into_ollama
from tests.tiny_model import TinySpec, config, write_folder, write_gguf
from tokenloop_models import family_names
from tokenloop_models.errors import ModelError
from tokenloop_models.finding import missing_from_hub, resolve
from tokenloop_models.local import LocalModel, look_around, models_on_this_machine
from tokenloop_models.ollama import ollama_models

SPEC = TinySpec(layers=1, context=128)
PATIENCE_SECONDS = 20.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it; every store lies below."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("TOKENLOOP_CACHE", str(home / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    monkeypatch.setattr("tokenloop_models.ollama._SERVICE_STORE", home / "service")
    return home


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(SPEC, tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(SPEC, tmp_path_factory.mktemp("safetensors") / "tiny")


def split(gguf: Path, folder: Path, name: str = "big") -> list[Path]:
    """The same model in two files."""
    import gguf as library
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    writer = library.GGUFWriter(folder / f"{name}.gguf", "llama", split_max_tensors=1)
    writer.add_context_length(64)
    for tensor in ("a", "b"):
        writer.add_tensor(tensor, np.ones((2, 32), dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(folder.glob(f"{name}-*.gguf"))


def into_hub(home: Path, repo: str, commit: str, source: Path, **refs: str) -> Path:
    """Put a folder or a file into the hub's cache, linked as the library links."""
    place = home / "hub" / f"models--{repo.replace('/', '--')}"
    snapshot, blobs = place / "snapshots" / commit, place / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir(exist_ok=True)
    for file in [source] if source.is_file() else sorted(source.iterdir()):
        blob = blobs / f"{commit}-{file.name}"
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(blob)
    for name, target in refs.items():
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / name).write_text(target)
    return snapshot


def listed() -> dict[str, LocalModel]:
    return {model.name: model for model in models_on_this_machine()}


def test_an_empty_machine_has_none(home: Path) -> None:
    assert models_on_this_machine() == []


def test_a_folder_says_family_dtype_and_context(home: Path, folder: Path) -> None:
    into_hub(home, "org/tiny", "abc", folder, main="abc")
    model = listed()["org/tiny"]
    assert (model.title, model.family, model.weights) == ("org/tiny", "llama", "float32")
    assert (model.quantisation, model.dtype, model.context_length) == (None, "float32", 128)
    assert model.size == (folder / "model.safetensors").stat().st_size
    assert model.problem is None


def test_what_stands_in_the_hubs_cache_opens_by_its_listed_name(
    home: Path, folder: Path, gguf: Path
) -> None:
    main = into_hub(home, "org/tiny", "abc", folder, main="abc")
    other = into_hub(home, "org/tiny", "def", folder, **{"v1.0": "def"})
    into_hub(home, "org/tiny", "old", folder)
    file = into_hub(home, "org/tiny-GGUF", "123", gguf, main="123")
    assert set(listed()) == {"org/tiny", "org/tiny@v1.0", "org/tiny-GGUF:tiny.gguf"}
    assert resolve("org/tiny") == main
    assert resolve("org/tiny@v1.0") == other
    assert resolve("org/tiny@abc") == main
    assert resolve("org/tiny-GGUF:tiny.gguf") == resolve("org/tiny-GGUF") == file / "tiny.gguf"


def test_the_main_branch_is_meant_where_no_revision_is_named(home: Path, folder: Path) -> None:
    main = into_hub(home, "org/tiny", "abc", folder, main="abc")
    into_hub(home, "org/tiny", "newer", folder)
    assert resolve("org/tiny") == main


def test_a_snapshot_that_lacks_files_is_listed_with_what_to_do(home: Path, folder: Path) -> None:
    snapshot = into_hub(home, "org/tiny", "abc", folder, main="abc")
    (snapshot / "tokenizer.json").unlink()
    said = "not all of its files are here: tokenloop pull org/tiny"
    assert listed()["org/tiny"].problem == said
    with pytest.raises(ModelError, match="not fetched from the hub: tokenloop pull org/tiny"):
        resolve("org/tiny")
    assert str(missing_from_hub("org/tiny")) == "org/tiny"


def test_a_sharded_snapshot_is_whole_with_all_its_shards(home: Path, folder: Path) -> None:
    snapshot = into_hub(home, "org/tiny", "abc", folder, main="abc")
    shard = (snapshot / "model.safetensors").rename(snapshot / "model-00001-of-00002.safetensors")
    names = {"a": shard.name, "b": "model-00002-of-00002.safetensors"}
    index = snapshot / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": names}))
    assert missing_from_hub("org/tiny") is not None
    shutil.copy(shard, snapshot / names["b"])
    assert resolve("org/tiny") == snapshot
    index.write_text('{"weight_map": 3}')
    assert missing_from_hub("org/tiny") is not None


@pytest.mark.parametrize(
    ("changes", "quantisation", "problem"),
    [
        ({"model_type": "mamba"}, None, "model_type: 'mamba' is not supported"),
        (
            {"quantization_config": {"quant_method": "gptq"}},
            "gptq",
            "quantization_config: 'gptq' weights are not supported",
        ),
    ],
)
def test_what_cannot_be_run_is_listed_with_the_reason(
    home: Path, tmp_path: Path, changes: dict[str, Any], quantisation: str | None, problem: str
) -> None:
    source = write_folder(SPEC, tmp_path / "odd", changes=changes)
    into_hub(home, "org/odd", "abc", source, main="abc")
    model = listed()["org/odd"]
    assert (model.quantisation, model.problem) == (quantisation, problem)
    assert model.family == (config(SPEC) | changes)["model_type"]


def test_the_context_of_a_model_of_text_and_images_is_its_text_parts(
    home: Path, tmp_path: Path
) -> None:
    changes = {
        "model_type": "gemma3",
        "max_position_embeddings": ...,
        "text_config": {"max_position_embeddings": 32_768},
    }
    into_hub(home, "org/g", "abc", write_folder(SPEC, tmp_path / "g", changes=changes))
    assert listed()["org/g"].context_length == 32_768


@pytest.mark.parametrize("place", [".lmstudio/models", ".cache/lm-studio/models", "moved/models"])
def test_lm_studios_models_are_found(home: Path, gguf: Path, folder: Path, place: str) -> None:
    if place.startswith("moved"):
        (home / ".lmstudio-home-pointer").write_text(str(home / "moved"))
    models = home / place
    for name in ("org/tiny-GGUF/tiny.gguf", "org/tiny-GGUF/mmproj-tiny.gguf"):
        (models / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(gguf, models / name)
    shutil.copytree(folder, models / "mlx" / "tiny")
    split(gguf, models / "org" / "big-GGUF")
    assert set(listed()) == {
        "lmstudio:org/tiny-GGUF/tiny.gguf",
        "lmstudio:mlx/tiny",
        "lmstudio:org/big-GGUF/big-00001-of-00002.gguf",
    }
    for name in listed():
        assert resolve(name) == models / name.removeprefix("lmstudio:")


def test_ollamas_models_are_found_by_the_names_that_ollama_writes(home: Path, gguf: Path) -> None:
    store = home / ".ollama" / "models"
    blob = into_ollama(store, "registry.ollama.ai/library/tiny/1b", gguf)
    names = {
        "registry.ollama.ai/library/tiny/latest": "ollama:tiny:latest",
        "registry.ollama.ai/someone/tiny/latest": "ollama:someone/tiny:latest",
        "hf.co/org/tiny-GGUF/Q4_0": "ollama:hf.co/org/tiny-GGUF:Q4_0",
    }
    for manifest in names:
        into_ollama(store, manifest, gguf)
    assert dict(ollama_models()) == dict.fromkeys(["ollama:tiny:1b", *names.values()], blob)
    assert resolve("ollama:tiny:1b") == resolve("ollama:tiny") == blob
    [model] = models_on_this_machine()
    assert (model.title, model.family, model.context_length) == ("Tiny", "llama", 128)


def test_ollamas_store_may_lie_elsewhere(
    home: Path, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into_ollama(home / "service", "registry.ollama.ai/library/a/latest", gguf)
    assert [name for name, _ in ollama_models()] == ["ollama:a:latest"]
    into_ollama(home / "moved", "registry.ollama.ai/library/b/latest", gguf)
    monkeypatch.setenv("OLLAMA_MODELS", str(home / "moved"))
    assert [name for name, _ in ollama_models()] == ["ollama:b:latest"]


@pytest.mark.parametrize(
    "manifest",
    ["", "[]", "{}", '{"layers": 3}', '{"layers": [{"mediaType": "x"}]}', "[" * 100_000],
)
def test_a_damaged_manifest_is_passed_over(home: Path, gguf: Path, manifest: str) -> None:
    store = home / ".ollama" / "models"
    into_ollama(store, "registry.ollama.ai/library/good/latest", gguf)
    bad = store / "manifests/registry.ollama.ai/library/bad/latest"
    bad.parent.mkdir(parents=True)
    bad.write_text(manifest)
    assert [name for name, _ in ollama_models()] == ["ollama:good:latest"]


def test_a_manifest_cannot_lead_out_of_the_store(home: Path, gguf: Path) -> None:
    store = home / ".ollama" / "models"
    into_ollama(store, "registry.ollama.ai/library/a/latest", gguf)
    manifest = store / "manifests/registry.ollama.ai/library/a/latest"
    manifest.write_text(
        '{"layers": [{"mediaType": "application/vnd.ollama.image.model",'
        ' "digest": "sha256:../../../secret"}]}'
    )
    assert ollama_models() == []


def test_layers_that_are_no_weights_are_no_models(home: Path, gguf: Path) -> None:
    store = home / ".ollama" / "models"
    name = "registry.ollama.ai/library/a/latest"
    into_ollama(store, name, gguf, media_type="application/vnd.ollama.image.projector")
    assert ollama_models() == []


def test_a_blob_opens_by_its_path_too(home: Path, gguf: Path) -> None:
    store = home / ".ollama" / "models"
    blob = into_ollama(store, "registry.ollama.ai/library/a/latest", gguf)
    assert resolve(blob) == blob


@pytest.mark.parametrize("name", ["ollama:nothing", "lmstudio:no/such/file.gguf"])
def test_a_name_that_no_store_has_says_where_to_look(home: Path, name: str) -> None:
    with pytest.raises(ModelError, match="has no such model: tokenloop models lists them"):
        resolve(name)
    assert missing_from_hub(name) is None


def test_a_split_gguf_is_listed_once_with_all_its_bytes(home: Path, gguf: Path) -> None:
    parts = split(gguf, home / "cache" / "models")
    [model] = models_on_this_machine()
    assert model.name == str(parts[0])
    assert model.size == sum(path.stat().st_size for path in parts)
    assert (model.weights, model.context_length) == ("float16", 64)
    parts[1].unlink()
    assert models_on_this_machine() == []
    assert [line.split(": ")[1] for line in look_around()[1]] == [
        "is missing; " + repr(parts[0].name) + " is of the same model"
    ]


def test_one_file_is_listed_once_whoever_links_to_it(home: Path, gguf: Path) -> None:
    snapshot = into_hub(home, "org/tiny-GGUF", "abc", gguf, main="abc")
    models = home / ".lmstudio" / "models" / "org" / "tiny"
    models.mkdir(parents=True)
    (models / "tiny.gguf").symlink_to(snapshot / "tiny.gguf")
    assert list(listed()) == ["org/tiny-GGUF:tiny.gguf"]


def test_names_of_the_families_are_those_of_the_families() -> None:
    from tokenloop_models import families

    assert families.MODEL_TYPES.keys() == family_names.MODEL_TYPES
    assert families.ARCHITECTURES.keys() == family_names.ARCHITECTURES


def test_listing_needs_no_torch(home: Path, gguf: Path, folder: Path) -> None:
    into_ollama(home / ".ollama" / "models", "registry.ollama.ai/library/a/latest", gguf)
    shutil.copytree(folder, home / "cache" / "models" / "tiny")
    code = (
        "import sys\nfrom tokenloop_models.local import models_on_this_machine\n"
        "print(len(models_on_this_machine()))\n"
        "print([m for m in ('torch', 'numpy', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["2", "[]"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a platform without named pipes")
def test_no_pipe_in_any_store_is_waited_for(home: Path) -> None:
    snapshot = home / "hub" / "models--a--b" / "snapshots" / "c"
    ours = home / "cache" / "models"
    for pipe in (
        home / ".lmstudio-home-pointer",
        home / ".lmstudio" / "models" / "a" / "b" / "c.gguf",
        home / ".ollama" / "models" / "manifests" / "registry.ollama.ai" / "library" / "a" / "b",
        home / "hub" / "models--a--b" / "refs" / "main",
        snapshot / "model.safetensors.index.json",
        snapshot / "config.json",
        ours / "pipe.gguf",
        ours / "folder" / "config.json",
        ours / "folder" / "model.safetensors",
    ):
        pipe.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(pipe)
    told: list[object] = []

    def look() -> None:
        told.extend((*look_around(), missing_from_hub("a/b@main")))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(PATIENCE_SECONDS)
    assert not looking.is_alive()
    assert told[0] == []
