import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy import textual

SAMPLES = {
    "cp1251": "Привет, мир! Это проверка кодировки.",
    "koi8-r": "Привет, мир! Это проверка кодировки.",
    "cp866": "Однажды, в студеную зимнюю пору я из лесу вышел.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "cp1252": "El Niño está aquí, ¿qué pasó? “Señor”",
    "cp1253": "Καλημέρα κόσμε, τι κάνεις σήμερα",
    "cp1254": "Merhaba dünya, bugün hava çok güzel değil mi? Işık şöyle",
    "cp1255": "שלום עולם, מה שלומך היום",
    "cp1256": "مرحبا بالعالم كيف حالك اليوم",
    "cp1257": "Ąžuolas ėjo į šilą su žvirbliu",
    "shift_jis": "こんにちは世界。これはテストです。",
    "euc-jp": "日本語のテキストファイルです。",
    "gb18030": "中文文件内容测试,这是第一行。",
    "big5": "繁體中文測試,這是第一行。",
    "euc-kr": "한국어 텍스트입니다. 안녕하세요",
    "utf-16-le": "plain text\r\nПривет\r\n",
    "utf-16-be": "plain text\n中文测试\n",
    "mac-roman": "naïve café résumé déjà vu",
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_a_text_is_recognised_by_its_language(encoding):
    data = SAMPLES[encoding].encode(encoding)
    form = textual.sniff(data, True)
    assert form is not None
    assert form.encoding == encoding
    assert textual.decode(data, form) == SAMPLES[encoding]
    assert textual.encode(SAMPLES[encoding], form) == data


@pytest.mark.parametrize("encoding", SAMPLES)
@pytest.mark.parametrize("cut", [1, 2, 3, 5])
def test_a_cut_character_never_makes_a_text_binary(encoding, cut):
    data = (SAMPLES[encoding] * 3).encode(encoding)
    form = textual.sniff(data[:-cut], False)
    assert form is not None
    assert form.encoding == encoding


@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_mark_decides_and_is_no_part_of_the_text(bom, encoding):
    data = bom + "Привет\n".encode(encoding)
    form = textual.sniff(data, True)
    assert form is not None
    assert (form.encoding, form.bom) == (encoding, bom)
    assert textual.decode(data, form) == "Привет\n"
    assert textual.to_utf8(data, form) == "Привет\n".encode()


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 8,
        b"BIN\x00\x01" * 10,
        b"target\x00\x01\x02\xff\n" * 20,
        bytes(range(1, 256)) * 4,
        b"\x01\x00\x02\x00\x03\x00",
        bytes(range(1, 32)) * 3,
        b"%PDF-1.4\n%text only",
        b"\x89PNG\r\n\x1a\n",
    ],
)
def test_binary_is_no_text(data):
    assert textual.sniff(data, True) is None


def test_a_nul_after_8_kib_is_text_still():
    assert textual.sniff(b"a" * 8192 + b"\0", True) is not None
    assert textual.sniff(b"a" * 8191 + b"\0", True) is None


def test_a_few_stray_bytes_leave_a_text_utf8_and_survive_the_round_trip():
    data = "añejo – über\n".encode() * 3 + b"caf\xe9\n"
    form = textual.sniff(data, True)
    assert form is not None
    assert (form.encoding, form.errors) == ("utf-8", "surrogateescape")
    assert textual.to_utf8(data, form) == data
    assert textual.printable(textual.decode(data, form)).endswith("caf\ufffd\n")


def test_one_damaged_character_does_not_change_the_language():
    data = "日本語のテキストファイルです。\n".encode("shift_jis") * 20 + b"\x81\n"
    form = textual.sniff(data, True)
    assert form is not None
    assert form.encoding in ("shift_jis", "cp932")
    assert textual.decode(data, form).startswith("日本語のテキスト")


def test_what_an_encoding_cannot_hold_is_named():
    with pytest.raises(textual.Unencodable, match="cp1252 cannot hold '語'"):
        textual.encode("a€語b", textual.TextForm("cp1252", b"", "lf"))


def test_a_text_whose_accents_come_late_is_judged_by_them():
    data = b"plain ascii\n" * 20_000 + "Привет, мир! Это проверка.\n".encode("koi8-r")
    form = textual.sniff(data, True)
    assert form is not None
    assert form.encoding == "koi8-r"


@pytest.mark.parametrize(
    ("data", "style"),
    [(b"a\nb", "lf"), (b"a\r\nb", "crlf"), (b"a\rb", "cr"), (b"a\r\nb\n", "mixed"), (b"ab", "none"), (b"a\rb\n", "lf")],
)
def test_the_newline_style_is_told(data, style):
    form = textual.sniff(data, True)
    assert form is not None
    assert form.newline == style


def test_only_lf_crlf_and_lone_cr_end_rows():
    assert textual.rows("a\u2028b\x85c\vd\fe\nf\rg\r\nh") == [
        ("a\u2028b\x85c\vd\fe", "\n"),
        ("f\rg", "\r\n"),
        ("h", ""),
    ]
    assert textual.rows("a\rb\r") == [("a", "\r"), ("b", "\r")]
    assert textual.rows("") == []


@given(st.text(alphabet="ab\r\n\u2028\f", max_size=30))
def test_rows_joined_are_the_text(text):
    assert "".join(line + newline for line, newline in textual.rows(text)) == text


@given(st.text(max_size=60))
def test_utf8_text_round_trips(text):
    data = text.encode()
    form = textual.sniff(data, True)
    if form is not None and form.encoding == "utf-8":
        assert form.bom + textual.encode(textual.decode(data, form), form) == data


@given(st.binary(max_size=200), st.lists(st.integers(1, 20), min_size=1))
def test_a_stream_gives_the_same_whatever_the_blocks(data, sizes):
    form = textual.sniff(data, True)
    if form is None or form.errors != "strict" or form.encoding != "utf-8":
        return
    stream, out, at = textual.Utf8Stream(form), b"", 0
    while at < len(data):
        size = sizes[at % len(sizes)]
        out += stream.feed(data[at : at + size])
        at += size
    out += stream.feed(b"", final=True)
    assert out == textual.to_utf8(data, form)
    assert stream.better is None
    assert (stream.lf, stream.crlf) == (out.count(b"\n"), len(re.findall(b"\r\n", out)))


def test_a_stream_that_stops_being_ascii_takes_another_look():
    stream = textual.Utf8Stream(textual.TextForm("utf-8", b"", "lf"))
    stream.feed(b"plain\n" * 10)
    stream.feed("Привет, мир! Это проверка.\n".encode("cp1251"))
    assert stream.better is not None
    assert stream.better.encoding == "cp1251"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\x7fELF", "an ELF program"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"RIFF\0\0\0\0WAVE", "a WAV audio file"),
        (b"\0\0\0 ftypisom\0\0\2\0", "an MP4 or QuickTime file"),
        (b"??", "binary data"),
    ],
)
def test_binary_is_named(head, words):
    assert textual.looks_like(head) == words


@pytest.mark.parametrize("text", ["BZh is a magic\n", "ID3 tags\n", "FORM of address\n", "the ftyp box\n", "BM\n"])
def test_words_that_look_like_magic_are_text(text):
    assert textual.sniff(text.encode(), True) is not None
