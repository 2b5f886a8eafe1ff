"""Every widget alone, on moments recorded from a real model.

``python -m tokenloop_widgets.gallery``: tab walks the widgets, the arrows walk the moments, ``s``
tries smaller sizes. No model runs here.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from tokenloop_widgets import (
    THEMES,
    CachePanel,
    CandidatesPanel,
    Key,
    KeyBar,
    LatencyPanel,
    SamplerPanel,
    StatusBar,
    SummaryPanel,
    TextPanel,
)
from tokenloop_widgets.gallery_laboratory import MAKERS, fill
from tokenloop_widgets.recorded import Laboratory, Moment, Recording, read, read_laboratory

PANELS = ("text", "candidates", "sampler", "cache", "latency", "summary", "status", "key-bar")
PAGES = (*PANELS, *MAKERS)
ONE_LINE = ("status", "key-bar", "tabs")

SIZES: tuple[tuple[int, int] | None, ...] = (None, (68, 22), (46, 12), (30, 8), (12, 4), (1, 1))
"""Columns and rows of the widget shown; ``None`` is all there is."""

KEYS = (
    Key("tab", "next widget", "walk(1)"),
    Key("→", "next moment", "moment(1)"),
    Key("←", "moment before", "moment(-1)"),
    Key("s", "size", "size"),
    Key("p", "probabilities", "probabilities"),
    Key("t", "theme", "next_theme"),
    Key("q", "quit", "quit", pinned=True),
)


class Gallery(App[None]):
    """The gallery.

    Args:
        recording: what to show; by default the one that the package carries.
        laboratory: the laboratory's answers; likewise.
    """

    TITLE = "tokenloop widgets"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { background: $background; }
    #caption { height: 2; padding: 0 1; color: $foreground; }
    ContentSwitcher { height: 1fr; }
    ContentSwitcher > Panel { width: 100%; height: 100%; }
    ContentSwitcher > #status, ContentSwitcher > #key-bar, ContentSwitcher > #tabs { height: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "walk(1)", "next widget", priority=True),
        Binding("shift+tab", "walk(-1)", "widget before", priority=True),
        Binding("right", "moment(1)", "next moment", priority=True),
        Binding("left", "moment(-1)", "moment before", priority=True),
        Binding("s", "size", "size"),
        Binding("p", "probabilities", "probabilities"),
        Binding("t", "next_theme", "theme"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(
        self, recording: Recording | None = None, laboratory: Laboratory | None = None
    ) -> None:
        super().__init__()
        self._recording = recording or read()
        self._laboratory = laboratory or read_laboratory()
        self._page = self._moment = self._size_number = 0
        self._probabilities = False

    def compose(self) -> ComposeResult:
        """A caption, the widgets of which one is visible, the keys."""
        yield Static(id="caption", markup=False)
        with ContentSwitcher(initial=PAGES[0]):
            yield TextPanel(id="text")
            yield CandidatesPanel(id="candidates")
            yield SamplerPanel(id="sampler")
            yield CachePanel(id="cache")
            yield LatencyPanel(id="latency")
            yield SummaryPanel(id="summary")
            yield StatusBar(id="status")
            yield KeyBar(id="key-bar")
            for name, make in MAKERS.items():
                yield make(name)
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Put the theme on and show the first moment."""
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.query_one("#keys", KeyBar).show(KEYS)
        self._show()

    def action_walk(self, by: int) -> None:
        """Go to another widget."""
        self._page = (self._page + by) % len(PAGES)
        self._show()

    def action_moment(self, by: int) -> None:
        """Go to another moment."""
        self._moment = (self._moment + by) % len(self._recording.moments)
        self._show()

    def action_size(self) -> None:
        """Try the next size."""
        self._size_number = (self._size_number + 1) % len(SIZES)
        self._show()

    def action_probabilities(self) -> None:
        """Print the probabilities under the tokens, or not."""
        self._probabilities = not self._probabilities
        self._show()

    def action_next_theme(self) -> None:
        """Swap dark and light."""
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    async def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        """A clicked key does what the key does."""
        await self.run_action(event.action)

    def _show(self) -> None:
        moment = self._recording.moments[self._moment]
        page = PAGES[self._page]
        self._fill(moment)
        answers = fill(self, self._laboratory, self._moment)
        switcher = self.query_one(ContentSwitcher)
        switcher.current = page
        panel = switcher.get_child_by_id(page)
        size = SIZES[self._size_number]
        one_line = page in ONE_LINE
        panel.styles.width = size[0] if size else "100%"
        panel.styles.height = 1 if one_line else size[1] if size else "100%"
        panel.focus()
        said = "as large as the screen" if size is None else f"{size[0]} × {size[1]}"
        number = f"{self._moment + 1} of {len(self._recording.moments)}"
        caption = f"{page} · {said}\nmoment {number}: {answers.get(page, moment.title)}"
        self.query_one("#caption", Static).update(Content(caption))

    def _fill(self, moment: Moment) -> None:
        """Give every widget what it shows at this moment: now, or an earlier token's record."""
        record = moment.record
        now = record is None
        choice = moment.choice if record is None else record
        cache = moment.cache if record is None else record.cache
        then = None if record is None else record.token
        cursor = None if record is None else record.position
        self.query_one(TextPanel).show(
            moment.prefix,
            pending=moment.choice if now else None,
            cursor=cursor,
            probabilities=self._probabilities,
            landed=moment.landed,
        )
        after = moment.prefix[-1 if cursor is None else cursor - 1].token
        candidates = self.query_one(CandidatesPanel)
        candidates.show(choice, after=after, then=then, landed=moment.landed > 0)
        self.query_one(SamplerPanel).show(choice, then=then)
        self.query_one(CachePanel).show(cache, then=then)
        self.query_one(LatencyPanel).show(moment.latency, then=record)
        passed = None if record is None else record.latency_ms
        self.query_one(SummaryPanel).show(choice, cache, moment.latency, then=passed)
        self.query_one(StatusBar).show(
            self._recording.model,
            seed=self._recording.seed,
            order=choice.order if choice is not None else None,
        )
        self.query_one("#key-bar", KeyBar).show(KEYS)


def main() -> None:
    """Run the gallery."""
    Gallery().run()


if __name__ == "__main__":
    main()
