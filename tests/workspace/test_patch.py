import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.errors import AgenvoyError
from agenvoy.workspace.patch import PATCH_BYTES, apply_patch, encode_write


def patch(data: bytes, *targets: tuple[str, str], every: bool = False) -> bytes:
    wanted = [{"old_string": old, "new_string": new, "replace_all": every} for old, new in targets]
    return apply_patch(data, wanted, "f").data


def refused(data: bytes, *targets: tuple[str, str], every: bool = False) -> AgenvoyError:
    with pytest.raises(AgenvoyError) as caught:
        patch(data, *targets, every=every)
    return caught.value


@pytest.mark.parametrize(
    ("data", "old", "new", "want"),
    [
        (b"def f():\r\n    a = 1\r\n    b = 2\r\n", "    a = 1\n    b = 2", "    a = 10\n    b = 20",
         b"def f():\r\n    a = 10\r\n    b = 20\r\n"),
        (b"north\nsouth\r\nwest\n", "north\nsouth", "north\nSOUTH", b"north\nSOUTH\r\nwest\n"),
        (b"north\nSOUTH\r\nwest\n", "SOUTH\nwest", "SOUTH\nWEST", b"north\nSOUTH\r\nWEST\n"),
        (b"north\nSOUTH\r\nwest\n", "SOUTH\nwest", "S\nW", b"north\nS\r\nW\n"),
        (b"one\r\ntwo\r\nthree\r\n", "two\n", "two\nextra\n", b"one\r\ntwo\r\nextra\r\nthree\r\n"),
        (b"one\r\nthree\r\n", "three\n", "three\r\nfour\r\n", b"one\r\nthree\r\nfour\r\n"),
        (b"one\r\ntwo", "two", "two\nthree", b"one\r\ntwo\r\nthree"),
        (b"a\rb\rc", "a\nb", "a\nx\nb", b"a\rx\rb\rc"),
        (b"a\nb\r\n", "b", "b\nc", b"a\nb\r\nc\r\n"),
        (b"a\nb\r\n", "a", "a\nc", b"a\nc\nb\r\n"),
        (b"lone\rcr\nx\n", "x", "y", b"lone\rcr\ny\n"),
        (b"a", "a", "a\r\nb", b"a\nb"),
    ],
)  # fmt: skip
def test_newlines_follow_the_place_where_they_go(data, old, new, want):
    assert patch(data, (old, new)) == want


def test_replace_all_matches_across_crlf():
    data = b"k\r\nv\r\n--\r\nk\r\nv\r\n"
    result = apply_patch(data, [{"old_string": "k\nv", "new_string": "K\nV", "replace_all": True}], "f")
    assert (result.data, result.replacements) == (b"K\r\nV\r\n--\r\nK\r\nV\r\n", 2)


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE])
def test_mark_and_encoding_stay(bom):
    encoding = {3: "utf-8", 2: "utf-16-le" if bom == codecs.BOM_UTF16_LE else "utf-16-be", 4: "utf-32-le"}[len(bom)]
    data = bom + "Key=ä😀\r\nVal=1\r\n".encode(encoding)
    assert patch(data, ("Val=1", "Val=ß2")) == bom + "Key=ä😀\r\nVal=ß2\r\n".encode(encoding)
    assert patch(data, ("\ufeffKey", "key")) == bom + "key=ä😀\r\nVal=1\r\n".encode(encoding)


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\n# caf\xe9 note\n",
        b"x = 1\n# caf\xc3\xa9 caf\xc3\xa9 caf\xc3\xa9 na\xefve\n",
        b"price \x80 5 \x99\nx = 1\nna\xefve caf\xe9 r\xe9sum\xe9\n",
        "中文文件内容测试,这是第一行。\nx = 1\n这是第三行,也是最后一行。\n".encode("gbk"),
        "日本語のテキスト\nx = 1\n設定ファイルです\n".encode("shift_jis"),
        b"x = 1\n" + "Привет, мир".encode("koi8-r"),
        "zwei\r\nx = 1\r\nß\r\n".encode("utf-16-le"),
    ],
)
def test_other_bytes_stay_whatever_the_encoding(data):
    wide = b"\0" in data
    old, new = ("x = 1".encode("utf-16-le"), "x = 22".encode("utf-16-le")) if wide else (b"x = 1", b"x = 22")
    assert patch(data, ("x = 1", "x = 22")) == data.replace(old, new)


def test_text_that_the_encoding_cannot_hold_is_refused():
    error = refused(b"x = 1\n# caf\xe9 note\n", ("x = 1", "x = 語"))
    assert error.code == "encoding_mismatch"
    assert "語" in error.message
    assert refused(b"x = 1\n", ("x", "\ud83d")).code == "encoding_mismatch"


CURLY = 'We don’t stop.\nShe said “yes”.\nplain "q"\n'.encode()


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        ("don't stop", "don't ever stop", "We don’t ever stop."),
        ('She said "yes".', 'She said "no".', "She said “no”."),
        ('"yes"', '"no" or "it\'s me"', "“no” or “it's me”"),
        ("plain “q”", "plain “r” “s”", 'plain "r" "s"'),
    ],
)
def test_quotes_of_another_style_match_and_the_new_text_takes_it(old, new, want):
    assert want in patch(CURLY, (old, new)).decode()


def test_an_exact_match_goes_before_quotes_of_another_style():
    data = 'x = “a”\nx = "a"\n'.encode()
    assert patch(data, ('x = "a"', 'x = "b"')) == 'x = “a”\nx = "b"\n'.encode()
    assert patch(b"say '%s' now\n", ("'%s'", "‘%s’")) == "say ‘%s’ now\n".encode()
    assert refused(CURLY, ("DON'T", "x")).code == "anchor_not_found"
    assert refused("a ‘b’\n".encode(), ("’b‘", "c")).code == "anchor_not_found"


@pytest.mark.parametrize(
    ("data", "targets", "code"),
    [
        (b"a\n", [], "invalid_arguments"),
        (b"a\n", [("", "x")], "invalid_arguments"),
        (b"a\n", [("a", "a")], "no_change"),
        (b"a\r\nb", [("a\nb", "a\r\nb")], "no_change"),
        (b"abc\n", [("x", "y")], "anchor_not_found"),
        (b"aXa\n", [("a", "y")], "anchor_ambiguous"),
        (b"aaa\n", [("aa", "y")], "anchor_ambiguous"),
        (b"abcd\n", [("abc", "X"), ("bcd", "Y")], "targets_conflict"),
        (b"ab\n", [("a", "x"), ("ab", "y")], "targets_conflict"),
        (b"a b\n", [("a", "b"), ("b", "c")], "targets_conflict"),
        (b"all\n", [("all\n", "")], "would_empty"),
        (b"\xef\xbb\xbfall", [("all", "")], "would_empty"),
        (b"BIN\x00\x01" * 10, [("BIN", "x")], "binary_file"),
        (b"x" * (PATCH_BYTES + 1), [("x", "y")], "too_large"),
        (b"", [("x", "y")], "anchor_not_found"),
    ],
)
def test_each_fault_has_its_code(data, targets, code):
    assert refused(data, *targets).code == code


def test_targets_are_located_in_the_original_and_may_touch():
    assert patch(b"abcd\n", ("cd", "2"), ("ab", "1")) == b"12\n"
    assert patch(b"a1b1\n", ("1", "2"), every=True) == b"a2b2\n"
    assert patch(b"aaaa\n", ("aa", "b"), every=True) == b"bb\n"


@pytest.mark.parametrize("new", ["$1", "\\1", "&", "\\g<0>", "%s {0}", "$&\\n"])
def test_replacement_text_is_literal(new):
    assert patch(b"a b\n", ("b", new)) == b"a " + new.encode() + b"\n"


def test_an_ambiguous_anchor_names_its_rows():
    error = refused(b"x\ny\nx\n", ("x", "z"))
    assert "rows 1, 3" in error.message
    assert error.details["rows"] == [1, 3]


@pytest.mark.parametrize(
    ("data", "old", "hint"),
    [
        (b"one\ntwo\n", "2\ttwo", "row numbers"),
        (b"Total = 1\n", "total = 1", "case"),
        ("cafe\u0301\n".encode(), "caf\u00e9", "NFC"),
        ("a\u00a0b\n".encode(), "a b", "spaces"),
        (b"\tindent\n", "    indent", "spaces"),
        (b"a  \nb\n", "a\nb", "line ends"),
        (b"say hi\n", "say hi\\n", "escaped"),
        ("zero\u200bwidth\n".encode(), "zerowidth", "seen"),
    ],
)
def test_a_missing_anchor_says_what_differs(data, old, hint):
    error = refused(data, (old, "x"))
    assert error.code == "anchor_not_found"
    assert hint in error.hint
    assert error.details["nearest"]


def test_a_missing_anchor_names_the_nearest_rows():
    error = refused(b"alpha\ndef compute(value):\n    return 1\n", ("def compute(values):\n", "x"))
    assert "2\tdef compute(value):" in error.message
    assert "around=2" in error.hint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("two", "2\tTWO"),
        ("two\nthree", "2\tTWO\n3\tTHREE\n"),
        ("two\nthree", "2\tTWO\n...\n9\tTHREE"),
        ("three", "[lines 1-3 of 9; call again with offset=4 for more]"),
        ("three", "3\n[lines 1-3 of 9]\n"),
        ("three", "x [files 1-3 of 9; last page]"),
        ("three", "File withheld: it seems to have nothing to do with the task"),
        ("three", "aaa [row cut: 10 of 99 bytes shown]"),
    ],
)
def test_stand_ins_are_no_content(old, new):
    assert refused(b"one\ntwo\nthree\n", (old, new)).code == "placeholder_content"


def test_stand_ins_that_stand_there_already_are_the_files_own():
    assert patch(b"1\tAnn\n2\tBob\n", ("2\tBob", "2\tRob")) == b"1\tAnn\n2\tRob\n"
    assert patch(b"1\tCleo\n", ("Cleo", "Cleopatra\t9")) == b"1\tCleopatra\t9\n"
    note = b"[lines 1-3 of 9; call again with offset=4 for more]\n"
    assert patch(b"a\n" + note, ("a\n" + note.decode(), "b\n" + note.decode())) == b"b\n" + note


@given(st.text("ab\n", min_size=1, max_size=40), st.integers(0, 39), st.integers(1, 5), st.text("xy\n", max_size=5))
def test_only_the_matched_span_changes(text, start, length, new):
    old = text[start : start + length]
    if not old or old == new or len([i for i in range(len(text)) if text.startswith(old, i)]) != 1:
        return
    want = text[: text.index(old)] + new + text[text.index(old) + len(old) :]
    if not want:
        return
    for encoding, bom in (("utf-8", b""), ("utf-16-le", codecs.BOM_UTF16_LE)):
        assert patch(bom + text.encode(encoding), (old, new)) == bom + want.encode(encoding)
        crlf = text.replace("\n", "\r\n")
        if "\n" in text:
            got = patch(bom + crlf.encode(encoding), (old, new))
            assert got == bom + want.replace("\n", "\r\n").encode(encoding)


def test_a_written_file_keeps_encoding_and_mark():
    assert encode_write("\ufeffZ\n", codecs.BOM_UTF8 + b"a\n", "f") == codecs.BOM_UTF8 + b"Z\n"
    assert encode_write("Z\n", codecs.BOM_UTF16_LE + b"a\0", "f") == codecs.BOM_UTF16_LE + b"Z\0\n\0"
    assert encode_write("é\n", b"caf\xe9\n", "f") == b"\xe9\n"
    assert encode_write("é\r\n", None, "f") == "é\r\n".encode()
    assert encode_write("é", b"BIN\0\1", "f") == "é".encode()
    with pytest.raises(AgenvoyError) as caught:
        encode_write("語\n", b"caf\xe9\n", "f")
    assert caught.value.code == "encoding_mismatch"


def test_a_pasted_read_is_not_written_but_a_numbered_table_is():
    pasted = "1\tone\n2\ttwo\n"
    with pytest.raises(AgenvoyError) as caught:
        encode_write(pasted, b"one\ntwo\n", "f.py")
    assert caught.value.code == "placeholder_content"
    assert encode_write(pasted, None, "t.tsv") == pasted.encode()
    assert encode_write(pasted, b"1\told\n", "data") == pasted.encode()
    assert encode_write("10\ta\n7\tb\n", None, "data") == b"10\ta\n7\tb\n"
    with pytest.raises(AgenvoyError):
        encode_write("a\n[lines 1-1 of 2; call again with offset=2 for more]\n", None, "f")
