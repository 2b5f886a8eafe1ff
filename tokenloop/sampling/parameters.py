"""Every number that the sampler can be set to, in one table.

The checks, the command line's options, the settings file, the sampler panel and the sweeps are made
from this table, so that none can know a setting that the others don't.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenloop.errors import SettingError

MOST = 2**31 - 1


@dataclass(frozen=True)
class Parameter:
    """One number.

    Attributes:
        name: in :class:`~tokenloop.sampling.settings.SamplerSettings`.
        stage: the stage that it belongs to.
        label: on the screen.
        help: one line.
        low, high: what is allowed, both ends included.
        step: what one press of a key changes it by.
        whole: whether it is a whole number.
        sweep: the part of what is allowed that a sweep goes through; ``None`` is all of it.
    """

    name: str
    stage: str
    label: str
    help: str
    low: float
    high: float
    step: float
    whole: bool = False
    sweep: tuple[float, float] | None = None

    @property
    def swept(self) -> tuple[float, float]:
        """The lowest and the highest value of a sweep."""
        return self.sweep or (self.low, self.high)

    @property
    def allowed(self) -> str:
        """In words."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:g} to {self._high_in_words}"

    @property
    def _high_in_words(self) -> str:
        return str(int(self.high)) if self.whole else f"{self.high:g}"

    def check(self, value: object) -> None:
        """Refuse what has no meaning.

        Raises:
            SettingError: names the setting, its value and what is allowed.
        """
        kinds = int if self.whole else int | float
        # NaN is in no range: every comparison with it fails.
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise SettingError(self.name, value, self.allowed)
        if not self.low <= value <= self.high:
            raise SettingError(self.name, value, self.allowed)


def _number(
    name: str, stage: str, label: str, says: str, low: float, high: float,
    step: float, sweep: tuple[float, float] | None = None,
) -> Parameter:  # fmt: skip
    return Parameter(name, stage, label, says, low, high, step, sweep=sweep)


def _whole(
    name: str, stage: str, label: str, says: str, low: int = 0, high: int = MOST,
    step: int = 1, sweep: tuple[float, float] | None = None,
) -> Parameter:  # fmt: skip
    return Parameter(name, stage, label, says, low, high, step, whole=True, sweep=sweep)


_ALL = (
    _number("temperature", "temperature", "temperature",
            "divides the logits; 0 is greedy", 0, 100, 0.1, sweep=(0, 2)),
    _number("dynatemp_range", "dynamic_temperature", "dynamic range",
            "T moves by this around the temperature, with the entropy; 0 is off",
            0, 100, 0.1, sweep=(0, 2)),
    _number("dynatemp_exponent", "dynamic_temperature", "dynamic exponent",
            "how T follows the entropy; 1 is in proportion", 0.01, 10, 0.1, sweep=(0.01, 4)),
    _number("smoothing_factor", "smoothing", "smoothing",
            "bends the logits into a parabola below the best one; 0 is off",
            0, 100, 0.05, sweep=(0, 2)),
    _number("smoothing_curve", "smoothing", "smoothing curve",
            "adds a cubic part for the unlikely; 1 is none", 1, 100, 0.1, sweep=(1, 4)),
    _whole("top_k", "top_k", "top-k", "keeps the k best; 0 is off", sweep=(1, 1000)),
    _number("top_p", "top_p", "top-p",
            "keeps the smallest set of this probability; 1 is off", 0, 1, 0.05),
    _number("min_p", "min_p", "min-p",
            "keeps what has this part of the best one's probability; 0 is off", 0, 1, 0.01),
    _number("typical_p", "typical_p", "typical-p",
            "keeps what surprises as much as expected, up to this probability; 1 is off",
            0, 1, 0.05),
    _number("top_n_sigma", "top_n_sigma", "top-n-sigma",
            "keeps logits within n standard deviations of the best; 0 is off",
            0, 100, 0.1, sweep=(0, 5)),
    _number("top_a", "top_a", "top-a",
            "keeps what has a times the square of the best one's probability; 0 is off",
            0, 1, 0.05),
    _number("epsilon_cutoff", "epsilon_cutoff", "epsilon cutoff",
            "drops what has less probability; 0 is off", 0, 0.999, 0.0005, sweep=(0, 0.05)),
    _number("eta_cutoff", "eta_cutoff", "eta cutoff",
            "the same, lower where the entropy is high; 0 is off",
            0, 0.999, 0.0005, sweep=(0, 0.05)),
    _number("xtc_probability", "xtc", "XTC probability",
            "how often the top choices are excluded; 0 is off", 0, 1, 0.1),
    _number("xtc_threshold", "xtc", "XTC threshold",
            "a top choice has at least this probability; above 0.5 is off", 0, 1, 0.05),
    _number("repeat_penalty", "penalties", "repeat penalty",
            "divides the logits of tokens seen; 1 is off", 0.01, 100, 0.05, sweep=(0.5, 2)),
    _number("frequency_penalty", "penalties", "frequency",
            "subtracted for each time seen; 0 is off", -100, 100, 0.1, sweep=(-2, 2)),
    _number("presence_penalty", "penalties", "presence",
            "subtracted once where seen; 0 is off", -100, 100, 0.1, sweep=(-2, 2)),
    _number("dry_multiplier", "dry", "DRY multiplier",
            "penalises what would lengthen a repetition; 0 is off", 0, 100, 0.1, sweep=(0, 4)),
    _number("dry_base", "dry", "DRY base",
            "how the penalty grows with each token repeated", 1, 100, 0.05, sweep=(1, 4)),
    _whole("dry_allowed_length", "dry", "DRY allowed length",
           "repetitions up to this length cost nothing", 1, sweep=(1, 20)),
    _whole("dry_penalty_last_n", "dry", "DRY window",
           "last tokens that it looks at; -1 is all of them", -1, step=8, sweep=(-1, 512)),
    _whole("no_repeat_ngram_size", "no_repeat_ngram", "no-repeat n-gram",
           "bans what would repeat n tokens in a row; 0 is off", sweep=(0, 10)),
    _whole("min_new_tokens", "min_length", "minimum length",
           "new tokens before the text may end; 0 is off", sweep=(0, 100)),
    _whole("mirostat", "mirostat", "mirostat",
           "2 steers the surprise towards tau; 0 is off", 0, 2, 2),
    _number("mirostat_tau", "mirostat", "mirostat tau",
            "the surprise to reach, in bits", 0, 100, 0.5, sweep=(0, 10)),
    _number("mirostat_eta", "mirostat", "mirostat eta",
            "how fast it gets there", 0, 1, 0.05),
    _whole("min_keep", "", "least kept",
           "a cut by probability leaves at least so many", 1, sweep=(1, 100)),
)  # fmt: skip

PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in _ALL}
"""Every number by name."""
