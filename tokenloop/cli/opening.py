"""From a command's options to a model, and to a session on its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokenloop.cli.bring import model_here
from tokenloop.labels import clean

if TYPE_CHECKING:
    from tokenloop.app.runtime_choice import RuntimeChoice
    from tokenloop.cli.prompt_options import Prompt
    from tokenloop.sampling.settings import SamplerSettings
    from tokenloop.session import Session
    from tokenloop_models.model import Model


def load_model(model: str | None, choice: RuntimeChoice) -> Model:
    """Load what a command's MODEL names, with a bar on stderr.

    Args:
        model: a name or a path; ``None`` is the default one.
        choice: how to run it; the runtime's own choice where it says nothing.

    Raises:
        ModelError: as for :func:`tokenloop_models.load`.
    """
    from tokenloop.cli.progress import count_progress
    from tokenloop_models import load

    source = model_here(model)
    with count_progress("loading") as progress:
        return load(source, **choice.said, progress=progress)


def open_session(runtime: Model, prompt: Prompt, settings: SamplerSettings, seed: int) -> Session:
    """Open a session on a prompt, with a bar on stderr; warnings of the model go there, too.

    Args:
        runtime: the model.
        prompt: what it goes on from.
        settings: the sampler's.
        seed: of the draws.

    Raises:
        TokenloopError, ModelError: as for :meth:`tokenloop.session.Session.open`.
    """
    from tokenloop.cli.progress import count_progress
    from tokenloop.session import Session

    for notice in (*runtime.tokenizer.notices, *runtime.info.notices):
        click.echo(f"tokenloop: warning: {clean(notice)}", err=True)
    # The prompt's own candidates are not printed: one of each, whatever its length, is enough.
    session = Session(runtime, settings=settings, seed=seed, shown=1)
    with count_progress("prompt") as progress:
        session.open(
            prompt.ids_for(session),
            progress=lambda done, total: progress("prefill", done, total),
        )
    return session
