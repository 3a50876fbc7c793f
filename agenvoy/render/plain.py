"""Text that cannot drive a terminal or break a row, and other small spellings shared by all renderings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

# C0 but for tab, DEL, C1, line and paragraph separators, zero-width and bidirectional controls: each of them can move
# the cursor, hide or reorder what a reader sees. Lone surrogates cannot be written out at all.
_HARMFUL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\x1b": "\\e"}


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _NAMED.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}")


def visible(text: str) -> str:
    """One row of text with every control character spelled out (tabs stay)."""
    return _HARMFUL.sub(_escape, text)


def visible_rows(text: str) -> str:
    """Text of several rows: newlines stay, a CR before one goes, every other control character is spelled out."""
    return "\n".join(visible(row.removesuffix("\r")) for row in text.split("\n"))


def human_size(count: int) -> str:
    """A number of bytes in at most four digits and a unit (1 KiB = 1,024 bytes)."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1000 or unit == "GiB":
            return f"{int(size)} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


def plural(count: int, noun: str, several: str = "") -> str:
    """`1 file`, `2,000 files`."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def aligned(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows of cells as lines with aligned columns; the last column is not padded.

    Args:
        rows: cells, already without control characters.
        right: indexes of the columns that are aligned to the right.
    """
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return lines


def capped(text: str, rows: int, size: int) -> str:
    """The beginning of a long text, saying what was left out.

    Args:
        text: any text.
        rows: most rows kept.
        size: most characters kept.
    """
    lines = text.splitlines()
    kept, used = [], 0
    for line in lines[:rows]:
        used += len(line) + 1
        if used > size:
            break
        kept.append(line)
    if len(kept) == len(lines):
        return text.rstrip("\n")
    return "\n".join([*kept, f"[… {plural(len(lines) - len(kept), 'more row')} of this diff]"])


def short_time(stamp: object) -> str:
    """`2026-08-13 15:04:05` of an ISO 8601 time; what is none stays as it is."""
    text = str(stamp or "")
    return f"{text[:10]} {text[11:19]}" if len(text) >= 19 and text[10] in "T " else text


def cell(row: Mapping[str, Any], key: str, empty: str = "-") -> str:
    """A member of a row as a cell."""
    value = row.get(key)
    return empty if value is None or value == "" else visible(str(value))
