"""The vocabulary search: any token's rank, and its probability after every stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokenloop.app.screens.laboratory.inquiry import Inquiry
from tokenloop.app.screens.laboratory.view_screen import ViewScreen
from tokenloop.counting import counted
from tokenloop.records import FoundTokens
from tokenloop_widgets import Key, ThroughPanel

if TYPE_CHECKING:
    from textual.widget import Widget

    from tokenloop.app.conductor import Conductor

HINT = "a text (perth), bytes (0x20 41) or an id (#123)"
TO_THE_TOKENS = ("enter", "up", "down", "pageup", "pagedown")


class FindScreen(ViewScreen):
    """A line to type in, and below it what the whole vocabulary holds of it.

    Args:
        conductor: as for :class:`ViewScreen`.
        keymap: as for :class:`ViewScreen`.
    """

    DEFAULT_CSS = """
    FindScreen #query { height: 1; border: none; padding: 0 1; background: $panel; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "query", "search again", show=False, id="find"),
        Binding("up", "rows('move', -1)", "up", show=False),
        Binding("down", "rows('move', 1)", "down", show=False),
        Binding("pageup", "rows('page', -1)", "page up", show=False),
        Binding("pagedown", "rows('page', 1)", "page down", show=False),
    ]

    def __init__(self, conductor: Conductor, keymap: dict[str, str]) -> None:
        super().__init__(conductor, keymap)
        self.panel: ThroughPanel = ThroughPanel(id="found")
        self._query = Input(placeholder=HINT, id="query", compact=True, select_on_focus=False)
        self._inquiry = Inquiry(conductor, "search", FoundTokens)

    def above(self) -> list[Widget]:
        """The line to type in."""
        return [self._query]

    def keys(self) -> list[Key]:
        """What enter does depends on where the cursor is."""
        return [
            Key("↑↓", "token"),
            Key("enter", "to the tokens; there: take", "rows('move', 1)"),
            self.command_key("watch", "pin", "watch"),
            self.command_key("find", "search again", "query"),
            Key("←→", "stage"),
            Key("a", "all stages", "every"),
        ]

    def typed_into(self) -> Widget:
        """The line: typing begins at once."""
        return self._query

    def waits(self) -> bool:
        """Until there are rows."""
        return self._inquiry.blank

    def acts_on_answer(self, key: str) -> bool:
        """The keys that lead from the line to the tokens, too."""
        return key in TO_THE_TOKENS or super().acts_on_answer(key)

    def follow(self) -> None:
        """Ask for what is typed, and draw what was found."""
        view, query = self.conductor.view(), self._query.value
        choice = view.snapshot.choice if view.snapshot else None
        if choice is None or not query:
            self._inquiry.drop()
            self.panel.show(
                choice,
                found=(),
                name="search of the vocabulary",
                placeholder=HINT if choice else view.placeholder,
            )
            return
        self._inquiry.want(query, choice, lambda engine: engine.find(query))
        found = self._inquiry.answer
        self.panel.show(
            self._inquiry.answered_of or choice,
            found=found.candidates if found else (),
            name=_found_words(found) if found else "search of the vocabulary",
            placeholder=_nothing(found) if found else self._inquiry.placeholder,
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search as it is typed."""
        event.stop()
        self.follow()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on to the tokens; taking one needs enter once more."""
        event.stop()
        self.action_rows("move", 1)

    def on_rows_panel_pressed(self, event: ThroughPanel.Pressed) -> None:
        """Enter on a token."""
        event.stop()
        self.take(self.highlighted_id)

    def action_rows(self, how: str, by: int) -> None:
        """From the line to the tokens, or on among them."""
        if not self.panel.row_count:
            return
        if self._query.has_focus:
            self.panel.focus()
            if self.panel.highlighted is not None:
                return
        if how == "page":
            self.panel.action_page(by)
        else:
            self.panel.action_move(by)

    def action_every(self) -> None:
        """Show the stages that did nothing, or not."""
        self.panel.action_every()

    def action_query(self) -> None:
        """Back to the line."""
        self._query.focus()


def _found_words(found: FoundTokens) -> str:
    """``3 tokens found by text``."""
    shown = len(found.candidates)
    words = f"{counted(found.total, 'token')} found by {found.kind}"
    if shown + found.without_logit < found.total:
        words += f", the best {shown:,} shown"
    if found.without_logit:
        words += f", {found.without_logit:,} of them no candidate here"
    return words


def _nothing(found: FoundTokens) -> str:
    """What is said where no token is listed."""
    if found.total:
        return "what was found is no candidate here: the model gives it no logit"
    return f"no token of the vocabulary is that, or holds it (read as {found.kind})"
