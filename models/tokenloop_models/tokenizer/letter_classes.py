"""Characters that DeepSeek's cut into words tells apart, as its ``tokenizer.json`` lists them.

They are written as code points: some look like others (U+212A is a Kelvin sign, not a K).
"""

from __future__ import annotations

_CASED = """
0041-005A 0061-007A 00B5 00C0-00D6 00D8-00F6 00F8-01BA 01BC-01BF 01C4-0293 0295-02AF 0370-0373 0376
0377 037B-037D 037F 0386 0388-038A 038C 038E-03A1 03A3-03F5 03F7-0481 048A-052F 0531-0556 10A0-10C5
13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF 1D00-1D2B 1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45
1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3
1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102 2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D
212F-2134 2139 213C-213F 2145-2149 214E 2183 2184 2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D
A680-A69B A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A FF41-FF5A
10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF 1E900-1E943
"""
_PUNCTUATION = "0021-002F 003A-007E FF01-FF0F FF1A-FF5E 2018-201F 3000-3002"
_CJK = "4E00-9FA5 0800-4E00 AC00-D7FF"


def _class(ranges: str) -> str:
    r"""Write ranges of code points as the inside of a bracket: ``\x{41}-\x{5A}``."""
    return "".join(
        "-".join(rf"\x{{{point}}}" for point in span.split("-")) for span in ranges.split()
    )


CASED = _class(_CASED)
"""Letters of scripts that have capitals."""

HALF_AND_FULL_WIDTH_PUNCTUATION = _class(_PUNCTUATION)
"""As listed: the ASCII range runs from the colon to the tilde and so has all letters in it."""

CJK = _class(_CJK)
"""As listed: everything from U+0800 to U+9FA5, and Hangul."""
