import csv as standard
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import FIXTURES, extract, read

from agenvoy.errors import AgenvoyError
from agenvoy.readers.dialect import detect, fields


def put(tmp_path, data, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("text", "delimiter", "columns"),
    [
        ("id;ok;a;b\n1;True;['3'];['10']\n2;True;['5', '6'];['7', '8']\n", ";", 4),
        ('Last;First;Year\n"\tRoe;Ann"\t;1971\nPoe;Bo;1980\n', ";", 3),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";", 2),
        ("name,said\nAda,\"one; two; three\"\nBob,\"four; five\"\n", ",", 2),
        ("a\tb\tc\n1,2\t3\t4\n", "\t", 3),
        ("a|b\n1|2\n", "|", 2),
        ("at,what\n10:30:00,in\n11:45:00,out\n", ",", 2),
        ("one\ntwo\nthree\n", "", 1),
        ("", "", 1),
    ],
)  # fmt: skip
def test_the_delimiter_is_the_one_that_makes_a_table(text, delimiter, columns):
    found = detect(text, True)
    assert (found.delimiter, found.columns) == (delimiter, columns)


def test_the_dialect_is_told():
    got = read(FIXTURES / "csv/orders.csv")
    assert {k: got.extra[k] for k in ("delimiter", "quote", "columns", "header")} == {
        "delimiter": ";", "quote": '"', "columns": 3, "header": True,
    }  # fmt: skip


def test_a_row_is_a_record_even_over_several_lines(tmp_path):
    got = read(put(tmp_path, 'a,b\n1,"x\ny\n\nz"\n2,w\n'))
    assert got.total == 3 and got.text == '1\ta,b\n2\t1,"x\ny\n\nz"\n3\t2,w'


def test_the_header_comes_with_every_page(tmp_path):
    path = put(tmp_path, "id,name\n" + "".join(f"{n},row {n}\n" for n in range(1, 100)))
    got = read(path, offset=50, limit=2)
    assert got.text.split("\n")[:4] == ["1\tid,name", "...", "50\t49,row 49", "51\t50,row 50"]
    assert (got.first, got.last, got.next_offset) == (50, 51, 52)


def test_a_table_without_a_header_repeats_none(tmp_path):
    path = put(tmp_path, "".join(f"{n},{n * n}\n" for n in range(100)))
    assert read(path, offset=50, limit=1).text.split("\n")[0] == "50\t49,2401"


def test_a_quote_that_never_closes_costs_no_rows(tmp_path):
    got = read(put(tmp_path, 'a,b\n1,"open\n' + "2,x\n" * 3000))
    assert got.total == 3002


def test_an_inch_mark_is_just_a_character(tmp_path):
    assert read(put(tmp_path, 'size,n\n5" pipe,1\n6" pipe,2\n')).total == 3


def test_long_and_short_rows_stay_as_they_are(tmp_path):
    assert read(put(tmp_path, "a,b\n1,2,3,4\n5\n")).text == "1\ta,b\n2\t1,2,3,4\n3\t5"


def test_records_with_more_or_fewer_fields_than_the_others_are_told(tmp_path):
    path = put(tmp_path, "a,b,c\n" + "1,2,3\n" * 5000 + "1,2,3,4,5\n1\n")
    assert "ragged" not in read(path, limit=100).extra
    late = read(path, offset=5000)
    assert late.extra["columns"] == 3 and late.extra["ragged"] == [1, 5]


def test_a_table_behind_a_long_preamble_has_its_dialect(tmp_path):
    path = put(tmp_path, "a line of words\n" * 20_000 + 'x;1;"two\nlines"\n' * 20_000)
    got = read(path, offset=30_000, limit=1)
    assert got.extra["delimiter"] == ";" and got.total == 40_000 and "two\nlines" in got.text


def test_nul_in_a_table_is_shown_and_costs_nothing_else(tmp_path):
    got = read(put(tmp_path, b'id,name\n1,An\0na\n2,"B\no"\n'))
    assert got.kind == "csv" and got.total == 3 and got.text == '1\tid,name\n2\t1,An␀na\n3\t2,"B\no"'
    assert "An␀na" in extract(put(tmp_path, b"id,name\n1,An\0na\n2,Bo\n")).units[1]


def test_bytes_under_the_name_of_a_table_stay_binary(tmp_path):
    for data in (bytes(100), bytes(range(256)) * 8, b"\x7fELF" + bytes(50), b"a\0b\0\0\0" * 50):
        with pytest.raises(AgenvoyError) as error:
            read(put(tmp_path, data))
        assert error.value.code == "binary_file"


def test_the_mark_of_utf8_is_no_part_of_the_first_name(tmp_path):
    got = read(put(tmp_path, b"\xef\xbb\xbfid,n\r\n1,2\r\n"))
    assert got.text == "1\tid,n\n2\t1,2" and (got.encoding, got.newline) == ("utf-8-sig", "crlf")


def test_a_stray_byte_is_shown_as_such_and_not_as_a_newline(tmp_path):
    got = read(put(tmp_path, "né,ü,é,ö\n".encode() + b"1,\xff,3,4\n"))
    assert got.total == 2 and "\ufffd" in got.text


def test_the_last_page_of_20000_rows_is_quick(tmp_path):
    path = put(tmp_path, "id,text\n" + "".join(f'{n},"a, ""quoted"" text"\n' for n in range(20_000)))
    begun = time.monotonic()
    got = read(path, offset=19_990)
    assert got.total == 20_001 and time.monotonic() - begun < 2


@given(st.lists(st.lists(st.text('ab,;"\n é', max_size=8), min_size=2, max_size=4), min_size=1, max_size=8))
def test_records_and_fields_are_what_a_writer_wrote(tmp_path_factory, table):
    out = io.StringIO()
    standard.writer(out, lineterminator="\n").writerows(table)
    path = put(tmp_path_factory.mktemp("t"), out.getvalue())
    units = extract(path).units
    if detect(out.getvalue(), True).delimiter == ",":
        assert [fields(unit, ",") for unit in units] == table
