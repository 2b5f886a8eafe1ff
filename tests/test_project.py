"""The project's own files agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tokenloop import __version__

ROOT = Path(__file__).parent.parent


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return table


def test_the_version_is_the_same_everywhere() -> None:
    assert project()["version"] == __version__


def test_every_dependency_is_pinned_for_development() -> None:
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    needed = {
        re.split(r"[<>=!~;\[ ]", line)[0].lower().replace("_", "-")
        for line in (*project()["dependencies"], *project()["optional-dependencies"]["dev"])
    }
    assert needed - pinned == {"pip"}, "pip comes with the interpreter's own venv"


def test_constraints_name_versions_only() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+", line), line


PAGES = sorted(
    page for folder in (".", "docs", "models", "widgets") for page in (ROOT / folder).glob("*.md")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_the_documents_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    for target in targets:
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_package_is_typed() -> None:
    for package in ("tokenloop", "widgets/tokenloop_widgets", "models/tokenloop_models"):
        assert (ROOT / package / "py.typed").exists(), package
