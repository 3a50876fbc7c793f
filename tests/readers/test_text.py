import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenvoy import textual
from agenvoy.errors import AgenvoyError
from agenvoy.readers import reader_for
from agenvoy.readers.base import BLOCK, Reading, Source, Wish
from agenvoy.readers.picking import RowPicker


def read(path, **wish) -> Reading:
    seen: list[bytes] = []
    fd = os.open(path, os.O_RDONLY)
    try:
        source = Source.open(fd, path.name, seen.append)
        reader = reader_for("text")
        assert reader is not None
        reading = reader.read(source, Wish(**wish))
        source.drain()
    finally:
        os.close(fd)
    assert b"".join(seen) == path.read_bytes()
    return reading


def put(tmp_path, data: bytes):
    path = tmp_path / "f"
    path.write_bytes(data)
    return path


def rows(reading: Reading) -> list[str]:
    return reading.text.split("\n")


def test_rows_are_numbered_and_the_last_needs_no_newline(tmp_path):
    got = read(put(tmp_path, b"uno\ndue\r\ntre"))
    assert got.text == "1\tuno\n2\tdue\n3\ttre"
    assert (got.total, got.first, got.last, got.next_offset, got.newline) == (3, 1, 3, None, "mixed")


def test_a_cut_read_ends_with_the_next_offset(tmp_path):
    path = put(tmp_path, b"l\n" * 10)
    got = read(path, offset=3, limit=2)
    assert rows(got) == ["3\tl", "4\tl", "[lines 3-4 of 10; call again with offset=5 for more]"]
    assert got.next_offset == 5
    assert read(path, offset=9, limit=2).text == "9\tl\n10\tl"


def test_a_cr_only_file_is_read_row_by_row(tmp_path):
    got = read(put(tmp_path, b"a\rb\rc"))
    assert (got.total, got.newline, rows(got)[1]) == (3, "cr", "2\tb")
    assert read(put(tmp_path, b"a\rb\nc")).total == 2


def test_an_empty_file_is_no_error(tmp_path):
    for data in (b"", b"\xef\xbb\xbf"):
        got = read(put(tmp_path, data))
        assert (got.total, got.next_offset) == (0, None)
        assert "empty" in got.text


@pytest.mark.parametrize(
    "wish",
    [
        {"offset": 0},
        {"offset": -1},
        {"offset": 4},
        {"limit": 0},
        {"around": [4]},
        {"around": [0]},
        {"around": [1], "context": -1},
    ],
)
def test_what_the_file_does_not_have_is_refused_with_its_total(tmp_path, wish):
    with pytest.raises(AgenvoyError) as caught:
        read(put(tmp_path, b"a\nb\nc\n"), **wish)
    assert caught.value.code == "invalid_arguments"
    assert "3 rows" in caught.value.message


def test_around_merges_what_overlaps_and_shows_gaps(tmp_path):
    path = put(tmp_path, b"".join(b"r%d\n" % n for n in range(1, 21)))
    got = read(path, around=[3, 2, 15], context=1, offset=99)
    assert rows(got) == ["1\tr1", "2\tr2", "3\tr3", "4\tr4", "...", "14\tr14", "15\tr15", "16\tr16"]
    assert read(path, around=[7], context=0).text == "7\tr7"


def test_at_most_2048_rows_a_call(tmp_path):
    got = read(put(tmp_path, b"x\n" * 5000), limit=4000)
    assert (got.last, got.next_offset) == (2048, 2049)


def test_text_stops_at_the_cap_before_a_row_that_does_not_fit(tmp_path):
    path = put(tmp_path, b"a" * 600 + b"\n" + b"b" * 600 + b"\nc\n")
    first = read(path, max_bytes=1024)
    assert (first.last, first.next_offset) == (1, 2)
    assert read(path, max_bytes=1024, offset=2).last == 3


def test_a_row_longer_than_the_cap_is_cut_at_a_character_and_reading_goes_on(tmp_path):
    path = put(tmp_path, "é".encode() * 2000 + b"\nlast\n")
    got = read(path, max_bytes=1025)
    assert "\ufffd" not in got.text
    assert "of 4000 bytes shown]" in got.text
    assert len(got.text.encode()) <= 1025
    assert read(path, max_bytes=1025, offset=got.next_offset).text == "2\tlast"


def test_following_the_offsets_gives_every_row_once(tmp_path):
    path = put(tmp_path, b"".join(b"%d" % n * (n % 50 + 1) + b"\r\n" for n in range(3000)))
    lines, offset = [], 1
    while offset:
        got = read(path, offset=offset, max_bytes=9000)
        lines += [row.split("\t")[1] for row in rows(got) if "\t" in row]
        offset = got.next_offset
    assert lines == [str(n) * (n % 50 + 1) for n in range(3000)]


def test_a_file_of_many_blocks_is_paged_in_any_encoding(tmp_path):
    text = "".join(f"{n} Привет, мир\n" for n in range(90000))
    for encoding in ("utf-8", "cp1251", "utf-16-le"):
        got = read(put(tmp_path, text.encode(encoding)), offset=80001, limit=1)
        assert text.encode(encoding)[BLOCK:]
        assert (got.encoding, got.total, rows(got)[0]) == (encoding, 90000, "80001\t80000 Привет, мир")


def test_bytes_that_are_no_utf8_far_down_are_read_in_their_encoding(tmp_path):
    data = b"plain\n" * 400_000 + "Größe: süß\n".encode("cp1252")
    got = read(put(tmp_path, data), offset=400_001)
    assert (got.encoding, got.text) == ("cp1252", "400001\tGröße: süß")


@given(st.text("ab\n\r", max_size=60), st.integers(1, 8), st.integers(1, 9))
@settings(max_examples=300)
def test_a_picker_agrees_with_the_plain_way(text, size, offset):
    mark = b"\n" if "\n" in text else b"\r"
    lines = [line.encode() for line, _ in textual.rows(text)]
    picker = RowPicker([(offset, offset + 2)], mark, 100, 10_000)
    for at in range(0, len(text), size):
        picker.feed(text.encode()[at : at + size])
    assert picker.finish() == len(lines)
    want = [(n, line) for n, line in enumerate(lines, 1) if offset <= n <= offset + 2]
    assert [(row.number, row.line) for row in picker.rows] == want
