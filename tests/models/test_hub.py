"""Models of the hub: the real library against a small hub on this machine."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.toy_hub import HUB_FILES, ToyHub, commit_of, serving, sha256
from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.fetch import pull
from tokenloop_models.finding import missing_from_hub, resolve

WEIGHTS = HUB_FILES["model.safetensors"]
GGUF_FILES = {
    "README.md": b"",
    "toy-Q4_0.gguf": b"GGUF" + b"4" * 50_000,
    "toy-Q8_0.gguf": b"GGUF" + b"8" * 50_000,
    "big/toy-F16-00001-of-00002.gguf": b"GGUF" + b"a" * 50_000,
    "big/toy-F16-00002-of-00002.gguf": b"GGUF" + b"b" * 50_000,
    "mmproj-toy.gguf": b"GGUF",
}
MIB = 1 << 20  # the hub's library writes what arrives in pieces of ten
LARGE = HUB_FILES | {"model.safetensors": bytes(range(256)) * 4096 * 24}
SHARDED = {
    **{name: data for name, data in HUB_FILES.items() if name != "model.safetensors"},
    "model-00001-of-00002.safetensors": b"1" * 60_000,
    "model-00002-of-00002.safetensors": b"2" * 60_000,
    "model.safetensors.index.json": json.dumps(
        {
            "weight_map": {
                "a": "model-00001-of-00002.safetensors",
                "b": "model-00002-of-00002.safetensors",
            }
        }
    ).encode(),
    "other.safetensors": b"unused",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub's library, and no settings of the person's own."""
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("TOKENLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    return tmp_path / "hf" / "hub"


Serve = Callable[..., ToyHub]


@pytest.fixture
def serve(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start a hub and point the library to it."""
    open_hubs: list[Any] = []

    def start(files: dict[str, bytes] = HUB_FILES, **behaviour: Any) -> ToyHub:
        context = serving(ToyHub(files, **behaviour))
        open_hubs.append(context)
        hub: ToyHub = context.__enter__()
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        return hub

    yield start
    for context in open_hubs:
        context.__exit__(None, None, None)


def refusal(name: str) -> str:
    with pytest.raises(ModelError) as caught:
        pull(name)
    line = str(caught.value)
    assert line.isprintable()
    return line


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def test_only_the_files_needed_arrive_and_other_programs_find_them(
    serve: Serve, cache: Path
) -> None:
    hub = serve()
    snapshot = pull("toys/Toy-1K")
    assert snapshot == cache / "models--toys--Toy-1K" / "snapshots" / commit_of(HUB_FILES)
    assert files_in(snapshot) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert hub.fetched() == {"config.json", "model.safetensors", "tokenizer.json"}
    assert (snapshot / "model.safetensors").read_bytes() == WEIGHTS
    assert resolve("toys/Toy-1K") == snapshot
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache("toys/Toy-1K", "model.safetensors", cache_dir=cache)
    assert found == str(snapshot / "model.safetensors")


def test_a_second_pull_fetches_nothing_again(serve: Serve) -> None:
    hub = serve()
    first = pull("toys/Toy-1K")
    hub.asked.clear()
    assert pull("toys/Toy-1K") == first
    assert hub.fetched() == set()


def test_sharded_weights_arrive_with_their_index_and_no_other(serve: Serve) -> None:
    serve(SHARDED)
    snapshot = pull("toys/Toy-1K")
    assert files_in(snapshot) == [
        "config.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
    ]


def test_progress_counts_up_to_all_bytes(serve: Serve) -> None:
    hub = serve(LARGE, stalls_after=10 * MIB)
    seen: list[tuple[str, int, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))
        if done >= 10 * MIB:
            hub.stalls_after = None
            hub.go_on.set()

    pull("toys/Toy-1K", progress)
    total = sum(len(LARGE[name]) for name in hub.fetched())
    assert {what for what, _, _ in seen} == {"download"}
    assert {of for _, _, of in seen} == {0, total}
    assert any(0 < done < total for _, done, _ in seen)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_a_connection_that_breaks_is_taken_up_again(serve: Serve) -> None:
    hub = serve(LARGE, stops_after=15 * MIB)
    snapshot = pull("toys/Toy-1K")
    assert [at for name, at in hub.asked if name == "model.safetensors"] == [0, 10 * MIB]
    assert (snapshot / "model.safetensors").read_bytes() == LARGE["model.safetensors"]


def test_a_pull_that_was_stopped_goes_on_where_it_was(serve: Serve, cache: Path) -> None:
    hub = serve(LARGE, stalls_after=10 * MIB)
    blobs = cache / "models--toys--Toy-1K" / "blobs"

    def enough() -> bool:
        return any(path.stat().st_size == 10 * MIB for path in blobs.glob("*.incomplete"))

    with pytest.raises(Cancelled):
        pull("toys/Toy-1K", cancelled=enough)
    with pytest.raises(ModelError, match="tokenloop pull toys/Toy-1K"):
        resolve("toys/Toy-1K")
    hub.stalls_after = None
    hub.asked.clear()
    snapshot = pull("toys/Toy-1K")
    assert [at for name, at in hub.asked if name == "model.safetensors"] == [10 * MIB]
    assert (snapshot / "model.safetensors").read_bytes() == LARGE["model.safetensors"]
    assert not list(blobs.glob("*.incomplete"))


def test_what_arrived_wrong_is_thrown_away(serve: Serve, cache: Path) -> None:
    blobs = cache / "models--toys--Toy-1K" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{sha256(WEIGHTS)}.incomplete").write_bytes(b"x" * 100)
    serve()
    line = refusal("toys/Toy-1K")
    assert line == "toys/Toy-1K: 'model.safetensors' has the wrong SHA-256: not used"
    assert (pull("toys/Toy-1K") / "model.safetensors").read_bytes() == WEIGHTS


def test_pulls_at_the_same_time_fetch_once(serve: Serve) -> None:
    hub = serve()
    paths: list[Path] = []
    threads = [threading.Thread(target=lambda: paths.append(pull("toys/Toy-1K"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(paths)) == 1
    assert [name for name, _ in hub.asked].count("model.safetensors") == 1


def test_a_revision_is_a_branch_a_tag_or_a_commit(serve: Serve) -> None:
    older = HUB_FILES | {"model.safetensors": b"o" * 100_000}
    serve(branches={"v1.0": older, "refs/pr/3": older | {"tokenizer.json": b"{ }"}})
    tagged = pull("toys/Toy-1K@v1.0")
    assert (tagged / "model.safetensors").read_bytes() == b"o" * 100_000
    assert pull(f"toys/Toy-1K@{commit_of(older)}") == tagged
    request = pull("toys/Toy-1K@refs/pr/3")
    assert request not in (tagged, pull("toys/Toy-1K"))
    for name, path in (("@v1.0", tagged), ("@refs/pr/3", request)):
        assert resolve(f"toys/Toy-1K{name}") == path


def test_a_revision_that_is_not_there_is_named(serve: Serve) -> None:
    serve()
    assert refusal("toys/Toy-1K@v9") == "toys/Toy-1K has no revision 'v9'"


def test_one_gguf_of_many_is_fetched_alone(serve: Serve) -> None:
    hub = serve(GGUF_FILES)
    path = pull("toys/Toy-1K:toy-Q8_0.gguf")
    assert path.read_bytes() == GGUF_FILES["toy-Q8_0.gguf"]
    assert hub.fetched() == {"toy-Q8_0.gguf"}
    assert resolve("toys/Toy-1K:toy-Q8_0.gguf") == path
    assert resolve("toys/Toy-1K") == path, "the only one that is here"
    assert missing_from_hub("toys/Toy-1K:toy-Q4_0.gguf") is not None


def test_naming_any_part_of_a_gguf_fetches_all_of_it(serve: Serve) -> None:
    hub = serve(GGUF_FILES)
    path = pull("toys/Toy-1K:big/toy-F16-00002-of-00002.gguf")
    assert path.name == "toy-F16-00002-of-00002.gguf"
    assert hub.fetched() == {name for name in GGUF_FILES if name.startswith("big/")}
    assert path.with_name("toy-F16-00001-of-00002.gguf").is_file()


def test_of_several_ggufs_one_must_be_named(serve: Serve) -> None:
    serve(GGUF_FILES)
    line = refusal("toys/Toy-1K")
    assert line.startswith("toys/Toy-1K: holds 3 GGUF models; name one, as in toys/Toy-1K:big/toy-")
    assert "toy-Q4_0.gguf, toy-Q8_0.gguf" in line
    assert refusal("toys/Toy-1K:toy-Q4.gguf").endswith("did you mean toy-Q4_0.gguf?")


def test_a_repository_with_one_gguf_needs_no_file_name(serve: Serve) -> None:
    serve({"only.gguf": b"GGUF", "README.md": b""})
    assert pull("toys/Toy-1K").name == "only.gguf"


def test_a_gated_model_says_what_to_do(serve: Serve) -> None:
    hub = serve(gated="right")
    line = refusal("toys/Toy-1K")
    assert line.startswith(f"toys/Toy-1K is gated: accept its terms at {hub.address}/toys/Toy-1K, ")
    assert line.endswith("then set HF_TOKEN or run `hf auth login`")


def test_a_token_opens_a_gated_model(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(gated="right")
    monkeypatch.setenv("HF_TOKEN", "right")
    assert (pull("toys/Toy-1K") / "model.safetensors").read_bytes() == WEIGHTS


def test_a_model_that_is_not_on_the_hub_says_so(serve: Serve) -> None:
    hub = serve()
    line = refusal("toys/Nothing")
    assert line.startswith(f"toys/Nothing is not on the hub ({hub.address}); if it is private, ")


def test_a_family_that_cannot_be_run_is_refused_before_its_weights_arrive(serve: Serve) -> None:
    hub = serve(HUB_FILES | {"config.json": b'{"model_type": "mamba"}'})
    said = "toys/Toy-1K: config.json: model_type: 'mamba' is not supported: not fetched"
    assert refusal("toys/Toy-1K") == said
    assert hub.fetched() == {"config.json"}


def test_gpt_2s_own_files_do_where_there_is_no_tokenizer_json(serve: Serve) -> None:
    files = {name: data for name, data in HUB_FILES.items() if name != "tokenizer.json"}
    serve(files | {"vocab.json": b"{}", "merges.txt": b"", "special_tokens_map.json": b"{}"})
    snapshot = pull("toys/Toy-1K")
    assert files_in(snapshot) == ["config.json", "merges.txt", "model.safetensors", "vocab.json"]
    assert resolve("toys/Toy-1K") == snapshot


def test_pickles_alone_are_never_fetched(serve: Serve) -> None:
    hub = serve(HUB_FILES | {"pytorch_model.bin": b"p"})
    del hub.files["model.safetensors"]
    line = refusal("toys/Toy-1K")
    assert line.startswith("toys/Toy-1K: holds PyTorch pickles only, which can run code and are")
    assert line.endswith("a pull request there may hold safetensors, as toys/Toy-1K@refs/pr/1")
    assert "pytorch_model.bin" not in hub.fetched()


def test_offline_what_is_here_whole_is_enough(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    snapshot = pull("toys/Toy-1K")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert pull("toys/Toy-1K") == snapshot
    said = "toys/Other is not on this machine, and HF_HUB_OFFLINE is set"
    assert refusal("toys/Other") == said


def test_a_hub_that_does_not_answer_is_named(
    serve: Serve, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    snapshot = pull("toys/Toy-1K")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert pull("toys/Toy-1K") == snapshot, "what is here already may do"
    line = refusal("toys/Other")
    assert line.startswith("toys/Other: no connection to http://127.0.0.1:9: ")


def test_a_hub_that_is_out_of_order_is_named(serve: Serve) -> None:
    hub = serve(broken=True)
    assert refusal("toys/Toy-1K") == f"{hub.address} answered 503 for toys/Toy-1K: try again later"


def test_a_damaged_shard_list_is_refused(serve: Serve) -> None:
    listed = {"weight_map": {"a": "model-00007-of-00007.safetensors"}}
    serve(SHARDED | {"model.safetensors.index.json": json.dumps(listed).encode()})
    assert refusal("toys/Toy-1K").startswith(
        "toys/Toy-1K: model.safetensors.index.json: 'model-00007-of-00007.safetensors' is not in"
    )
