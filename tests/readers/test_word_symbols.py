"""Characters of symbol fonts in Word documents: as Unicode where that is known, and never silently left out."""

import pytest
from reading import read
from test_limits import document

from agenvoy.readers.symbols import symbol


@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Symbol", "F061", "α"), ("Symbol", "F0B3", "≥"), ("Symbol", "0057", "Ω"), ("Wingdings", "F0FC", "✓"),
        ("Wingdings", "F0E0", "→"), ("Wingdings 2", "F052", "☑"), ("Calibri", "00E9", "é"),
        ("Wingdings", "F0D5", "[symbol F0D5 of the font Wingdings]"),
        ("Some Icons", "F101", "[symbol F101 of the font Some Icons]"), ("Symbol", "?", "[a symbol without a number]"),
    ],
)  # fmt: skip
def test_a_symbol_is_its_character_or_a_marker(tmp_path, font, code, shown):
    got = read(document(tmp_path, [f'<w:p><w:r><w:sym w:font="{font}" w:char="{code}"/></w:r></w:p>']))
    assert got.text == f"1\t{shown}"


def test_no_code_of_any_font_is_lost():
    for font in ("Symbol", "Wingdings", "Wingdings 2", "Webdings", ""):
        for code in range(0x10FFF):
            assert symbol(font, code)
