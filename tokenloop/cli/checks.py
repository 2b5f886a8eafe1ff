"""What the doctor looks at: each check is a function that says what it found.

torch is looked at in a process of its own: a broken build may end the process that imports it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

from tokenloop import __version__

if TYPE_CHECKING:
    from tokenloop_models.describe import LocalModel

OLDEST_PYTHON = (3, 11)
PACKAGES = ("textual", "rich", "tokenizers", "gguf", "msgspec", "numpy")
SMALLEST_FULL_SCREEN = (80, 24)
TORCH_SECONDS = 120

_TORCH_PROBE = """
import json, torch
from tokenloop_models.parts.packed import packed_products_work
x = torch.ones(2, 2) @ torch.ones(2, 2)
assert x[0, 0].item() == 2
print(json.dumps({
    "version": torch.__version__,
    "threads": torch.get_num_threads(),
    "cuda": torch.version.cuda,
    "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
    "packed": packed_products_work(),
}))
"""

State = Literal["good", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's.

    Attributes:
        state: ``wrong`` stops the program from working, ``note`` does not.
        what: the thing looked at.
        text: what it is like.
        remedy: how to mend it, where there is something to mend.
    """

    state: State
    what: str
    text: str
    remedy: str = ""


def check_python() -> list[Finding]:
    """This program, its interpreter and its platform."""
    text = f"{platform.python_version()} at {sys.executable}"
    old = sys.version_info < OLDEST_PYTHON
    return [
        Finding("good", "tokenloop", __version__),
        Finding("wrong", "python", text, "install Python 3.11 or newer")
        if old
        else Finding("good", "python", text),
        Finding("good", "platform", f"{platform.platform()}, {os.cpu_count()} cores"),
    ]


def check_packages() -> list[Finding]:
    """The packages that the program needs, apart from torch."""
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        remedy = f"{sys.executable} -m pip install {' '.join(missing)}"
        return [Finding("wrong", "packages", f"missing: {', '.join(missing)}", remedy)]
    return [Finding("good", "packages", ", ".join(found))]


def check_grammars() -> list[Finding]:
    """The extra that constrained decoding needs."""
    try:
        found = f"llguidance {version('llguidance')}"
    except PackageNotFoundError:
        needs = "constrained decoding needs pip install 'tokenloop[grammar]'"
        return [Finding("note", "grammars", f"no llguidance: {needs}")]
    return [Finding("good", "grammars", found)]


def check_torch() -> list[Finding]:
    """Whether torch imports and multiplies, and what it can run on."""
    remedy = f"{sys.executable} -m pip install --force-reinstall torch"
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TORCH_PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TORCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [Finding("wrong", "torch", f"no answer within {TORCH_SECONDS} s", remedy)]
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        why = lines[-1] if lines else f"its process ended with {done.returncode}"
        return [Finding("wrong", "torch", f"does not work: {why}", remedy)]
    facts = json.loads(done.stdout.splitlines()[-1])
    build = f"CUDA {facts['cuda']}" if facts["cuda"] else "CPU build"
    gpus = ", ".join(f"cuda:{i} {name}" for i, name in enumerate(facts["gpus"]))
    return [
        Finding("good", "torch", f"{facts['version']} ({build}), {facts['threads']} threads"),
        _packed(works=facts["packed"]),
        Finding("good", "devices", f"cpu{', ' + gpus if gpus else ''}"),
    ]


def _packed(*, works: bool) -> Finding:
    if works:
        return Finding("good", "precision", "exact, fast (packed weights)")
    return Finding("note", "precision", "exact; this torch has no product for --precision fast")


def check_terminal() -> list[Finding]:
    """Whether the app has a screen here, and how well it can draw on it."""
    return [_screen(), _colours(), _characters()]


def check_settings() -> list[Finding]:
    """The settings file, where there is one."""
    from tokenloop.app.settings_file import settings_path
    from tokenloop.cli.options import read_settings_file
    from tokenloop.errors import TokenloopError

    path = settings_path()
    try:
        read_settings_file()
    except TokenloopError as error:
        return [Finding("wrong", "settings", str(error), f"mend or remove {path}")]
    return [
        Finding("good", "settings", f"{path}{'' if path.exists() else ' (not there: defaults)'}")
    ]


def check_cache() -> list[Finding]:
    """The folder that holds the models, and the disk under it."""
    from tokenloop_models.places import CACHE_VARIABLE, models_folder
    from tokenloop_models.sizes import file_size

    folder = models_folder()
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not there.is_dir() or not os.access(there, os.W_OK):
        remedy = f"make it writable, or set {CACHE_VARIABLE} to another folder"
        return [Finding("wrong", "cache", f"{folder}: {there} can't be written", remedy)]
    free = shutil.disk_usage(there).free
    return [Finding("good", "cache", f"{folder}, {file_size(free)} free")]


def check_models() -> list[Finding]:
    """The models here: whether each is what it should be."""
    from tokenloop_models.catalogue import CATALOGUE
    from tokenloop_models.finding import on_this_machine, verified
    from tokenloop_models.local import look_around

    findings = []
    found, problems = look_around()
    others = [model for model in found if model.name not in CATALOGUE]
    for entry in CATALOGUE.values():
        path = on_this_machine(entry)
        pull = f"tokenloop pull {entry.name}"
        if path is None:
            usable = any(model.problem is None for model in others)
            state: State = "note" if usable else "wrong"
            findings.append(Finding(state, "model", f"{entry.name} is not here", pull))
        elif path.is_dir():
            findings.append(Finding("good", "model", f"{entry.name} from the hub, {path}"))
        elif verified(entry):
            findings.append(Finding("good", "model", f"{entry.name} verified, {path}"))
        else:
            text = f"{entry.name} is damaged: {path} has the wrong SHA-256"
            findings.append(Finding("wrong", "model", text, pull))
    findings += [_about(model) for model in others]
    findings += [Finding("note", "model", line, "remove it") for line in problems]
    return findings


def _about(model: LocalModel) -> Finding:
    from tokenloop_models.sizes import file_size

    facts = f"{model.name}, {model.family}, {file_size(model.size)}"
    if model.problem is not None:
        return Finding("note", "model", f"{facts}: {model.problem}")
    return Finding("good", "model", facts)


def check_pip() -> list[Finding]:
    """Whether a model can be fetched."""
    if importlib.util.find_spec("pip") is None:
        remedy = f"{sys.executable} -m ensurepip"
        return [Finding("note", "pip", "missing: models come from the hub only", remedy)]
    return [Finding("good", "pip", f"{version('pip')} fetches models")]


CHECKS: tuple[Callable[[], list[Finding]], ...] = (
    check_python,
    check_packages,
    check_grammars,
    check_torch,
    check_terminal,
    check_settings,
    check_cache,
    check_pip,
    check_models,
)


def _screen() -> Finding:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding(
            "note", "terminal", "none here: the app needs one", "tokenloop run needs none"
        )
    kind = os.environ.get("TERM", "")
    columns, lines = shutil.get_terminal_size()
    text = f"{kind or 'TERM is not set'}, {columns} × {lines}"
    if kind in ("", "dumb"):
        return Finding(
            "wrong", "terminal", text, "set TERM to what the terminal is: xterm-256color"
        )
    if columns < SMALLEST_FULL_SCREEN[0] or lines < SMALLEST_FULL_SCREEN[1]:
        return Finding("note", "terminal", text, "all panels fit from 80 × 24; 140 × 40 is best")
    return Finding("good", "terminal", text)


def _colours() -> Finding:
    if os.environ.get("NO_COLOR"):
        return Finding("note", "colours", "off: NO_COLOR is set")
    depth = os.environ.get("COLORTERM", "")
    if depth in ("truecolor", "24bit"):
        return Finding("good", "colours", f"COLORTERM={depth}")
    return Finding(
        "note",
        "colours",
        f"{'COLORTERM is not set' if not depth else f'COLORTERM={depth}'}: fewer shades",
        "set COLORTERM=truecolor where the terminal can show it",
    )


def _characters() -> Finding:
    encoding = sys.stdout.encoding or "unknown"
    if encoding.lower().replace("-", "") == "utf8":
        return Finding("good", "characters", encoding)
    return Finding(
        "wrong", "characters", f"{encoding} can't show ␣ and ▸", "set LANG=C.UTF-8 or another UTF-8"
    )
