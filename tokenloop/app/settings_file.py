"""The person's settings: one TOML file in the platform's config folder.

```toml
theme = "light"
seed = 7
device = "cpu"
dtype = "float32"
precision = "exact"
threads = 2

[sampler]
temperature = 0.7
top_k = 20

[keys]
step = "space,x"
```

The command line takes its defaults from the same file: Textual is imported only to check key names.
"""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs
from platformdirs import user_config_dir

from tokenloop.errors import SettingError, TokenloopError
from tokenloop.sampling.settings import SamplerSettings, check_seed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenloop.app.keys import Command

MOST_BYTES = 1 << 20
THEMES = ("dark", "light")
FIXED = {"quit": ("ctrl+q",), "palette": ("ctrl+p",)}
"""Keys that Textual itself keeps for these, whatever else the commands have."""

PRECISIONS = ("exact", "fast")


class SettingsFileError(TokenloopError):
    """The settings file says something that can't be honoured; names file and key."""

    def __init__(self, path: Path, key: str, allowed: str) -> None:
        super().__init__(f"{path}: {key}: {allowed}" if key else f"{path}: {allowed}")


class FileSettings(Struct, frozen=True, kw_only=True):
    """What the file says; ``None`` where it says nothing.

    Attributes:
        theme: ``dark`` or ``light``.
        seed, device, dtype, precision, threads: as on the command line.
        sampler: the sampler's settings, the defaults where the file says nothing.
        keys: key names by command id.
    """

    theme: str | None = None
    seed: int | None = None
    device: str | None = None
    dtype: str | None = None
    precision: str | None = None
    threads: int | None = None
    sampler: SamplerSettings = SamplerSettings()
    keys: dict[str, str] = {}


def settings_path() -> Path:
    """Where the settings file lies on this platform."""
    return Path(user_config_dir("tokenloop")) / "settings.toml"


def read_settings(commands: Mapping[str, Command], path: Path | None = None) -> FileSettings:
    """Read and check the settings file; the defaults where there is none.

    Args:
        commands: what ``[keys]`` may name, by id.
        path: another file than the platform's.

    Raises:
        SettingsFileError: names the file, the key and what is allowed.
    """
    path = path or settings_path()
    try:
        table = tomllib.loads(_text(path))
    except FileNotFoundError:
        return FileSettings()
    except OSError as error:
        raise SettingsFileError(path, "", error.strerror or "can't be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsFileError(path, "", f"is not TOML: {error}") from None
    checked = {key: _value(path, key, value, commands) for key, value in table.items()}
    return structs.replace(FileSettings(), **checked)


def _text(path: Path) -> str:
    """What the file holds. A pipe or a device is not opened: that could wait for ever."""
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        kind = "a directory" if stat.S_ISDIR(state.st_mode) else "not a regular file"
        raise SettingsFileError(path, "", f"is {kind}")
    if state.st_size > MOST_BYTES:
        problem = f"{state.st_size:,} bytes; at most {MOST_BYTES:,} are allowed"
        raise SettingsFileError(path, "", problem)
    return path.read_text(encoding="utf-8")


def _value(path: Path, key: str, value: Any, commands: Mapping[str, Command]) -> object:
    match key:
        case "theme":
            if value not in THEMES:
                raise SettingsFileError(path, key, f"one of {', '.join(THEMES)}")
            return value
        case "seed":
            try:
                return check_seed(value)
            except SettingError as error:
                raise SettingsFileError(path, key, error.allowed) from None
        case "device" | "dtype":
            if not isinstance(value, str):
                raise SettingsFileError(path, key, 'a text such as "auto"')
            return value
        case "precision":
            if value not in PRECISIONS:
                raise SettingsFileError(path, key, f"one of {', '.join(PRECISIONS)}")
            return value
        case "threads":
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SettingsFileError(path, key, "a whole number from 1")
            return value
        case "sampler":
            return _sampler(path, value)
        case "keys":
            return _keys(path, value, commands)
        case _:
            known = ", ".join(FileSettings.__struct_fields__)
            raise SettingsFileError(path, key, f"not a setting; known are {known}")


def _sampler(path: Path, value: Any) -> SamplerSettings:
    _check_table(path, "sampler", value)
    settings = SamplerSettings()
    for key, entry in value.items():
        if key == "logit_bias":
            entry = _biases(path, entry)
        elif key not in SamplerSettings.__struct_fields__:
            known = ", ".join(SamplerSettings.__struct_fields__)
            raise SettingsFileError(path, f"sampler.{key}", f"not a setting; known are {known}")
        try:
            settings = structs.replace(settings, **{key: entry})
        except SettingError as error:
            raise SettingsFileError(path, f"sampler.{key}", error.allowed) from None
    return settings


def _biases(path: Path, value: Any) -> dict[int, float]:
    _check_table(path, "sampler.logit_bias", value)
    try:
        return {int(key): float(bias) for key, bias in value.items()}
    except (TypeError, ValueError):
        raise SettingsFileError(
            path, "sampler.logit_bias", "token ids with numbers, such as 16570 = -2.0"
        ) from None


def _keys(path: Path, value: Any, commands: Mapping[str, Command]) -> dict[str, str]:
    """Key names by command id; no key may be left with two commands."""
    _check_table(path, "keys", value)
    for command_id, keys in value.items():
        if command_id not in commands:
            known = ", ".join(sorted(commands))
            raise SettingsFileError(path, f"keys.{command_id}", f"not a command; known are {known}")
        if not isinstance(keys, str):
            raise SettingsFileError(
                path, f"keys.{command_id}", 'key names separated by commas, such as "space,l"'
            )
    named = {command_id: _key_names(path, command_id, value[command_id]) for command_id in value}
    owners = {name: command_id for command_id, names in FIXED.items() for name in names}
    for command_id, command in commands.items():
        if command_id not in named:
            owners |= dict.fromkeys(_key_names(path, command_id, command.keys), command_id)
    for command_id, names in named.items():
        for name in names:
            owner = owners.setdefault(name, command_id)
            if owner != command_id:
                problem = f"{name} is the key of {owner}: give {owner} another one, or this command"
                raise SettingsFileError(path, f"keys.{command_id}", problem)
    return {command_id: ",".join(names) for command_id, names in named.items()}


def _key_names(path: Path, command_id: str, keys: str) -> list[str]:
    from tokenloop.app.key_names import key_name

    names = []
    for key in keys.split(","):
        name = key_name(key.strip())
        if name is None:
            examples = "keys are called such as space, x, X, ctrl+t, f5, question_mark"
            raise SettingsFileError(
                path, f"keys.{command_id}", f"{key.strip()!a} is no key; {examples}"
            )
        names.append(name)
    return names


def _check_table(path: Path, key: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise SettingsFileError(path, key, f"a table: [{key}]")
