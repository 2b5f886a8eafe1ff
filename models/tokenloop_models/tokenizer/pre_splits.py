"""How byte-level vocabularies cut a text into words before they merge letters.

A GGUF names the cut in ``tokenizer.ggml.pre``; a ``tokenizer.json`` spells it out. The wrong cut
gives valid-looking ids that the model never saw in training, so a name that isn't in the table is
refused. Patterns: the ``tokenizer.json`` that the models were published with; names that mean the
same cut: llama.cpp, ``src/llama-vocab.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenizers import Regex, normalizers, pre_tokenizers

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

LLAMA_3 = f"{_CONTRACTION}|{_WORD}|\\p{{N}}{{1,3}}|{_SYMBOLS}|{_SPACES}"
QWEN_2 = f"{_CONTRACTION}|{_WORD}|\\p{{N}}|{_SYMBOLS}|{_SPACES}"


@dataclass(frozen=True, slots=True)
class PreSplit:
    """One way to cut a text.

    Attributes:
        pattern: each match is a word; ``None``: GPT-2's, which the library has built in.
        single_digits: whether each digit is cut off first.
        composed: whether accents are composed before anything else (NFC).
        whole_words: whether a word that is a token is taken whole, without merging up to it.
        add_bos: whether a file that doesn't say expects a BOS.
    """

    pattern: str | None = None
    single_digits: bool = False
    composed: bool = False
    whole_words: bool = False
    add_bos: bool = False

    def pre_tokenizer(self) -> pre_tokenizers.PreTokenizer:
        """Build the library's form of the cut."""
        steps: list[pre_tokenizers.PreTokenizer] = []
        if self.single_digits:
            steps.append(pre_tokenizers.Digits(individual_digits=True))
        if self.pattern is not None:
            steps.append(pre_tokenizers.Split(Regex(self.pattern), behavior="isolated"))
        built_in = self.pattern is None
        steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=built_in))
        return pre_tokenizers.Sequence(steps)

    def normalizer(self) -> normalizers.Normalizer | None:
        """Build the library's form of what happens to the text before the cut."""
        return normalizers.NFC() if self.composed else None


_GPT_2 = PreSplit()
_SMOLLM = PreSplit(single_digits=True)
_LLAMA_BPE = PreSplit(pattern=LLAMA_3, whole_words=True, add_bos=True)

PRE_SPLITS: dict[str, PreSplit] = {
    "gpt-2": _GPT_2,
    "phi-2": _GPT_2,
    "smollm": _SMOLLM,
    "starcoder": _SMOLLM,
    "refact": _SMOLLM,
    "llama-bpe": _LLAMA_BPE,
    "llama3": _LLAMA_BPE,
    "llama-v3": _LLAMA_BPE,
    "qwen2": PreSplit(pattern=QWEN_2, composed=True),
    "deepseek-r1-qwen": PreSplit(pattern=QWEN_2),
}
