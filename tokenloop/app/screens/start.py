"""The start screen: a prompt of one's own or one of a dozen, while the model loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import set_cell_size
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tokenloop.app.layout import arrange
from tokenloop.app.prompt_area import PromptArea, TextField
from tokenloop.app.prompts import PROMPTS, Prompt
from tokenloop.app.words import model_facts, one_line, progress_words
from tokenloop_widgets import Key, KeyBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.supply import Offer, Supply


PROMPT_CELLS = 38
HOW_TO_BEGIN = "(enter takes this one, typing begins your own)"
TITLE = Content.assemble(
    ("tokenloop", "bold"),
    "   a real language model, one token at a time: nothing hidden, nothing faked",
)


class StartScreen(Screen[str]):
    """Asks for a text; its result is the prompt.

    Args:
        conductor: what is loaded or on its way.
        supply: how far a pull is.
        offer: says which catalogue model is missing and could be pulled, if any.
        title: what to call the model before it is loaded.
        prompt: what the field starts with; with nothing in it, the first of the prompts shines
            through and is what enter takes.
        reason: why that prompt could not be used, if it is back for that.
        carry_out: takes the commands that are the app's.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back to the session"),
        Binding("ctrl+o", "model", "choose a model"),
        Binding("ctrl+g", "pull", "get the model", show=False),
    ]

    def __init__(
        self,
        conductor: Conductor,
        supply: Supply,
        *,
        offer: Callable[[], Offer | None],
        title: str,
        prompt: str,
        reason: str,
        carry_out: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._conductor = conductor
        self._supply = supply
        self._title = title
        self._prompt = prompt
        self._reason = reason
        self._offer = offer
        self._carry_out = carry_out
        self._waiting: str | None = None

    def compose(self) -> ComposeResult:
        """The field, the prompts, the model's line."""
        yield Static(TITLE, id="start-title")
        with Vertical(id="start-body"):
            yield PromptArea(
                self._prompt,
                id="prompt",
                highlight_cursor_line=False,
                placeholder=_placeholder(),
            )
            yield OptionList(*map(_option, PROMPTS), id="prompts")
        yield Static(id="start-notice", markup=False)
        with Horizontal(id="start-model"):
            yield Static(id="start-name")
            yield Static(id="start-state")
        yield KeyBar(id="start-keys")

    def on_mount(self) -> None:
        """Mark the whole prompt, so that typing replaces it and enter takes it."""
        area = self.query_one(PromptArea)
        area.border_title = Content("prompt")
        area.border_subtitle = Content("enter: go · ctrl+j: new line")
        area.select_all()
        area.focus()
        options = self.query_one(OptionList)
        options.border_title = Content("or one of these")
        given = self._prompt or PROMPTS[0].text
        options.highlighted = next(
            (i for i, prompt in enumerate(PROMPTS) if prompt.text == given), None
        )
        if self._reason:
            self.tell(self._reason, "error")
        self.follow()

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the new size."""
        arrange(self, event.size)

    def follow(self) -> None:
        """Show what the loop said; go on when the model is there and a prompt waits."""
        if self._waiting is not None and self._conductor.model and not self._conductor.loading:
            self.dismiss(self._waiting)
            return
        self._draw_model()
        self._draw_keys()

    def tell(self, text: str, severity: str) -> None:
        """Say one line above the model's."""
        notice = self.query_one("#start-notice", Static)
        notice.set_class(severity == "error", "-error")
        notice.update(Content(text))

    def _draw_model(self) -> None:
        model = self._conductor.model
        name = one_line(model.name if model else self._title)
        facts = f"   {' · '.join(model_facts(model))}" if model else ""
        self.query_one("#start-name", Static).update(
            Content.assemble((name, "bold"), (facts, "$text-muted"))
        )
        words, colour = self._state()
        if self._waiting is not None:
            words = f"starts when the model is ready   {words}"
        self.query_one("#start-state", Static).update(Content.assemble((words, f"bold {colour}")))

    def _state(self) -> tuple[str, str]:
        """Where the model stands: words and colour."""
        if self._supply.pulling:
            return f"◐ {progress_words(self._supply.progress)}", "$primary"
        if self._conductor.loading:
            return f"◐ {progress_words(self._conductor.progress) or 'loading'}", "$primary"
        if self._conductor.model:
            return "● ready", "$success"
        if offer := self._offer():
            return f"○ not on this machine · ctrl+g gets it ({offer.size / 1e6:,.0f} MB)", "$error"
        return "○ no model", "$error"

    def _draw_keys(self) -> None:
        keys = [Key("enter", "go", "go"), Key("↓", "choose a prompt", "list")]
        if not self._conductor.model and not self._conductor.loading and self._offer():
            keys.insert(0, Key("ctrl+g", "get the model", "pull"))
        keys += [
            Key("esc", "back", "back"),
            Key("ctrl+o", "model", "model"),
            Key("ctrl+q", "quit", "quit", pinned=True),
        ]
        self.query_one(KeyBar).show(keys)

    # what the person does

    def on_prompt_area_submitted(self, event: PromptArea.Submitted) -> None:
        """Take the field's text."""
        event.stop()
        self._go(event.area.text)

    def on_prompt_area_left(self, event: PromptArea.Left) -> None:
        """Down from the field's last line: into the list."""
        event.stop()
        self.query_one(OptionList).focus()

    def on_text_area_changed(self, event: TextField.Changed) -> None:
        """What was said was about the text before."""
        event.stop()
        self.tell("", "information")

    def on_text_field_noted(self, event: TextField.Noted) -> None:
        """Say what became of a paste."""
        event.stop()
        self.tell(event.text, "warning")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the highlighted prompt in the field."""
        event.stop()
        if self.query_one(OptionList).has_focus:
            area = self.query_one(PromptArea)
            area.load_text(PROMPTS[event.option_index].text)
            area.select_all()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take a prompt of the list."""
        event.stop()
        self._go(PROMPTS[event.option_index].text)

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        """A click on the footer."""
        event.stop()
        match event.action:
            case "go":
                self._go(self.query_one(PromptArea).text)
            case "list":
                self.query_one(OptionList).focus()
            case "back":
                self.action_back()
            case command:
                self._carry_out(command)

    def _go(self, text: str) -> None:
        """Begin on a text as soon as there is a model; on the first prompt where there is none."""
        self.tell("", "information")
        self._waiting = text or PROMPTS[0].text
        if not self._conductor.model and not self._conductor.loading:
            key = "ctrl+g gets it" if self._offer() else "ctrl+o chooses one"
            self.tell(f"it starts as soon as there is a model: {key}", "warning")
        self.follow()

    def action_back(self) -> None:
        """Call off a prompt that waits, else back to the panels."""
        if self._waiting is not None:
            self._waiting = None
            self.follow()
        else:
            self.dismiss(None)

    def action_model(self) -> None:
        """Choose another model."""
        self._carry_out("model")

    def action_pull(self) -> None:
        """Get the model that is missing."""
        self._carry_out("pull")


def _placeholder() -> Content:
    """The first prompt, told apart from what a person typed."""
    return Content.assemble((PROMPTS[0].text, "italic"), "\n", HOW_TO_BEGIN)


def _option(prompt: Prompt) -> Option:
    lines = prompt.text.rstrip("\n").split("\n")
    shown = lines[-1] if len(lines) == 1 else f"{lines[0]} ⏎ …"
    column = set_cell_size(shown, PROMPT_CELLS)
    return Option(Content.assemble(column, "  ", (prompt.lesson, "$text-muted")))
