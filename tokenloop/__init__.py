"""tokenloop: see a language model generate, one token at a time."""

__version__ = "0.1.0"
