"""How byte-level vocabularies cut a text into words before they merge letters.

A GGUF names the cut in ``tokenizer.ggml.pre``; a ``tokenizer.json`` spells it out. The wrong cut
gives valid-looking ids that the model never saw in training, so a name that isn't in the table is
refused. What a cut does: the ``tokenizer.json`` that the models were published with. Which name
means which model's: llama.cpp, ``convert_hf_to_gguf_update.py`` and ``src/llama-vocab.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenizers import Regex, normalizers
from tokenizers.pre_tokenizers import (
    ByteLevel,
    Digits,
    PreTokenizer,
    Punctuation,
    Sequence,
    Split,
)

from tokenloop_models.tokenizer.letter_classes import CASED, CJK, HALF_AND_FULL_WIDTH_PUNCTUATION

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # case counts
GPT_4 = f"{_CONTRACTION}|{_WORD}|\\p{{N}}{{1,3}}|{_SYMBOLS}|{_SPACES}"
QWEN_2 = f"{_CONTRACTION}|{_WORD}|\\p{{N}}|{_SYMBOLS}|{_SPACES}"

# A word may begin with capitals, and a lower-case run ends it: "camelCase" is two words.
_CAPITALS, _SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CAMEL = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}*{_SMALL}+",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}+{_SMALL}*",
)
_PATHS = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
TEKKEN = "|".join([*_CAMEL, r"\p{N}", _PATHS, _SPACES])
GPT_4O = "|".join([*(f"{word}{_CONTRACTION}?" for word in _CAMEL), r"\p{N}{1,3}", _PATHS, _SPACES])


@dataclass(frozen=True, slots=True)
class PreSplit:
    """One way to cut a text.

    Attributes:
        steps: the library's parts in order; each cuts the pieces of the one before.
        composed: whether accents are composed before anything else (NFC).
        whole_words: whether a word that is a token is taken whole, without merging up to it.
        add_bos: whether a file that doesn't say expects a BOS.
        doubtful: why the ids may not be those that the model was trained on; ``None``: they are.
    """

    steps: tuple[PreTokenizer, ...]
    composed: bool = False
    whole_words: bool = False
    add_bos: bool = False
    doubtful: str | None = None

    def pre_tokenizer(self) -> PreTokenizer:
        """Build the library's form of the cut."""
        return Sequence(list(self.steps))

    def normalizer(self) -> normalizers.Normalizer | None:
        """Build the library's form of what happens to the text before the cut."""
        return normalizers.NFC() if self.composed else None


def _isolated(pattern: str) -> PreTokenizer:
    """Each match is a piece of its own, and so is what lies between two."""
    return Split(Regex(pattern), behavior="isolated")


_LETTERS = ByteLevel(add_prefix_space=False, use_regex=False)
_GPT_2_WORDS = ByteLevel(add_prefix_space=False, use_regex=True)
_EACH_DIGIT = Digits(individual_digits=True)

_GPT_2 = PreSplit((_GPT_2_WORDS,))
_GPT_4 = PreSplit((_isolated(GPT_4), _LETTERS))
_DIGITS_GPT_2 = PreSplit((_EACH_DIGIT, _GPT_2_WORDS))
_LLAMA_3 = PreSplit((_isolated(GPT_4), _LETTERS), whole_words=True, add_bos=True)

PRE_SPLITS: dict[str, PreSplit] = {
    "gpt-2": _GPT_2,
    "phi-2": _GPT_2,
    "olmo": PreSplit((_GPT_2_WORDS,), composed=True),  # GPT-NeoX's
    "smollm": _DIGITS_GPT_2,
    "starcoder": _DIGITS_GPT_2,
    "refact": _DIGITS_GPT_2,
    "command-r": PreSplit((_EACH_DIGIT, _GPT_2_WORDS), composed=True),
    "dbrx": _GPT_4,
    "llama-bpe": _LLAMA_3,
    "llama3": _LLAMA_3,
    "llama-v3": _LLAMA_3,
    "smaug-bpe": PreSplit(_LLAMA_3.steps, whole_words=True),  # Llama 3's without a BOS
    "qwen2": PreSplit((_isolated(QWEN_2), _LETTERS), composed=True),
    "stablelm2": PreSplit((_isolated(QWEN_2), _LETTERS), composed=True),
    "deepseek-r1-qwen": PreSplit((_isolated(QWEN_2), _LETTERS)),
    "tekken": PreSplit((_isolated(TEKKEN), _LETTERS), whole_words=True, add_bos=True),
    "gpt-4o": PreSplit((_isolated(GPT_4O), _LETTERS)),
    # The last two steps see the byte alphabet, where six bytes of other scripts are "²³¹¼½¾".
    "falcon": PreSplit(
        (
            Punctuation(behavior="contiguous"),
            _GPT_2_WORDS,
            Digits(individual_digits=False),
            _isolated("[0-9][0-9][0-9]"),
        )
    ),
    "deepseek-llm": PreSplit(
        (
            _isolated(r"[\r\n]"),
            _isolated(rf"\s?[{CASED}]+"),
            _isolated(rf"\s?[{HALF_AND_FULL_WIDTH_PUNCTUATION}]+"),
            _isolated(r"\s+$"),
            _isolated(f"[{CJK}]+"),
            _EACH_DIGIT,
            _LETTERS,
        )
    ),
    "deepseek-coder": PreSplit(
        (
            _isolated(r"[\r\n]"),
            _isolated(r"\s?\p{L}+"),
            _isolated(r"\s?\p{P}+"),
            _isolated(f"[{CJK}]+"),
            _EACH_DIGIT,
            _LETTERS,
        )
    ),
    # No model's own: what llama.cpp does where a converter did not know the model.
    "default": PreSplit(
        (
            _isolated(r"[\p{P}$+<=>^~|]+"),
            _isolated(GPT_2),
            _isolated(r"\p{N}+"),
            _isolated("[0-9][0-9][0-9]"),
            _LETTERS,
        ),
        doubtful="names no model's own cut into words: some ids may differ from those in training",
    ),
}
