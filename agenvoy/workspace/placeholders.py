"""agenvoy's own stand-ins, which a model may paste back as if they were the file's content."""

from __future__ import annotations

import re
from itertools import pairwise

from agenvoy.errors import AgenvoyError

# The line that stands for a withheld file, with or without a row number in front.
_WITHHELD = re.compile(r"^[ \t]*(?:\d+\t)?File withheld\b.*$", re.M)
# The last line of a cut read or of a page of results: `[lines 1-20 of 99; call again with offset=21 for more]`.
_FOOTER = re.compile(
    r"^[ \t]*(?:\d+\t)?\[(?:lines|files|rows|pages|slides|segments) \d+-\d+ of \d+[^\]\n]*\]?[ \t\r]*$"
    r"|\[\w+ \d+-\d+ of \d+; (?:call again with offset=\d+ for more|last page)\]",
    re.M,
)
_PAGE = re.compile(r"\[\w+ \d+-\d+ of \d")  # what every footer holds, and next to no text: quickly looked for
_CUT = re.compile(r" \[row cut: \d+ of \d+ bytes shown\]")
_NUMBERED = re.compile(r" *(\d+)\t")
_TABLES = (".tsv", ".tab", ".csv")


def check_placeholder(content: str, matched: str) -> None:
    """Refuse new text that is one of agenvoy's stand-ins.

    Args:
        content: the new text.
        matched: the text that it replaces; a stand-in that stands there already is the file's own.

    Raises:
        AgenvoyError: placeholder_content, which says what was found.
    """
    _check_notes(content, matched)
    if _numbered(content) and not _numbered(matched):
        raise _refused("every line begins with a row number and a tab, as read_files shows rows", _first(content))


def check_written(content: str, existing: str, path: str) -> None:
    """The same for a whole file that is written.

    A table may well number its lines, so rows count as pasted only where the numbers rise one by one, the file is
    no table by its name, and its present text carries no such numbers.

    Args:
        content: the new text.
        existing: the present text of the file; empty where there is none.
        path: as the caller spelled it.

    Raises:
        AgenvoyError: placeholder_content.
    """
    _check_notes(content, existing)
    if path.lower().endswith(_TABLES) or _numbered(existing) or not _numbered(content):
        return
    numbers = [int(m[1]) for line in content.splitlines() if (m := _NUMBERED.match(line))]
    if all(later == earlier + 1 for earlier, later in pairwise(numbers)):
        raise _refused("every line begins with a row number and a tab, as read_files shows rows", _first(content))


def _check_notes(content: str, matched: str) -> None:
    """The notes that stand for text which was not shown."""
    for maybe, pattern, what in (
        ("File withheld" in content, _WITHHELD, "it holds the line that stands for a withheld file"),
        (_PAGE.search(content), _FOOTER, "it holds the footer of a cut answer"),
        ("[row cut: " in content, _CUT, "it holds the note that a row was cut"),
    ):
        found = pattern.search(content) if maybe else None
        if found and found[0].strip() not in matched:
            raise _refused(what, found[0].strip())


def _numbered(text: str) -> bool:
    """Whether every line (but blank ones and the `...` of gaps) begins with a row number and a tab."""
    lines = [line for line in text.splitlines() if line.strip() and line.strip() != "..."]
    return bool(lines) and all(_NUMBERED.match(line) for line in lines)


def _first(content: str) -> str:
    return next((line for line in content.splitlines() if line.strip()), "")


def _refused(what: str, found: str) -> AgenvoyError:
    return AgenvoyError(
        "placeholder_content",
        f"the new text is not content but a stand-in of agenvoy's answers: {what} ({found[:80]!r})",
        "give the file's real text: leave out row numbers and footers, and read what was not shown",
    )
