"""Choose a model that is on this machine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tokenloop.app.screens.dialog import Dialog, NoteLine, keys_line
from tokenloop.app.words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from tokenloop_models.local import LocalModel


class ModelsScreen(Dialog["LocalModel"]):
    """Lists what can be loaded; its result is the choice.

    Args:
        find: looks through this machine; called on a thread of its own, for it opens files.
    """

    class Found(Message):
        """The list is there."""

        def __init__(self, models: Sequence[LocalModel], failure: str | None) -> None:
            super().__init__()
            self.models = models
            self.failure = failure

    def __init__(self, find: Callable[[], Sequence[LocalModel]]) -> None:
        super().__init__()
        self._find = find
        self._models: Sequence[LocalModel] = ()

    def compose(self) -> ComposeResult:
        """The list and one line below."""
        with Vertical(id="models", classes="window"):
            yield OptionList(id="model-list", classes="fits")
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
        options.add_options(
            Option(
                Content.assemble((f"{one_line(model.title):<32.60}", "bold"), f"  {_facts(model)}")
            )
            for model in event.models
        )
        if event.failure:
            self.note.say(event.failure, "error")
        elif event.models:
            self.note.say(keys_line("enter", "load; the text goes on in it", "esc", "back"))
        else:
            self.note.say("none: `tokenloop pull smollm2` gets one · esc: back")
        options.highlighted = 0 if event.models else None
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Load it."""
        event.stop()
        self.dismiss(self._models[event.option_index])


def _facts(model: LocalModel) -> str:
    """Family, file type, context and size, as far as the file says them."""
    facts = [model.family, model.quantisation or "floats"]
    if model.context_length is not None:
        facts.append(f"{model.context_length:,} positions")
    facts.append(f"{model.size / 1e6:,.0f} MB")
    return one_line(" · ".join(facts))
