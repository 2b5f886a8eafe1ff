"""What the app asks of the engine: the commands of ``tokenloop.loop.Loop``, nothing else.

Every command returns its request number at once; the answers come as events on the loop's thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tokenloop.loop.events import Event
    from tokenloop.sampling.settings import SamplerSettings


class Engine(Protocol):
    """The loop as the app sees it; tests put a fake in its place."""

    def load(
        self,
        source: str | Path,
        *,
        device: str = ...,
        dtype: str = ...,
        precision: str = ...,
        threads: int | None = ...,
        settings: SamplerSettings = ...,
        seed: int = ...,
    ) -> int:
        """Load a model; no text is open then."""

    def open(self, text: str, *, specials: bool = ...) -> int:
        """Begin a new session on a text."""

    def step(self) -> int:
        """Make the pending draw fact."""

    def force(self, token_id: int, /) -> int:
        """Append a token that the person chose."""

    def type(self, text: str, *, specials: bool = ...) -> int:
        """Append text."""

    def rewind(self, count: int = ...) -> int:
        """Drop tokens from the end."""

    def rewind_to(self, length: int) -> int:
        """Keep the first ``length`` tokens."""

    def roll(self) -> int:
        """Take the next attempt's u."""

    def resample(self) -> int:
        """Rewind one, roll, step."""

    def edit(self, text: str, *, specials: bool = ...) -> int:
        """Replace the whole text."""

    def regenerate(self, length: int, steps: int | None = ...) -> int:
        """Keep the first ``length`` tokens and run on."""

    def run(self, steps: int | None = ...) -> int:
        """Step until the end of the text, ``steps`` or a pause."""

    def configure(self, settings: SamplerSettings) -> int:
        """Change the sampler's settings (no pass)."""

    def reseed(self, seed: int) -> int:
        """Change the seed (no pass)."""

    def show(self, count: int) -> int:
        """Show more candidates (no pass)."""

    def look(self, position: int) -> int:
        """Ask for an earlier position's record."""

    def draws(self, count: int, /) -> int:
        """Ask for many draws from what is held; answered with ``Answered``, as the next three."""

    def sweep(self, setting: str, /) -> int:
        """Ask for the chain over the range of a setting."""

    def compare(
        self, left: tuple[str, SamplerSettings], right: tuple[str, SamplerSettings], /
    ) -> int:
        """Ask for two named chains on the same logits."""

    def find(self, query: str, /) -> int:
        """Search the vocabulary."""

    def watch(self, token_id: int, /) -> int:
        """Pin a token, or unpin it (no pass)."""

    def check(self) -> int:
        """Compare what is held with a fresh pass in float32."""

    def pause(self) -> object:
        """Stop a run, or cancel a prefill, at the next safe point."""

    def close(self) -> object:
        """Stop the thread; safe to call twice."""


if TYPE_CHECKING:
    MakeEngine = Callable[[Callable[[Event], None]], Engine]
