"""Names of models on the hub, and what is no such name."""

from __future__ import annotations

import pytest

from tokenloop_models.errors import ModelError
from tokenloop_models.hub_id import HubId, parse_hub_id


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("HuggingFaceTB/SmolLM2-360M", HubId("HuggingFaceTB/SmolLM2-360M")),
        ("Qwen/Qwen3-0.6B@main", HubId("Qwen/Qwen3-0.6B", "main")),
        ("Qwen/Qwen3-0.6B@refs/pr/7", HubId("Qwen/Qwen3-0.6B", "refs/pr/7")),
        ("org/repo:file.gguf", HubId("org/repo", None, "file.gguf")),
        ("org/repo@v1:Q4/a b.gguf", HubId("org/repo", "v1", "Q4/a b.gguf")),
    ],
)
def test_it_reads_a_hub_id_and_writes_it_again(text: str, wanted: HubId) -> None:
    assert parse_hub_id(text) == wanted
    assert str(wanted) == text


@pytest.mark.parametrize(
    "text",
    [
        "smollm2",
        "a/b/c",
        "./folder",
        "../folder",
        "~/models",
        "models/tiny.gguf",
        "models/model.safetensors",
        "/tmp/x",
        "org/",
        "org/repo@",
        "org/repo@a..b",
        "org/re po",
        "org/repo:",
        "C:\\models",
        "org/\x1b[2J",
        "é/ö",
        "",
    ],
)
def test_what_is_a_path_or_nothing_is_no_hub_id(text: str) -> None:
    assert parse_hub_id(text) is None


@pytest.mark.parametrize(
    "file", ["model.safetensors", "Q4_K_M", "../x.gguf", "a//b.gguf", "/a.gguf"]
)
def test_a_file_that_is_no_gguf_of_the_repository_is_refused(file: str) -> None:
    with pytest.raises(ModelError, match=r"a \.gguf of the repository is allowed"):
        parse_hub_id(f"org/repo:{file}")
