"""Texts that cuts and merges turn on: pairs of ASCII, all of Unicode, digits, code, emoji."""

from __future__ import annotations

import random
import unicodedata
from functools import cache

import hypothesis

LAST = 0x30000
SAMPLE = 3000

WORDS = [
    "I'm sure they'll say WE'RE DONE, don't they've? It'S he'D 'tis",
    "camelCase HTTPServer snake_case __init__ Ünïcode ÀÉÎ iPhone14 ʕ ǅ",
    "naïve café, e\u0301cole, A\u030angstro\u0308m, 가나다 각, ﬁn, Ｆｕｌｌ　ｗｉｄｔｈ！",
    "Привет мир, שלום עולם, مرحبا بالعالم, नमस्ते दुनिया, สวัสดีโลก, 日本語のテキスト、한국어",
    "Kelvin \u212a and Ohm \u2126 and Ångström \u212b, ℂℍℕℙℚℝℤ, Ⅳ ⅷ ½ ² ③ ٣٤٥ १२३",
]
DIGITS = [
    "1 12 123 1234 12345 123456 1234567 3.14159 2,718,281 1e10 0x1F v2.0.1 1984's",
    "a1b22c333d4444 ½6789 12½3456 x²y ٣٤٥6 (555) 123-4567 ext. 89",
]
CODE = [
    "def f(x):\n    return {'a': [1, 22, 333]}  # comment\r\n\t\tif x >= 10:\n\n\n        pass\n",
    "for (int i=0; i<n; ++i) { a[i] = *p++ ->x; } // http://a.b/c?d=e&f#g\n/* ~^|`$ */",
    "<div class=\"x\">&amp;</div>\n```python\n>>> 'It\\'s'\n```\n| a | b |\n|---|---|\n",
]
EMOJI = ["😀👍🏽 👩‍👩‍👧‍👦 🇦🇺 ❤️ 1️⃣ #️⃣ a😀b 😀😀 ☺︎ ⌨️", "\u200d\ufe0f\u200b\u2060\ufeff\u00ad\u202e"]
SPACES = [
    "a  b   c    d\t\te \n f\n\n g\r\n\r\nh \u00a0 i \u2003\u3000j   ",
    "   lead",
    "trail   ",
    "\n",
    " ",
    "\n \n",
    "  \n\n  x",
    "\u0085\u2028\u2029\x0b\x0c\x1c",
]
HAND_PICKED = [*WORDS, *DIGITS, *CODE, *EMOJI, *SPACES]


def is_deep() -> bool:
    """Whether this run is the deep one (``make test-deep``)."""
    return hypothesis.settings().max_examples > 100


@cache
def sweeps() -> list[str]:
    """All texts of a run: a fixed sample of Unicode, or in a deep run all of it."""
    return [*HAND_PICKED, *_ascii_pairs(), *_unicode()]


def _ascii_pairs() -> list[str]:
    """Every pair of ASCII characters, between bars; in a deep run also alone."""
    ascii_letters = [chr(point) for point in range(128)]
    rows = ["|".join(first + second for second in ascii_letters) for first in ascii_letters]
    alone = [first + second for first in ascii_letters for second in ascii_letters]
    return rows + (alone if is_deep() else [])


def _unicode() -> list[str]:
    """Assigned characters up to U+30000: beside themselves, letters, digits and spaces."""
    points = [
        point
        for point in range(128, LAST)
        if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Co")
    ]
    if not is_deep():
        points = sorted(random.Random(7).sample(points, SAMPLE))
    texts = [f"{c}{c}a{c} {c}1{c}\n{c}." for c in map(chr, points)]
    return ["".join(texts[n : n + 64]) for n in range(0, len(texts), 64)]
