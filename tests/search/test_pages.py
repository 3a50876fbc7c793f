"""Pages cover every result once, and their last line says where to go on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agenvoy.search.pages import Page, footer


@given(st.integers(0, 60), st.integers(1, 20))
def test_following_the_pages_gives_every_result_once(total: int, limit: int) -> None:
    got: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = Page(offset, limit)
        for number in range(total):
            if page.takes():
                got.append(number)
            page.seen += 1
        offset = page.next_offset(complete=True)
    assert got == list(range(total))


def test_a_search_cut_short_goes_on_behind_what_it_gave() -> None:
    assert Page(0, 10, seen=4).next_offset(complete=False) == 4
    assert Page(0, 10, seen=40).next_offset(complete=False) == 10
    assert Page(20, 10, seen=4).next_offset(complete=False) == 20


def test_the_footer_names_the_page_and_the_next_call() -> None:
    assert footer("files", 7, 7, 30, 14) == "[files 8-14 of 30; call again with offset=14 for more]"
    assert footer("files", 28, 2, 30, None) == "[files 29-30 of 30; last page]"
    assert footer("lines", 0, 0, 0, None) == "[lines 0-0 of 0; last page]"
    assert "larger timeout_s" in footer("files", 0, 4, 4, 4, complete=False)
