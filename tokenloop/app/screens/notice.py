"""The line where a screen says one thing to the person; the keys stand there at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.timer import Timer

NOTICE_SECONDS = 4.0


class NoticeScreen(Screen[None]):
    """A screen with such a line; a subclass puts :attr:`notice` beside its line of keys."""

    DEFAULT_CSS = """
    NoticeScreen #notice { display: none; height: auto; max-height: 4; padding: 0 1;
                           background: $foreground; color: $background; }
    NoticeScreen #notice.-error { background: $error; text-style: bold; }
    NoticeScreen.-notice #notice { display: block; }
    NoticeScreen.-notice KeyBar { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.notice = Static(id="notice", markup=False)
        self._notice_timer: Timer | None = None

    def tell(self, text: str, severity: str = "information") -> None:
        """Say one line where the keys stand: for a moment, or until the next key if it is bad."""
        self.notice.update(Content(text))
        self.notice.set_class(severity == "error", "-error")
        self.add_class("-notice")
        if self._notice_timer:
            self._notice_timer.stop()
        if severity != "error":
            self._notice_timer = self.set_timer(NOTICE_SECONDS, self.hush)

    def hush(self) -> None:
        """Back to the keys."""
        self.remove_class("-notice")
