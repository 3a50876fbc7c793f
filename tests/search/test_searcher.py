"""Rows are found, numbered and cut as the reader shows them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.search.matcher import Matcher
from agenvoy.search.searcher import Found, Piece, Wanted, search


def never() -> bool:
    return False


def find(
    data: bytes | list[Piece], *patterns: str, multiline: bool = False, context: int = 0, last: int = 1000
) -> Found:
    pieces = [Piece(data)] if isinstance(data, bytes) else data
    return search(pieces, [Matcher(p, multiline=multiline) for p in patterns], Wanted(0, last, context), never)


def shown(found: Found) -> list[tuple[int, str]]:
    return [(row.line, row.text) for row in found.rows]


def test_the_end_of_a_line_is_where_its_line_feed_is() -> None:
    assert shown(find(b"one\ntwo\n", "^one$")) == [(1, "one")]


@pytest.mark.parametrize("pattern", ["^", "$", "^$", "x*"])
def test_behind_the_last_line_feed_there_is_no_row(pattern: str) -> None:
    assert find(b"a\n", pattern).count == (0 if pattern == "^$" else 1)
    assert find(b"", pattern).count == 0


def test_an_unterminated_last_row_counts() -> None:
    assert shown(find(b"a\nb", "b$")) == [(2, "b")]


def test_two_matches_in_a_row_are_one_hit_and_two_patterns_too() -> None:
    found = find(b"aa b\nb\n", "a", "b")
    assert (found.count, found.lines) == (2, [1, 2])


def test_a_match_across_lines_reports_every_line_that_it_covers() -> None:
    assert find(b"x\na\nb\nc\n", "a.*c", multiline=True).lines == [2, 3, 4]
    assert find(b"a\nb\n", "a\\n", multiline=True).lines == [1]
    assert find(b"a b\nc a\nb\n", "a[^a]b", multiline=True).lines == [1, 2, 3]


def test_a_long_line_is_cut_around_its_match_between_characters() -> None:
    row = find(("é" * 300 + "needle" + "漢" * 300).encode(), "needle").rows[0]
    assert row.cut and row.text.startswith("…é") and row.text.endswith("漢…") and "needle" in row.text
    assert len(row.text.strip("…").encode()) <= 512


def test_neighbours_are_marked_and_never_doubled() -> None:
    text = b"".join(b"hit\n" if i in (4, 6) else b"%d\n" % i for i in range(1, 10))
    rows = find(text, "hit", context=2).rows
    assert [(r.line, r.context) for r in rows] == [
        (2, True), (3, True), (4, False), (5, True), (6, False), (7, True), (8, True),
    ]  # fmt: skip


def test_a_row_longer_than_a_piece_is_one_row() -> None:
    pieces = [
        Piece(b"1\n2\n"),
        Piece(b"xx hit xx", open_end=True),
        Piece(b"hit xx hit", True, True),
        Piece(b" hit\nhit\n", True),
    ]
    found = find(pieces, "hit")
    assert (found.count, found.lines) == (2, [3, 4])
    assert find(pieces, "^hit").lines == [4]
    assert find(pieces, "xx$").count == 0


def test_the_lines_of_hits_are_counted_but_only_those_on_the_page_are_shown() -> None:
    found = search([Piece(b"h\n" * 100)], [Matcher("h")], Wanted(10, 12), never)
    assert (found.count, [r.line for r in found.rows], found.lines) == (100, [11, 12], [1, 2, 3, 4, 5])


def test_without_time_what_was_found_is_kept() -> None:
    found = search([Piece(b"h\n" * 10_000)], [Matcher("h")], Wanted(0, 3), lambda: True)
    assert not found.complete
    assert 0 < found.count < 10_000
    assert len(found.rows) == 3


LINES = st.lists(st.text("ab x", max_size=6), max_size=25)


@given(LINES, st.sampled_from(["a", "^b", "x$", "^$", "a.b", " +", "[^a]"]), st.integers(0, 3), st.data())
def test_pieces_make_no_difference(lines: list[str], pattern: str, context: int, data: st.DataObject) -> None:
    whole = "".join(line + "\n" for line in lines)
    cut = data.draw(st.integers(0, len(lines)))
    head = "".join(line + "\n" for line in lines[:cut])
    halves = [Piece(p.encode()) for p in (head, whole[len(head) :]) if p]
    one, two = find(whole.encode(), pattern, context=context), find(halves, pattern, context=context)
    assert (one.count, one.lines, one.rows) == (two.count, two.lines, two.rows)
    expected = [n for n, line in enumerate(lines, 1) if re.search(pattern, line)]
    assert [r.line for r in one.rows if not r.context] == expected
    near = {m for n in expected for m in range(n - context, n + context + 1) if 1 <= m <= len(lines)}
    assert {r.line for r in one.rows} == near
