"""An app for one panel."""

from __future__ import annotations

from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message

from tokenloop_widgets import THEMES, KeyBar, Panel, StatusBar


class Stage(App[None]):
    """One panel on a screen, and what it said."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.panel = panel
        self.said: list[Message] = []

    def compose(self) -> ComposeResult:
        self.panel.styles.width = "100%"
        if not isinstance(self.panel, StatusBar | KeyBar):
            self.panel.styles.height = "100%"
        yield self.panel

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.panel.focus()

    async def on_message(self, event: Any) -> None:
        self.said.append(event)

    on_text_panel_token_pressed = on_message
    on_candidates_panel_highlighted = on_message
    on_candidates_panel_pressed = on_message
    on_candidates_panel_need_more = on_message
    on_summary_panel_pressed = on_message
    on_key_bar_pressed = on_message
    on_rows_panel_pressed = on_message
    on_sweep_panel_pressed = on_message

    def drawn(self) -> list[str]:
        return [self.panel.render_line(y).text for y in range(self.panel.size.height)]
