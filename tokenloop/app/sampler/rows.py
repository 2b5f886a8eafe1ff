"""The window's rows: the chain's stages in their order, then what belongs to no stage."""

from __future__ import annotations

from dataclasses import dataclass

from tokenloop.app.sampler.fields import ORDER, SEED, Field, fields_of
from tokenloop.sampling import ORDERS, SamplerSettings

ON: dict[str, tuple[str, object]] = {
    "no_repeat_ngram": ("no_repeat_ngram_size", 3),
    "min_length": ("min_new_tokens", 16),
    "penalties": ("repeat_penalty", 1.1),
    "dry": ("dry_multiplier", 0.8),
    "top_n_sigma": ("top_n_sigma", 1.0),
    "top_k": ("top_k", 40),
    "typical_p": ("typical_p", 0.9),
    "top_p": ("top_p", 0.95),
    "min_p": ("min_p", 0.05),
    "top_a": ("top_a", 0.2),
    "epsilon_cutoff": ("epsilon_cutoff", 0.001),
    "eta_cutoff": ("eta_cutoff", 0.001),
    "xtc": ("xtc_probability", 0.5),
    "smoothing": ("smoothing_factor", 0.2),
    "dynamic_temperature": ("dynatemp_range", 0.5),
    "temperature": ("temperature", 0.8),
    "mirostat": ("mirostat", 2),
}
"""What turns a stage on whose settings turn it off: a value that people begin with."""

NEUTRAL: dict[str, dict[str, object]] = {
    "no_repeat_ngram": {"no_repeat_ngram_size": 0},
    "min_length": {"min_new_tokens": 0},
    "penalties": {"repeat_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0},
    "dry": {"dry_multiplier": 0.0},
    "top_n_sigma": {"top_n_sigma": 0.0},
    "top_k": {"top_k": 0},
    "typical_p": {"typical_p": 1.0},
    "top_p": {"top_p": 1.0},
    "min_p": {"min_p": 0.0},
    "top_a": {"top_a": 0.0},
    "epsilon_cutoff": {"epsilon_cutoff": 0.0},
    "eta_cutoff": {"eta_cutoff": 0.0},
    "xtc": {"xtc_probability": 0.0},
    "smoothing": {"smoothing_factor": 0.0},
    "dynamic_temperature": {"dynatemp_range": 0.0},
    "mirostat": {"mirostat": 0},
    "logit_bias": {"logit_bias": {}},
    "bad_words": {"bad_words": ()},
    "grammar": {"grammar": None},
}
"""The settings with which a stage does nothing."""


@dataclass(frozen=True)
class Row:
    """One line of the list.

    Attributes:
        name: of the stage, or of a setting that belongs to none.
        fields: its settings.
        stage: whether it is a stage.
        in_chain: whether that stage is in the chain.
    """

    name: str
    fields: tuple[Field, ...]
    stage: bool = True
    in_chain: bool = True


def rows_of(settings: SamplerSettings) -> tuple[Row, ...]:
    """All rows: the chain, the stages that are not in it, the rest."""
    chain = settings.chain
    missing = [stage for stage in ORDERS[settings.order] if stage not in chain]
    return (
        *(Row(stage, fields_of(stage)) for stage in chain),
        *(Row(stage, fields_of(stage), in_chain=False) for stage in missing),
        Row("order", (ORDER,), stage=False),
        Row("seed", (SEED,), stage=False),
        *(Row(field.label, (field,), stage=False) for field in fields_of("")),
    )


def moved(settings: SamplerSettings, stage: str, by: int) -> SamplerSettings:
    """The stage earlier or later in the chain; at its end, as it was."""
    chain = list(settings.chain)
    here = chain.index(stage)
    there = here + by
    if not 0 <= there < len(chain):
        return settings
    chain[here], chain[there] = chain[there], chain[here]
    own = tuple(chain)
    return settings.replace(stages=() if own == ORDERS[settings.order] else own)


def is_neutral(settings: SamplerSettings, stage: str) -> bool:
    """Whether a stage's settings turn it off."""
    values = NEUTRAL.get(stage)
    return values is not None and all(
        getattr(settings, name) == value for name, value in values.items()
    )


def switched(settings: SamplerSettings, stage: str) -> SamplerSettings:
    """The stage on where it was off, and off where it was on.

    Switched off it keeps its settings. One whose settings turn it off gets the value that people
    begin with; one that is not in the chain comes to its end.
    """
    if settings.runs(stage) and not is_neutral(settings, stage):
        return settings.replace(off=(*settings.off, stage))
    changes: dict[str, object] = {"off": tuple(each for each in settings.off if each != stage)}
    if stage not in settings.chain:
        changes["stages"] = (*settings.chain, stage)
    if is_neutral(settings, stage) and stage in ON:
        name, value = ON[stage]
        changes[name] = value
    return settings.replace(**changes)


def with_defaults(settings: SamplerSettings, row: Row) -> SamplerSettings:
    """The settings of one row back at the defaults, its stage not switched off."""
    plain = SamplerSettings()
    names = {"grammar" if field.name.startswith("grammar_") else field.name for field in row.fields}
    changes = {name: getattr(plain, name) for name in names if name != "seed"}
    off = tuple(each for each in settings.off if each != row.name)
    return settings.replace(**changes, off=off)
