"""Characters of the symbol fonts of Office, whose codes mean nothing without the font.

Sources: the Symbol font's encoding as the Unicode Consortium publishes it (APPLE/SYMBOL.TXT, ADOBE/symbol.txt); of
Wingdings and Wingdings 2 what people put into texts: arrows, ticks, boxes, stars, numbers, hands.
"""

from __future__ import annotations

_SYMBOL = {
    0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪",
    0xF1: "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
}
_WINGDINGS = {
    0x20: " ",
    0x21: "✏✂✁",
    0x28: "☎✆✉",
    0x36: "⌛⌨",
    0x3E: "✇✍",
    0x41: "✌",
    0x43: "👍👎☜☞☝☟",
    0x4A: "☺",
    0x4C: "☹💣☠",
    0x51: "✈☼",
    0x54: "❄",
    0x58: "✠✡☪☯",
    0x5E: "♈♉♊♋♌♍♎♏♐♑♒♓",
    0x6C: "●❍■□",
    0x71: "❑❒",
    0x74: "⧫◆❖",
    0x80: "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿",
    0x9E: "·•",
    0xA1: "○",
    0xA7: "▪◻",
    0xAB: "★",
    0xD8: "➢",
    0xDF: "←→↑↓↖↗↙↘",
    0xE8: "➔",
    0xEF: "⇦⇨⇧⇩⬄⇳",
    0xFB: "✗✓☒☑",
}
_WINGDINGS_2 = {0x4F: "✗✓☒☑", 0x97: "●", 0xA3: "☐"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def symbol(font: str, code: int) -> str:
    """The character that a font shows for a code; a marker with both where that is not known.

    Args:
        font: its name, in any case.
        code: the character's number; those of the private area (F000 and on) are the font's own numbers.
    """
    own = code - 0xF000 if 0xF000 <= code < 0xF100 else code
    for start, chars in _FONTS.get(font.lower(), {}).items():
        if start <= own < start + len(chars):
            return chars[own - start]
    if font.lower() in _FONTS or not 32 <= code < 0xD800:
        return f"[symbol {code:04X} of the font {font or 'that is not named'}]"
    return chr(code)
