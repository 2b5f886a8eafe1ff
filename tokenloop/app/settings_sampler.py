"""The settings file's tables of the sampler: ``[sampler]`` and ``[presets.NAME]``.

What may stand in them is what :class:`SamplerSettings` has, with the same ranges.
"""

from __future__ import annotations

import re
import reprlib
from typing import TYPE_CHECKING, Any

from tokenloop.app.settings_error import SettingsFileError, check_table
from tokenloop.app.settings_text import NoTextError, small_text
from tokenloop.errors import SettingError
from tokenloop.sampling.presets import PRESETS, settings_by_name
from tokenloop.sampling.settings import GRAMMAR_KINDS, Grammar, SamplerSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PRESET_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
SETTINGS = SamplerSettings.__struct_fields__


def read_presets(path: Path, value: Any) -> dict[str, SamplerSettings]:
    """Read the person's own presets; each may build on those above it.

    Args:
        path: the settings file's.
        value: what it says under ``presets``.

    Raises:
        SettingsFileError: names the file, the key and what is allowed.
    """
    check_table(path, "presets", value)
    presets: dict[str, SamplerSettings] = {}
    for name, table in value.items():
        key = f"presets.{name}"
        if not PRESET_NAME.fullmatch(name):
            raise SettingsFileError(path, key, "a name of up to 32 letters, digits, - and _")
        if name in PRESETS:
            raise SettingsFileError(path, key, f"{name} is ready-made: give yours another name")
        presets[name] = read_sampler(path, key, table, presets)
    return presets


def read_sampler(
    path: Path, key: str, table: Any, presets: Mapping[str, SamplerSettings]
) -> SamplerSettings:
    """Read one table of settings.

    Args:
        path: the settings file's.
        key: the table's name.
        table: what it says.
        presets: the person's own, which ``preset`` may name beside the ready-made ones.

    Raises:
        SettingsFileError: names the file, the key and what is allowed.
    """
    check_table(path, key, table)
    settings = SamplerSettings()
    if "preset" in table:
        settings = _base(path, f"{key}.preset", table["preset"], presets)
    for name, value in table.items():
        if name == "preset":
            continue
        here = f"{key}.{name}"
        if name not in SETTINGS:
            known = ", ".join(("preset", *SETTINGS))
            raise SettingsFileError(path, here, f"not a setting; known are {known}")
        try:
            settings = settings.replace(**{name: _value(path, here, name, value)})
        except SettingError as error:
            problem = f"{reprlib.repr(error.value)} is not possible: {error.allowed}"
            raise SettingsFileError(path, here, problem) from None
    return settings


def _base(
    path: Path, key: str, name: Any, presets: Mapping[str, SamplerSettings]
) -> SamplerSettings:
    known = settings_by_name(presets)
    if not isinstance(name, str) or name not in known:
        raise SettingsFileError(path, key, f"not a preset; known are {', '.join(known)}")
    return known[name]


def _value(path: Path, key: str, name: str, value: Any) -> object:
    """TOML's value as the setting's: arrays are tuples, biases go by numbers."""
    if name == "logit_bias":
        return _biases(path, key, value)
    if name == "grammar":
        return _grammar(path, key, value)
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _biases(path: Path, key: str, value: Any) -> dict[int, float]:
    check_table(path, key, value)
    try:
        return {int(token_id): float(bias) for token_id, bias in value.items()}
    except (TypeError, ValueError):
        raise SettingsFileError(
            path, key, "token ids with numbers, such as 16570 = -2.0 or 260 = -inf"
        ) from None


def _grammar(path: Path, key: str, value: Any) -> Grammar:
    """A grammar as it stands there, or in a file beside the settings file."""
    check_table(path, key, value)
    for name in value:
        if name not in ("kind", "text", "file"):
            raise SettingsFileError(path, f"{key}.{name}", "not a key; known are kind, text, file")
    if value.get("kind") not in GRAMMAR_KINDS:
        raise SettingsFileError(path, f"{key}.kind", f"one of {', '.join(GRAMMAR_KINDS)}")
    if ("text" in value) == ("file" in value):
        raise SettingsFileError(path, key, "a kind with either a text or a file")
    if "text" in value:
        return Grammar(value["kind"], value["text"])
    return Grammar(value["kind"], _text_of(path, f"{key}.file", value["file"]))


def _text_of(path: Path, key: str, name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise SettingsFileError(path, key, "a path, seen from the settings file's folder")
    try:
        # RuntimeError: ~ of nobody known.
        return small_text(path.parent / type(path)(name).expanduser())
    except NoTextError as error:
        raise SettingsFileError(path, key, f"{name} {error}") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsFileError(path, key, f"{name}: {reason}") from None
