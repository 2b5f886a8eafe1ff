"""The Textual app: wiring between keys, the loop and the panels.

Importing this package loads neither Textual nor torch; :func:`run_app` does when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tokenloop.sampling.settings import SamplerSettings


def run_app(
    source: str | Path,
    *,
    device: str = "auto",
    dtype: str = "auto",
    precision: str = "exact",
    threads: int | None = None,
    settings: SamplerSettings | None = None,
    seed: int | None = None,
    prompt: str | None = None,
    theme: str = "dark",
    keymap: dict[str, str] | None = None,
    presets: Mapping[str, SamplerSettings] | None = None,
) -> int:
    """Open the app on this terminal and stay until the person leaves.

    Args:
        source: what to load: a catalogue name, a folder, a ``.gguf`` or ``.safetensors`` file.
        device: ``auto``, ``cpu`` or ``cuda[:n]``.
        dtype: ``auto``, ``float32``, ``bfloat16`` or ``float16``.
        precision: ``exact``, or ``fast``: a GGUF's blocks stay packed.
        threads: for torch; ``None`` lets the runtime choose.
        settings: the sampler's; ``None`` is the defaults.
        seed: of the draws; ``None`` is the default.
        prompt: opens on this text; ``None`` opens the start screen.
        theme: ``dark`` or ``light``.
        keymap: the person's own keys, by command id.
        presets: the person's own presets of the sampler, by name.

    Returns:
        The process's exit code: 0, 1 after an unexpected fault, 128 + n after signal n.
    """
    from tokenloop.app.options import Options
    from tokenloop.app.run import run
    from tokenloop.sampling.settings import DEFAULT_SEED
    from tokenloop.sampling.settings import SamplerSettings as Settings

    return run(
        Options(
            source=source,
            device=device,
            dtype=dtype,
            precision=precision,
            threads=threads,
            settings=settings or Settings(),
            seed=DEFAULT_SEED if seed is None else seed,
            prompt=prompt,
            theme=theme,
            presets=presets or {},
        ),
        keymap or {},
    )
