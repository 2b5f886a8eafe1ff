"""The panel of the KV cache."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import CacheRecord, Token
from tokenloop_widgets.drawing.cache import cache_strips
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.figures import size
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class CachePanel(Panel):
    """Positions as cells, bytes, and what the next step will add."""

    _cache: CacheRecord | None = None
    _then: Token | None = None
    _placeholder = ""

    def show(
        self,
        cache: CacheRecord | None,
        *,
        then: Token | None = None,
        placeholder: str = "nothing held yet",
    ) -> None:
        """Show the cache after a pass.

        Args:
            cache: the cache now, or after an earlier token's pass.
            then: that token, where this is an earlier moment.
            placeholder: said where ``cache`` is ``None``.
        """
        self._cache, self._then, self._placeholder = cache, then, placeholder
        name = "KV cache" if then is None else f"KV cache · after {safe(then.label)}"
        self.title(name, f"{size(cache.bytes)} · {cache.dtype}" if cache else "")
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The cells and the sums."""
        return cache_strips(
            self._cache,
            width,
            height,
            palette,
            next_step=self._then is None,
            placeholder=self._placeholder,
        )
