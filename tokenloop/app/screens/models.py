"""Choose a model: one that is on this machine, or any by its hub id or path."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tokenloop.app.screens.dialog import Dialog, NoteLine, keys_line
from tokenloop.app.words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from tokenloop.app.supply import Supply
    from tokenloop_models.local import LocalModel

STORES = {"lmstudio:": "LM Studio", "ollama:": "Ollama"}


class ModelsScreen(Dialog["LocalModel | str"]):
    """Lists what can be loaded; its result is the choice: a model that is here, or a typed name.

    Args:
        find: looks through this machine; called on a thread of its own, for it opens files.
        supply: whether a pull is going on, which can be called off here.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+x", "call_off", "call off what is being fetched", show=False)
    ]

    class Found(Message):
        """The list is there."""

        def __init__(self, models: Sequence[LocalModel], failure: str | None) -> None:
            super().__init__()
            self.models = models
            self.failure = failure

    def __init__(self, find: Callable[[], Sequence[LocalModel]], supply: Supply) -> None:
        super().__init__()
        self._find = find
        self._supply = supply
        self._models: Sequence[LocalModel] = ()

    def compose(self) -> ComposeResult:
        """The list, a field for any other name, one line below."""
        with Vertical(id="models", classes="window"):
            yield OptionList(id="model-list", classes="fits")
            yield Input(
                placeholder="or a hub id (owner/name, owner/name:file.gguf) or a path",
                id="model-name",
                compact=True,
            )
            yield NoteLine(Content("looking …"))

    def on_mount(self) -> None:
        """Look, without stopping the screen."""
        self.query_one("#models").border_title = Content("models on this machine")
        threading.Thread(target=self._look, name="tokenloop-models", daemon=True).start()

    def _look(self) -> None:
        try:
            found: Sequence[LocalModel] = self._find()
            failure = None
        except Exception as error:  # on a thread: said on the screen instead
            found, failure = (), one_line(str(error))
        self.post_message(self.Found(found, failure))

    def on_models_screen_found(self, event: Found) -> None:
        """Show the list."""
        self._models = event.models
        options = self.query_one(OptionList)
        options.add_options(map(_option, event.models))
        first = next((n for n, model in enumerate(event.models) if model.problem is None), None)
        options.highlighted = first
        if event.failure:
            self.note.say(event.failure, "error")
        elif self._supply.pulling:
            self.note.say(keys_line("ctrl+x", "call off what is being fetched", "esc", "back"))
        elif first is None:
            self.note.say("none: `smollm2` here, or `tokenloop pull smollm2`, gets one · esc: back")
        else:
            keys = ("enter", "load; the text goes on in it", "tab", "another", "esc", "back")
            self.note.say(keys_line(*keys))
        if not self.query_one(Input).has_focus:
            (self.query_one(Input) if first is None else options).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Load it."""
        event.stop()
        self.dismiss(self._models[event.option_index])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Load what was typed."""
        event.stop()
        if name := event.value.strip():
            self.dismiss(name)

    def action_call_off(self) -> None:
        """Stop a pull; what has arrived of a hub model stays for the next one."""
        if self._supply.pulling:
            self._supply.call_off()
            self.dismiss(None)


def _option(model: LocalModel) -> Option:
    title = (f"{one_line(model.title):<32.60}", "bold" if model.problem is None else "")
    return Option(Content.assemble(title, f"  {_facts(model)}"), disabled=model.problem is not None)


def _facts(model: LocalModel) -> str:
    """Family, file type, context and size, as far as the file says them; or what is the matter."""
    if model.problem is not None:
        return one_line(f"✗ {model.problem}")
    facts = [model.family, model.weights]
    if model.context_length is not None:
        facts.append(f"{model.context_length:,} positions")
    facts.append(f"{model.size / 1e6:,.0f} MB")
    facts += [store for prefix, store in STORES.items() if model.name.startswith(prefix)]
    return one_line(" · ".join(facts))
