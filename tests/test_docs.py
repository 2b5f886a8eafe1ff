"""What the documents say is so: keys, formats and defaults are read back from the code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tokenloop.app import settings_file
from tokenloop.app.keys import BY_ID, COMMANDS, keys_of
from tokenloop.cli.sample_record import SampleRecord
from tokenloop.records import Comparison, StepRecord
from tokenloop.sampling import ORDERS, PARAMETERS, PRESETS, Grammar, SamplerSettings
from tokenloop.sampling.parameters import MOST

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
HOW = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
SAMPLING = (ROOT / "docs" / "sampling.md").read_text(encoding="utf-8")


def json_keys(struct: type[msgspec.Struct]) -> Iterator[str]:
    """Every key that a record's JSON can hold, its inner records' too."""
    for info in msgspec.structs.fields(struct):
        yield info.encode_name
        for inner in structs_in(info.type):
            yield from json_keys(inner)


def structs_in(kind: Any) -> list[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [inner for part in getattr(kind, "__args__", ()) for inner in structs_in(part)]


def chapter(heading: str) -> str:
    """A chapter of the formats, up to the next one."""
    return FORMATS.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("record", "headings"),
    [
        (StepRecord, ("A line of `tokenloop run --json`",)),
        (
            SampleRecord,
            ("A line of `tokenloop run --json`", "The object of `tokenloop sample --json`"),
        ),
        (
            Comparison,
            (
                "A line of `tokenloop run --json`",
                "The object of `tokenloop sample --compare A,B --json`",
            ),
        ),
    ],
)
def test_every_key_of_a_json_line_is_documented(
    record: type[msgspec.Struct], headings: tuple[str, ...]
) -> None:
    documented = set(re.findall(r"`(\w+)`", "".join(chapter(heading) for heading in headings)))
    assert set(json_keys(record)) - documented == set()


def test_every_setting_of_the_sampler_is_documented_with_its_range() -> None:
    told = chapter("The settings file")
    assert {f"`{name}`" for name in SamplerSettings.__struct_fields__} <= set(
        re.findall(r"^\| (`\w+`) \|", told, re.MULTILINE)
    )
    for name, parameter in PARAMETERS.items():
        default = f"{getattr(SamplerSettings(), name):g}"
        [row] = re.findall(rf"^\| `{name}` \| (.*) \| (.*) \| .* \|$", told, re.MULTILINE)
        limits = row[1].split()
        assert row[0] == default
        assert f"{parameter.low:g}" in limits
        assert f"{parameter.high:g}" in limits or parameter.high == MOST
        assert ("whole," in limits) == parameter.whole


def test_every_stage_is_documented_in_both_orders() -> None:
    for order, stages in ORDERS.items():
        assert f"`{order}`" in HOW
        assert f"`{order}`:\n\n    {' → '.join(stages)}\n" in SAMPLING


def test_every_preset_is_documented() -> None:
    told = chapter("The settings file")
    for preset in PRESETS.values():
        assert f"| `{preset.name}` | {preset.help} |" in told


def settings_examples() -> dict[str, str]:
    """The settings that the documents, and the reader's own text, show."""
    texts = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")}
    texts["settings_file.py"] = settings_file.__doc__ or ""
    found = {
        name: re.findall(r"```toml\n(.*?)```", text, re.DOTALL) for name, text in texts.items()
    }
    return {f"{name} {n}": text for name, all_in in found.items() for n, text in enumerate(all_in)}


@pytest.mark.parametrize("where", settings_examples())
def test_every_settings_example_is_taken_as_it_stands(where: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(settings_examples()[where], encoding="utf-8")
    assert settings_file.read_settings(BY_ID, path) != settings_file.FileSettings()


def test_the_settings_example_says_what_its_comments_do(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(settings_examples()["formats.md 0"], encoding="utf-8")
    settings = settings_file.read_settings(BY_ID, path)
    assert settings.sampler.logit_bias == {16570: -2.0, 260: -math.inf}
    assert settings.sampler.grammar == Grammar("regex", " [A-Z][a-z]+")
    assert list(settings.presets) == ["bold", "two-stages"]
    creative = PRESETS["creative"].settings
    assert settings.presets["bold"] == creative.replace(temperature=1.5)
    assert settings.sampler.xtc_probability == creative.xtc_probability
    assert settings.keys == {"step": "space,x"}


def readme_keys() -> set[str]:
    table = README.partition("## Keys")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
    return {key for cell in cells for key in re.split(r"[ ,·]+", cell) if key}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_its_key_in_the_readme(command: Any) -> None:
    named = readme_keys() | {"1", "2", "3", "4", "5"}
    assert set(keys_of(command, {})) & named, f"{command.id}: {keys_of(command, {})}"


def test_the_readme_names_no_key_that_does_nothing() -> None:
    bound = {key for command in COMMANDS for key in keys_of(command, {})}
    assert readme_keys() - bound - {"key", "---", "1–5"} == set()
