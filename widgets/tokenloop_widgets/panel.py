"""What all panels share: strips computed once a change, drawn as they are, marked for a moment."""

from __future__ import annotations

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tokenloop_widgets.drawing.cells import clip, safe, width_of
from tokenloop_widgets.palette import Palette, palette_of

LANDED_SECONDS = 0.6


class Panel(Widget, can_focus=True):
    """A framed drawing of records.

    A subclass holds the data of its last ``show`` and implements :meth:`draw`; the strips are made
    when they are first asked for after a change of data, size or theme, and reused until the next.
    """

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    Panel {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: bold;
        border-subtitle-color: $foreground-muted;
        padding: 0 1;
        background: $background;
        min-width: 1;
        min-height: 1;
        &:focus { border: heavy $border; }
        &.-bare { border: none; padding: 0; }
    }
    """

    _strips: list[Strip] | None = None
    _drawn_for: tuple[Size, Palette] | None = None
    _title = ""
    _headline: tuple[str, ...] = ()
    _landed = False
    _landed_timer: Timer | None = None

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """Draw the held data: ``height`` strips of ``width`` cells; here, nothing yet."""
        return []

    def render(self) -> RenderResult:
        """Nothing: lines are drawn by :meth:`render_line`."""
        return ""

    def render_line(self, y: int) -> Strip:
        """One line of the drawing; the whole drawing is made at most once a change."""
        wanted = (self.size, palette_of(self.app))
        if self._strips is None or self._drawn_for != wanted:
            self._strips = self.draw(wanted[0].width, wanted[0].height, wanted[1])
            self._drawn_for = wanted
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)

    def redraw(self) -> None:
        """Draw anew at the next paint."""
        self._strips = None
        self.refresh()

    def title(self, title: str, *headline: str) -> None:
        """Name the panel and its headline figures; plain text, never markup.

        Of the headline, as many whole items as the panel's width holds are shown.
        """
        self._title, self._headline = title, headline
        self._fit_titles()

    def on_resize(self) -> None:
        """Fit the titles to the new width."""
        self._fit_titles()

    def _fit_titles(self) -> None:
        room = self.outer_size.width - 6
        self.border_title = Content(clip(safe(self._title), room))
        items = [safe(item) for item in self._headline if item]
        while items and room > 0 and width_of(" · ".join(items)) > room:
            items.pop()
        self.border_subtitle = Content(" · ".join(items))

    def mark_landed(self, landed: bool) -> None:
        """Mark what just landed for a moment (or nothing); never where animations are off."""
        if self._landed_timer is not None:
            self._landed_timer.stop()
        if not landed or not self.is_attached or self.app.animation_level == "none":
            self._landed = False
            return
        self._landed = True
        self._landed_timer = self.set_timer(LANDED_SECONDS, self._settle)

    def _settle(self) -> None:
        self._landed = False
        self.redraw()
