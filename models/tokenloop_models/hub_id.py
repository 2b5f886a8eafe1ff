"""How a model on the Hugging Face hub is named: ``owner/name@revision:file.gguf``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tokenloop_models.errors import ModelError, quoted

_FORM = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95})"
    r"(@(?P<revision>[\w./-]{1,200}))?"
    r"(:(?P<file>[^\\:\x00-\x1f\x7f]{1,400}))?",
    re.ASCII,
)
_FILES = (".gguf", ".safetensors")


@dataclass(frozen=True)
class HubId:
    """A repository on the hub, at a revision, whole or one file of it.

    Attributes:
        repo: ``owner/name``.
        revision: a branch, a tag or a commit; ``None``: the main branch.
        file: a ``.gguf`` of the repository, with its folders; ``None``: its safetensors.
    """

    repo: str
    revision: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        at = f"@{self.revision}" if self.revision is not None else ""
        file = f":{self.file}" if self.file is not None else ""
        return f"{self.repo}{at}{file}"


def parse_hub_id(text: str) -> HubId | None:
    """Read a hub id; ``None`` where the text doesn't have that form.

    ``models/tiny.gguf`` has not: it is a path.

    Raises:
        ModelError: it has the form, but asks for a file that is no model.
    """
    match = _FORM.fullmatch(text)
    if match is None or match["repo"].lower().endswith(_FILES) or ".." in (match["revision"] or ""):
        return None
    file = match["file"]
    if file is not None and not _is_model_file(file):
        allowed = "a .gguf of the repository is allowed, as in owner/name:file.gguf"
        raise ModelError(f"{quoted(text)}: {quoted(file)}: {allowed}")
    return HubId(match["repo"], match["revision"], file)


def _is_model_file(file: str) -> bool:
    parts = file.split("/")
    return file.lower().endswith(".gguf") and not set(parts) & {"", ".", ".."}
