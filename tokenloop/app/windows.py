"""The windows that commands open above the panels, and what becomes of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop.app.screens.editor import EditorScreen, TypeScreen, Written
from tokenloop.app.screens.help import HelpScreen
from tokenloop.app.screens.laboratory.opening import VIEWS, view_for
from tokenloop.app.screens.models import ModelsScreen
from tokenloop.app.screens.presets import PresetsScreen
from tokenloop.app.screens.run_until import RunUntilScreen
from tokenloop.app.state import Given, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tokenloop.app.application import TokenloopApp
    from tokenloop_models.local import LocalModel

TAIL_TOKENS = 60


def open_window(app: TokenloopApp, command: str) -> bool:
    """Open the window of a command, if this is the moment for it.

    Returns:
        Whether the command is one that opens a window.
    """
    match command:
        case "new":
            app.ask_for_prompt()
        case "edit":
            if app.conductor.may("edit", needs_choice=False):
                _edit(app)
        case "type":
            if app.conductor.may("type", needs_choice=False):
                _type(app)
        case "run_until":
            _run_until(app)
        case "sampler":
            if app.conductor.may_configure():
                app.panels.edit_sampler()
        case "presets":
            if app.conductor.may_configure():
                _presets(app)
        case "presets_and_back":
            _presets(app, lambda _: app.panels.edit_sampler())
        case view if view in VIEWS:
            if screen := view_for(view, app.conductor, app.commands_keymap, app.options.presets):
                app.push_screen(screen)
        case "model":
            _choose_model(app)
        case "help":
            app.push_screen(HelpScreen(app.commands_keymap))
        case _:
            return False
    return True


def give_back(app: TokenloopApp, refused: Refused) -> None:
    """Open the window that a text came from once more, with the text and what was wrong with it."""
    given = refused.given
    if given.command == "edit" and app.conductor.snapshot:
        _edit(app, given, refused.reason)
    elif given.command == "type" and app.conductor.snapshot:
        _type(app, given, refused.reason)
    else:
        app.ask_for_prompt(given.text, refused.reason)


def _edit(app: TokenloopApp, given: Given | None = None, reason: str = "") -> None:
    conductor = app.conductor
    snapshot = conductor.snapshot
    if snapshot is None:
        return

    def apply(written: Written | None) -> None:
        if written is not None:
            conductor.edit(written.text, specials=written.specials)

    specials = any(item.token.special for item in snapshot.prefix)
    written = Written(given.text, given.specials) if given else Written(snapshot.text, specials)
    app.push_screen(EditorScreen(written, snapshot.text, reason), apply)


def _type(app: TokenloopApp, given: Given | None = None, reason: str = "") -> None:
    conductor = app.conductor

    def append(written: Written | None) -> None:
        if written is not None:
            conductor.type_text(written.text, specials=written.specials)

    written = Written(given.text, given.specials) if given else None
    app.push_screen(TypeScreen(_tail(app), app.panels.make_room, written, reason), append)


def _tail(app: TokenloopApp) -> str:
    """The last labels: blanks are visible in them. The window shows as many as fit."""
    snapshot = app.conductor.snapshot
    return "".join(item.token.label for item in snapshot.prefix[-TAIL_TOKENS:]) if snapshot else ""


def _run_until(app: TokenloopApp) -> None:
    conductor = app.conductor
    snapshot = conductor.snapshot
    if not conductor.may("run on") or snapshot is None:
        return

    def run(steps: int | None) -> None:
        if steps is not None:
            conductor.run(steps or None)

    room = max(1, snapshot.model.context_length - len(snapshot.prefix))
    app.push_screen(RunUntilScreen(room), run)


def _presets(app: TokenloopApp, closed: Callable[[bool | None], None] | None = None) -> None:
    screen = PresetsScreen(app.conductor, app.options.presets, app.panels.make_room)
    app.push_screen(screen, closed)


def _choose_model(app: TokenloopApp) -> None:
    if app.conductor.running or app.conductor.reading:
        app.tell("not while the loop is busy: esc stops it", "warning")
        return

    def chosen(model: LocalModel | str | None) -> None:
        if isinstance(model, str):
            app.bring(model)
        elif model is not None:
            app.load(model.name)

    app.push_screen(ModelsScreen(_find_models, app.supply), chosen)


def _find_models() -> Sequence[LocalModel]:
    from tokenloop_models.local import models_on_this_machine

    return models_on_this_machine()
