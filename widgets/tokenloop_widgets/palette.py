"""The colour language: one colour, one meaning, everywhere.

Blue is what the **model** says, amber what the **sampler** makes of it, violet **memory**, green
ready and the screen's own time, grey what is cut, off or scenery. Nothing here is decoration, and
nothing is said by colour alone: position, glyph and word carry each meaning too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

if TYPE_CHECKING:
    from textual.app import App

DARK = Theme(
    name="tokenloop-dark",
    dark=True,
    primary="#4FA8E8",
    accent="#F5A623",
    warning="#F5A623",
    secondary="#A497E8",
    success="#5FCB92",
    error="#F2777A",
    foreground="#E6E9EF",
    background="#151A23",
    surface="#10141B",
    panel="#1E2530",
    variables={
        "border": "#A9B2C0",
        "border-blurred": "#3A4352",
        "block-cursor-text-style": "none",
        "footer-key-foreground": "#F5A623",
    },
)

LIGHT = Theme(
    name="tokenloop-light",
    dark=False,
    primary="#1468AD",
    accent="#A85A00",
    warning="#A85A00",
    secondary="#5E4DC2",
    success="#1B7A4B",
    error="#B3261E",
    foreground="#16191F",
    background="#FFFFFF",
    surface="#F3F3EF",
    panel="#EAEAE4",
    variables={
        "border": "#4A5160",
        "border-blurred": "#C4C8CF",
        "block-cursor-text-style": "none",
        "footer-key-foreground": "#A85A00",
    },
)

THEMES = (DARK, LIGHT)


@lru_cache(4096)
def style(
    foreground: str,
    background: str,
    *,
    bold: bool = False,
    italic: bool = False,
    underline: bool = False,
) -> Style:
    """A rich style of two colours; cached, since the same few are asked for in every line."""
    return Style(
        color=foreground, bgcolor=background, bold=bold, italic=italic, underline=underline
    )


@dataclass(frozen=True)
class Palette:
    """The colours that a drawing may use, as ``#RRGGBB``.

    Attributes:
        ground: behind everything.
        track: behind the cells of a bar; scenery.
        cursor: behind the highlighted row.
        text: words that matter.
        soft: words that explain (grey, yet readable from the back row).
        faint: what is cut or off.
        model, model_soft, model_faint: what the model says; its second and third shade.
        sampler, sampler_soft, sampler_faint: what the sampler makes of it; neighbours on the
            ribbon take the softer shades in turn.
        memory, memory_soft: the KV cache: computed now, kept.
        ready: ready, and the screen's own time.
        error: what went wrong.
    """

    ground: str
    track: str
    cursor: str
    text: str
    soft: str
    faint: str
    model: str
    model_soft: str
    model_faint: str
    sampler: str
    sampler_soft: str
    sampler_faint: str
    memory: str
    memory_soft: str
    ready: str
    error: str

    @classmethod
    def from_theme(cls, theme: Theme) -> Palette:
        """Derive the palette from any Textual theme.

        primary is the model, accent the sampler, secondary memory, success ready. A theme of the
        terminal's own 16 colours has nothing to mix shades from: it gets ours, dark or light.
        """
        if theme.ansi:
            theme = DARK if theme.dark else LIGHT
        made = theme.to_color_system().generate()
        ground, text = Color.parse(made["background"]), Color.parse(made["foreground"])
        model, sampler = Color.parse(made["primary"]), Color.parse(made["accent"])
        memory = Color.parse(made["secondary"])

        def toward_ground(color: Color, part: float) -> str:
            return color.blend(ground, part, alpha=1.0).hex6

        return cls(
            ground=ground.hex6,
            track=toward_ground(text, 0.92),
            cursor=toward_ground(text, 0.82),
            text=text.hex6,
            soft=toward_ground(text, 0.32),
            faint=toward_ground(text, 0.52),
            model=model.hex6,
            model_soft=toward_ground(model, 0.45),
            model_faint=toward_ground(model, 0.68),
            sampler=sampler.hex6,
            sampler_soft=toward_ground(sampler, 0.45),
            sampler_faint=toward_ground(sampler, 0.68),
            memory=memory.hex6,
            memory_soft=toward_ground(memory, 0.34),
            ready=Color.parse(made["success"]).hex6,
            error=Color.parse(made["error"]).hex6,
        )

    def on(
        self,
        foreground: str,
        *,
        bold: bool = False,
        italic: bool = False,
        underline: bool = False,
        background: str | None = None,
    ) -> Style:
        """A style of one of the colours on the ground (or on ``background``)."""
        return style(
            foreground, background or self.ground, bold=bold, italic=italic, underline=underline
        )

    def shade(self, p: float | None) -> str:
        """The background of a token that had probability ``p``: more blue, more expected.

        Eight shades, so that neighbours in probability look alike and few styles exist.
        """
        if p is None:
            return self.track
        level = min(7, int(p * 8))
        mixed = Color.parse(self.track).blend(Color.parse(self.model), level / 7 * 0.52, alpha=1.0)
        return str(mixed.hex6)


_derived: dict[str, tuple[Theme, Palette]] = {}


def palette_of(app: App[object]) -> Palette:
    """The palette of the app's active theme, derived once a theme."""
    theme = app.current_theme
    held = _derived.get(theme.name)
    if held is None or held[0] is not theme:
        held = _derived[theme.name] = (theme, Palette.from_theme(theme))
    return held[1]
