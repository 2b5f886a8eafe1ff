"""The panel of the chain over a range of one setting."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from tokenloop.records import SweepRecord
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.figures import count
from tokenloop_widgets.drawing.scales import scale_text
from tokenloop_widgets.drawing.sweep import sweep_strips
from tokenloop_widgets.drawing.sweep_layout import nearest, scale_of, value_text
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel

PAGE = 5
"""Points that a large step goes over."""


class SweepPanel(Panel):
    """Final probabilities and survivors over a setting's values; a cursor walks the values."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(-1)", "smaller", show=False),
        Binding("right,l", "move(1)", "larger", show=False),
        Binding("pageup", f"move(-{PAGE})", "much smaller", show=False),
        Binding("pagedown", f"move({PAGE})", "much larger", show=False),
        Binding("home", "move(-10000)", "smallest", show=False),
        Binding("end", "move(10000)", "largest", show=False),
        Binding("enter", "press", "set it", show=False),
    ]

    class Pressed(Message):
        """The value under the cursor is wanted."""

        def __init__(self, setting: str, value: float) -> None:
            super().__init__()
            self.setting = setting
            self.value = value

    _record: SweepRecord | None = None
    _placeholder = ""
    _cursor: int | None = None

    def show(self, record: SweepRecord | None, *, placeholder: str = "no prompt yet") -> None:
        """Show a sweep; the cursor begins at the current value of another setting.

        Args:
            record: the sweep.
            placeholder: said where there is none.
        """
        if _place(self._record) != _place(record):
            self._cursor = None
        self._record, self._placeholder = record, placeholder
        if record is None:
            self.title("function of a setting")
        else:
            left = [point.survivors for point in record.points] or [0]
            ends = dict.fromkeys((min(left), max(left)))  # one where they are the same
            self.title(
                f"final probability against {safe(record.label)}",
                f"{' to '.join(map(count, ends))} left",
                f"up to {scale_text(scale_of(record))}",
                f"now {value_text(record.current)}",
            )
        self.redraw()

    @property
    def value(self) -> float | None:
        """The value under the cursor; the current one's point where it was not moved."""
        record = self._record
        if record is None or not record.points:
            return None
        if self._cursor is None:
            return record.current
        return record.points[min(self._cursor, len(record.points) - 1)].value

    def action_move(self, by: int) -> None:
        """Walk over the values; the first step goes from the current one."""
        record = self._record
        if record is None or not record.points:
            return
        start = nearest(record, record.current) if self._cursor is None else self._cursor
        self._cursor = max(0, min(start + by, len(record.points) - 1))
        self.redraw()

    def action_press(self) -> None:
        """Say that the value under the cursor is wanted."""
        if self._record is not None and self.value is not None:
            self.post_message(self.Pressed(self._record.setting, self.value))

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """Both plots."""
        return sweep_strips(
            self._record,
            width,
            height,
            palette,
            cursor=self._cursor,
            placeholder=self._placeholder,
        )


def _place(record: SweepRecord | None) -> tuple[str, float] | None:
    """The setting and its current value."""
    return None if record is None else (record.setting, record.current)
