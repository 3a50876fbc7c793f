"""Pages over a fixed order of results: which ordinals are on a page, and the line that tells where the next one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agenvoy.search.searcher import Wanted

Unit = Literal["files", "lines"]


@dataclass(slots=True)
class Page:
    """A page that is being filled.

    Args:
        offset: results ahead of the page.
        limit: most results on it.
        seen: results met so far, on the page or not.
    """

    offset: int
    limit: int
    seen: int = 0

    def takes(self) -> bool:
        """Whether the next result is on the page."""
        return self.offset <= self.seen < self.offset + self.limit

    def wanted(self, context: int) -> Wanted:
        """Which of the next text's rows are on the page, counted from its own first hit."""
        return Wanted(max(self.offset - self.seen, 0), max(self.offset + self.limit - self.seen, 0), context)

    def next_offset(self, complete: bool) -> int | None:
        """The offset of the next page.

        None where there is none. Where the search ran out of time it is never None: the results met so far are the
        first ones of the whole order, so the next page begins behind those on this page, and nothing is missed.
        """
        end = self.offset + self.limit
        if self.seen > end:
            return end
        return None if complete else max(self.offset, min(self.seen, end))


def footer(unit: Unit, offset: int, shown: int, total: int, next_offset: int | None, complete: bool = True) -> str:
    """The last line of a page's text.

    Args:
        unit: what is paged.
        offset: results ahead of the page.
        shown: results on the page.
        total: results in all, or so far where the search ran out of time.
        next_offset: see `Page.next_offset`.
        complete: whether everything was searched.
    """
    first, last = (offset + 1, offset + shown) if shown else (0, 0)
    span = f"{unit} {first}-{last} of {total}"
    if complete:
        more = "last page" if next_offset is None else f"call again with offset={next_offset} for more"
        return f"[{span}; {more}]"
    if total > offset + shown:
        return f"[{span} found before the time was over; call again with offset={next_offset} for more]"
    return (
        f"[{span} found before the time was over; call again with offset={next_offset} "
        "and a larger timeout_s or a narrower dir for more]"
    )
