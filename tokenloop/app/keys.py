"""Every command of the main screen: its id, its keys and what it does, in one table.

The bindings, the footer, the palette and the help are made from this table, so none can go stale.
The ids are what ``[keys]`` in the settings file names.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One thing that a key does.

    Attributes:
        id: its name in the settings file and in the palette.
        keys: Textual key names, separated by commas; the first is the one that is shown.
        help: what it does, for the help and the palette.
        group: the heading that it stands under.
    """

    id: str
    keys: str
    help: str
    group: str


LOOP = "the loop"
CANDIDATES = "candidates"
TEXT = "text"
TIME = "earlier tokens"
SAMPLER = "sampler"
LABORATORY = "the laboratory"
VIEW = "view"
PROGRAM = "program"

COMMANDS: tuple[Command, ...] = (
    Command("step", "space,right,l", "step: the marked draw becomes fact, one pass runs", LOOP),
    Command("rewind", "left,h,backspace", "rewind one token (no pass)", LOOP),
    Command("roll", "r", "roll again: the next attempt's u (no pass)", LOOP),
    Command("resample", "R", "resample the last token: rewind, roll, step", LOOP),
    Command("run", "a", "run on until the end of the text; again: pause", LOOP),
    Command("run_until", "A", "run a number of tokens", LOOP),
    Command("candidate_up", "up,k", "highlight the candidate above", CANDIDATES),
    Command(
        "candidate_down", "down,j", "highlight the candidate below; more come as needed", CANDIDATES
    ),
    Command("candidate_page_up", "pageup", "a page of candidates up", CANDIDATES),
    Command("candidate_page_down", "pagedown", "a page of candidates down", CANDIDATES),
    Command("candidate_first", "home", "the best candidate", CANDIDATES),
    Command("candidate_last", "end", "the last candidate shown", CANDIDATES),
    Command("take", "enter", "take the highlighted candidate: it is forced, not drawn", CANDIDATES),
    Command("ban", "b", "ban the highlighted candidate, or allow it again", CANDIDATES),
    Command("bias_down", "less_than_sign", "bias the highlighted candidate down by 1", CANDIDATES),
    Command("bias_up", "greater_than_sign", "bias the highlighted candidate up by 1", CANDIDATES),
    Command("type", "t", "type text to append", TEXT),
    Command("edit", "e", "edit the whole text", TEXT),
    Command("new", "n", "new prompt", TEXT),
    Command("probabilities", "p", "show or hide probabilities under the tokens", TEXT),
    Command(
        "look_back",
        "left_square_bracket,shift+left",
        "look how an earlier token was chosen",
        TIME,
    ),
    Command("look_on", "right_square_bracket,shift+right", "look at the token after it", TIME),
    Command("go_back", "g", "go back to the token looked at, for real: rewind to before it", TIME),
    Command("regenerate", "G", "go back to the token looked at and run on from there", TIME),
    Command("cancel", "escape", "stop long work; back to now; leave the full view", TIME),
    Command("sampler", "s", "the stages: order, on and off, every setting at once", SAMPLER),
    Command("presets", "P", "presets: llama.cpp, transformers, greedy, your own", SAMPLER),
    Command("cooler", "minus", "temperature down by 0.1", SAMPLER),
    Command("warmer", "plus,equals_sign", "temperature up by 0.1", SAMPLER),
    Command("greedy", "0", "greedy (T = 0), and back", SAMPLER),
    Command("through", "v", "through the stages: each candidate after each stage", LABORATORY),
    Command("find", "slash", "search the vocabulary: text, bytes or id", LABORATORY),
    Command("orders", "o", "two orders, or any two presets, side by side", LABORATORY),
    Command("draws", "d", "many draws against the display", LABORATORY),
    Command("sweep", "f", "probabilities as a function of a setting", LABORATORY),
    Command("watch", "w", "pin the highlighted or the marked candidate; again: unpin", LABORATORY),
    Command("watch_list", "W", "the pinned candidates, step by step", LABORATORY),
    Command("focus_next", "tab", "next panel", VIEW),
    Command("focus_previous", "shift+tab", "previous panel", VIEW),
    Command("panel_text", "1", "the text panel", VIEW),
    Command("panel_next_token", "2", "the next-token panel", VIEW),
    Command("panel_sampler", "3", "the sampler panel", VIEW),
    Command("panel_cache", "4", "the KV-cache panel", VIEW),
    Command("panel_latency", "5", "the latency panel", VIEW),
    Command("zoom", "z", "the panel in full, and back", VIEW),
    Command("check", "c", "self-check: compare with a fresh pass in float32", VIEW),
    Command("theme", "D", "dark or light", VIEW),
    Command("model", "m", "choose a model on this machine", PROGRAM),
    Command("palette", "ctrl+p", "every command by name", PROGRAM),
    Command("help", "question_mark", "this help", PROGRAM),
    Command("suspend", "ctrl+z", "to the background; the shell's fg comes back", PROGRAM),
    Command("quit", "q,ctrl+q", "quit", PROGRAM),
)

BY_ID: dict[str, Command] = {command.id: command for command in COMMANDS}

PANEL_OF: dict[str, str] = {
    "panel_text": "text",
    "panel_next_token": "candidates",
    "panel_sampler": "sampler",
    "panel_cache": "cache",
    "panel_latency": "latency",
}
"""The panel that each command of a number is for, in the order of the numbers."""

PANELS: tuple[str, ...] = tuple(PANEL_OF.values())

_SHOWN = {
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "shift+left": "shift+←",
    "shift+right": "shift+→",
    "shift+up": "shift+↑",
    "shift+down": "shift+↓",
    "enter": "enter",
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "minus": "−",
    "plus": "+",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "question_mark": "?",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "slash": "/",
}


def shown_key(key: str) -> str:
    """A key's name as a person reads it (``left_square_bracket`` is ``[``)."""
    return _SHOWN.get(key, key)


def keys_of(command: Command, keymap: dict[str, str]) -> tuple[str, ...]:
    """The keys of a command under the person's keymap, as a person reads them."""
    return tuple(map(shown_key, _bound(command, keymap)))


def is_command_key(key: str, keymap: dict[str, str]) -> bool:
    """Whether a key, by Textual's name, has a command under the person's keymap."""
    return any(key in _bound(command, keymap) for command in COMMANDS)


def _bound(command: Command, keymap: dict[str, str]) -> list[str]:
    """The keys of a command, by Textual's names."""
    keys = keymap.get(command.id, command.keys).split(",")
    return [key.strip() for key in keys if key.strip()]
