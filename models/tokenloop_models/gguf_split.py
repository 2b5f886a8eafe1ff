"""A GGUF model in several files: ``NAME-00001-of-00003.gguf`` and its siblings.

Each part is a GGUF of its own with some of the tensors. All say ``split.count`` and ``split.no``
(from 0) and the total ``split.tensors.count``; only the first says what the model is. Naming any
part opens all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown
from tokenloop_models.gguf_header import GgufHeader, read_header

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MOST_PARTS = 99_999  # five digits
NO_MODELS = ("mmproj", "imatrix")
PART_NAME = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


def part_names(name: str) -> list[str]:
    """List the names of all parts of the model that a file belongs to: itself where it is whole.

    The name alone is looked at; none of the files need be there.
    """
    match = PART_NAME.fullmatch(name)
    if match is None:
        return [name]
    suffix = name[-len(".gguf") :]
    count = int(match["count"])
    return [f"{match['stem']}-{n:05d}-of-{count:05d}{suffix}" for n in range(1, count + 1)]


def whole_models(names: Iterable[str]) -> list[str]:
    """List the models among file names: a split one once, by its first part.

    Projectors of images (``mmproj``) and importance matrices are GGUF files, but no models.
    """
    found: dict[str, str] = {}
    for name in sorted(names):
        folder, slash, file = name.rpartition("/")
        if file.lower().endswith(".gguf") and not file.lower().startswith(NO_MODELS):
            first = next(iter(part_names(file)), file)
            found.setdefault(f"{folder}{slash}{first}", name)
    return list(found.values())


def read_parts(path: Path) -> tuple[GgufHeader, ...]:
    """Read the headers of a GGUF model: of one file, or of all parts in the folder, in order.

    Raises:
        ModelError: a part is missing, damaged, of another model or out of its place; the line
            names it.
    """
    named = read_header(path)
    count = _whole(named, "split.count", default=1)
    names = part_names(path.name)
    if len(names) != max(count, 1):
        problem = f"split.count: {count:,}, but by its name it is one of {len(names):,}"
        form = "the parts of a model are called NAME-00001-of-00003.gguf"
        raise ModelError(f"{shown(path)}: {problem}; {form}")
    if len(names) == 1:
        return (named,)
    parts = tuple(
        named if name == path.name else read_header(_beside(path, name)) for name in names
    )
    for number, part in enumerate(parts):
        _check_place(part, number, count)
    _check_tensors(parts)
    return parts


def _beside(path: Path, name: str) -> Path:
    """Return another part's path, refusing a link that leads elsewhere than this part's does."""
    part = path.with_name(name)
    if not part.exists():
        raise ModelError(f"{shown(part)}: is missing; {quoted(path.name)} is of the same model")
    if part.resolve().parent != path.resolve().parent:
        raise ModelError(f"{shown(part)}: leads out of the folder of {quoted(path.name)}")
    return part


def _check_place(part: GgufHeader, number: int, count: int) -> None:
    for key, expected in (("split.no", number), ("split.count", count)):
        said = part.metadata.get(key)
        if said != expected:
            problem = f"{key}: {quoted(said)}; by the name of the file it is {expected}"
            raise ModelError(f"{shown(part.path)}: {problem}")


def _check_tensors(parts: tuple[GgufHeader, ...]) -> None:
    home: dict[str, Path] = {}
    for part in parts:
        for name in part.tensors:
            if name in home:
                problem = f"tensor {quoted(name)} is in {quoted(home[name].name)} too"
                raise ModelError(f"{shown(part.path)}: {problem}")
            home[name] = part.path
    first = parts[0]
    total = first.metadata.get("split.tensors.count")
    if total is not None and total != len(home):
        problem = f"split.tensors.count: {quoted(total)}; the parts hold {len(home):,}"
        raise ModelError(f"{shown(first.path)}: {problem}")


def _whole(part: GgufHeader, key: str, default: int) -> int:
    value = part.metadata.get(key, default)
    if type(value) is not int or not 0 <= value <= MOST_PARTS:
        problem = f"{quoted(value)}; a whole number up to {MOST_PARTS:,} is allowed"
        raise ModelError(f"{shown(part.path)}: {key}: {problem}")
    return value
