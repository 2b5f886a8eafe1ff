from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tokenloop_widgets.palette import DARK, LIGHT, Palette

PAIRS = [
    *[(theme, name, 4.5) for theme in (DARK, LIGHT) for name in ("text", "soft")],
    *[
        (theme, name, 4.5)
        for theme in (DARK, LIGHT)
        for name in ("model", "sampler", "memory", "ready", "error")
    ],
    *[(theme, name, 3.0) for theme in (DARK, LIGHT) for name in ("faint", "memory_soft")],
]


def contrast(a: str, b: str) -> float:
    """The contrast ratio of WCAG 2.1, 1 to 21."""

    def luminance(colour: str) -> float:
        channels = [value / 255 for value in Color.parse(colour).rgb]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(("theme", "name", "least"), PAIRS)
def test_words_read_on_a_projector(theme: Theme, name: str, least: float) -> None:
    palette = Palette.from_theme(theme)
    assert contrast(getattr(palette, name), palette.ground) >= least


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_words_read_on_every_shade(theme: Theme) -> None:
    palette = Palette.from_theme(theme)
    for p in (None, 0.0, 0.3, 0.6, 1.0):
        assert contrast(palette.text, palette.shade(p)) >= 4.5
    for behind in (palette.sampler_soft, palette.sampler_faint, palette.model_soft, palette.cursor):
        assert contrast(palette.text, behind) >= 3.0
    for behind in (palette.sampler, palette.model, palette.ready, palette.memory):
        assert contrast(palette.ground, behind) >= 4.5


def test_a_likelier_token_is_never_a_paler_shade(dark: Palette) -> None:
    distances = [contrast(dark.shade(p / 100), dark.ground) for p in range(101)]
    assert distances == sorted(distances)
    assert len(set(distances)) == 8


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_any_theme_of_textual_makes_a_palette(name: str) -> None:
    palette = Palette.from_theme(BUILTIN_THEMES[name])
    assert palette.text != palette.ground
    assert palette.model != palette.sampler
