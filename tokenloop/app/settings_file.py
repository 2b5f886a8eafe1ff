"""The person's settings: one TOML file in the platform's config folder.

```toml
theme = "light"
seed = 7
device = "cpu"
dtype = "float32"
precision = "exact"
threads = 2

[sampler]
preset = "creative"
top_k = 20

[presets.bold]
temperature = 1.5
stages = ["min_p", "temperature"]

[keys]
step = "space,x"
```

The command line takes its defaults from the same file: Textual is imported only to check key names.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs
from platformdirs import user_config_dir

from tokenloop.app.runtime_choice import RUNTIME_KEYS, RuntimeChoice, allowed_instead
from tokenloop.app.settings_error import SettingsFileError, check_table
from tokenloop.app.settings_sampler import read_presets, read_sampler
from tokenloop.app.settings_text import NoTextError, small_text
from tokenloop.errors import SettingError
from tokenloop.sampling.settings import SamplerSettings, check_seed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenloop.app.keys import Command

__all__ = ["FileSettings", "SettingsFileError", "read_settings", "settings_path"]

THEMES = ("dark", "light")
FIXED = {"quit": ("ctrl+q",), "palette": ("ctrl+p",)}
"""Keys that Textual itself keeps for these, whatever else the commands have."""


class FileSettings(Struct, frozen=True, kw_only=True):
    """What the file says; ``None`` where it says nothing.

    Attributes:
        theme: ``dark`` or ``light``.
        seed, device, dtype, precision, threads: as on the command line.
        sampler: the sampler's settings, the defaults where the file says nothing.
        presets: the person's own, by name.
        keys: key names by command id.
    """

    theme: str | None = None
    seed: int | None = None
    device: str | None = None
    dtype: str | None = None
    precision: str | None = None
    threads: int | None = None
    sampler: SamplerSettings = SamplerSettings()
    presets: dict[str, SamplerSettings] = {}
    keys: dict[str, str] = {}

    @property
    def runtime(self) -> RuntimeChoice:
        """What it says about how to run a model."""
        return RuntimeChoice(**{name: getattr(self, name) for name in RUNTIME_KEYS})


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
        table = tomllib.loads(small_text(path))
    except FileNotFoundError:
        return FileSettings()
    except OSError as error:
        raise SettingsFileError(path, "", error.strerror or "can't be read") from None
    except NoTextError as error:
        raise SettingsFileError(path, "", str(error)) from None
    except (ValueError, RecursionError) as error:
        # ValueError: also a number of more digits than Python reads.
        raise SettingsFileError(path, "", f"is not TOML: {error}") from None
    presets = read_presets(path, table.pop("presets", {}))
    sampler = read_sampler(path, "sampler", table.pop("sampler", {}), presets)
    checked = {key: _value(path, key, value, commands) for key, value in table.items()}
    return structs.replace(FileSettings(sampler=sampler, presets=presets), **checked)


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
        case "device" | "dtype" | "precision" | "threads":
            allowed = allowed_instead(key, value)
            if allowed is not None:
                raise SettingsFileError(path, key, allowed)
            return value
        case "keys":
            return _keys(path, value, commands)
        case _:
            known = ", ".join(FileSettings.__struct_fields__)
            raise SettingsFileError(path, key, f"not a setting; known are {known}")


def _keys(path: Path, value: Any, commands: Mapping[str, Command]) -> dict[str, str]:
    """Key names by command id; no key may be left with two commands."""
    check_table(path, "keys", value)
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
