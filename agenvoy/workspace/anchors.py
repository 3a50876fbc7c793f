"""Where an anchor stands in a text, as `read_files` shows it: every newline is LF, curly quotes may be straight."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property

from agenvoy.errors import AgenvoyError

SINGLE = "'‘’‚‛"
DOUBLE = '"“”„‟'
STRAIGHT = str.maketrans(dict.fromkeys(SINGLE, "'") | dict.fromkeys(DOUBLE, '"'))
_NAMED = 5  # rows that an error names
_COUNTED = 1000  # places of an ambiguous anchor that are counted
_WIDTH = 160  # characters of each


class View:
    """A text with LF for every newline, and the way back.

    Args:
        text: the decoded file. CRLF counts as one newline; CR does only where there is no LF at all.
    """

    def __init__(self, text: str) -> None:
        self.cr_only = "\n" not in text and "\r" in text
        self.text = text.replace("\r", "\n") if self.cr_only else text.replace("\r\n", "\n")
        self.straight = self.text.translate(STRAIGHT)
        crlf = [m.start() for m in re.finditer("\r\n", text)]
        self._crlf = [at - i for i, at in enumerate(crlf)]  # where each CRLF's newline stands in `self.text`

    def given(self, at: int) -> int:
        """The position in the file's text of position `at` here."""
        return at if self.cr_only else at + bisect_left(self._crlf, at)

    def newline(self, at: int) -> str:
        """The newline that stands at position `at` in the file."""
        if self.cr_only:
            return "\r"
        i = bisect_left(self._crlf, at)
        return "\r\n" if i < len(self._crlf) and self._crlf[i] == at else "\n"

    def row(self, at: int) -> int:
        """The number of the row that holds position `at`, from 1."""
        return self.text.count("\n", 0, at) + 1

    def start(self, row: int) -> int:
        """Where a row begins."""
        starts = self._starts
        return starts[min(row, len(starts)) - 1]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def row_newline(self, at: int) -> str | None:
        """The newline of the row at position `at`; of the row before it where it has none; None where neither has."""
        end = self.text.find("\n", at)
        if end < 0:
            end = self.text.rfind("\n", 0, at)
        return self.newline(end) if end >= 0 else None

    def normal(self, text: str) -> str:
        """A caller's text with newlines as they are here."""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        return text.replace("\r", "\n") if self.cr_only else text

    def show(self, row: int) -> str:
        """A row as an error names it: `<row>\\t<line>`, cut."""
        start = self.start(row)
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)]
        return f"{row}\t{line[:_WIDTH]}" + ("…" if len(line) > _WIDTH else "")


def locate(view: View, anchor: str, *, every: bool, path: str) -> tuple[list[int], bool]:
    """Where `anchor` stands; the second value says whether only quotes of another style kept it from matching.

    Args:
        view: the file.
        anchor: as `View.normal` gives it.
        every: take all places (they do not overlap); otherwise there must be exactly one, overlapping ones counted.
        path: for messages.

    Raises:
        AgenvoyError: anchor_not_found, anchor_ambiguous.
    """
    loose = False
    found = _places(view.text, anchor, apart=every)
    if not found:
        loose = True
        found = _places(view.straight, anchor.translate(STRAIGHT), apart=every)
        found = [at for at in found if _only_style(anchor, view.text[at : at + len(anchor)])]
    if not found:
        raise _not_found(view, anchor, path)
    if len(found) > 1 and not every:
        rows = sorted({view.row(at) for at in found})
        named = ("row " if len(rows) == 1 else "rows ") + ", ".join(map(str, rows[:10])) + (" …" if rows[10:] else "")
        times = f"{_COUNTED} times or more" if len(found) == _COUNTED else f"{len(found)} times"
        raise AgenvoyError(
            "anchor_ambiguous",
            f"the anchor {_short(anchor)} stands {times} in {path} ({named})",
            "add neighbouring lines to old_string so that it stands once, or set replace_all",
            rows=rows[:100],
        )
    return found, loose


def _places(text: str, anchor: str, *, apart: bool) -> list[int]:
    """Where the anchor stands; overlapping places (`apart` false) only as far as an error would count them."""
    found: list[int] = []
    at = text.find(anchor)
    while at >= 0 and (apart or len(found) < _COUNTED):
        found.append(at)
        at = text.find(anchor, at + (len(anchor) if apart else 1))
    return found


def _only_style(anchor: str, matched: str) -> bool:
    """Whether the two differ only by straight against curly quotes, not by curly ones of another kind."""
    return all(a == m or a in "'\"" or m in "'\"" for a, m in zip(anchor, matched, strict=True))


def _short(anchor: str) -> str:
    line = anchor if len(anchor) <= 60 else anchor[:57] + "…"
    return repr(line)


def _not_found(view: View, anchor: str, path: str) -> AgenvoyError:
    why, at = _difference(view, anchor)
    rows = [view.row(at)] if at is not None else nearest(view, anchor)
    shown = [view.show(row) for row in rows]
    told = "; the nearest: " + " | ".join(shown) if shown else ""
    hint = f"{why}; copy the text from read_files exactly" if why else "read the file and copy the text exactly"
    if rows and at is None:
        hint = f"read the rows around {rows[0]} (read_files with around={rows[0]}) and copy the text exactly"
    return AgenvoyError(
        "anchor_not_found", f"the anchor {_short(anchor)} does not stand in {path}{told}", hint, nearest=shown
    )


_GAPS = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u3000]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_LOOKS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("it stands there with other letter case", str.casefold),
    ("it stands there in another Unicode form (NFC against NFD)", lambda t: unicodedata.normalize("NFC", t)),
    ("it stands there with other spaces (no-break spaces or tabs)", lambda t: _GAPS.sub(" ", t)),
    ("it stands there with other spaces at line ends or indents", lambda t: re.sub(r" *\n *", "\n", _GAPS.sub(" ", t))),
    ("it stands there with compatibility characters", lambda t: _GAPS.sub(" ", unicodedata.normalize("NFKC", t))),
    ("it stands there with characters that cannot be seen", lambda t: _UNSEEN.sub("", t)),
)


def _difference(view: View, anchor: str) -> tuple[str, int | None]:
    """What alone keeps the anchor from matching, and about where it would; ("", None) where nothing simple does."""
    bare = re.sub(r"^ *\d+\t", "", anchor, flags=re.M)
    if bare and bare != anchor and bare in view.text:
        return "the anchor carries the row numbers of read_files, which are not part of the file", view.text.find(bare)
    plain = anchor.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if plain and plain != anchor and plain in view.text:
        return "the anchor is escaped once too often (\\n, \\t)", view.text.find(plain)
    for why, fold in _LOOKS:
        wanted, text = fold(anchor), fold(view.text)
        if wanted.strip() and (at := text.find(wanted)) >= 0:
            return why, view.start(text.count("\n", 0, at) + 1)
    if anchor.strip() and (at := view.text.find(anchor.strip())) >= 0:
        return "only the blanks around the anchor differ", at
    return "", None


def nearest(view: View, anchor: str) -> Sequence[int]:
    """The numbers of the rows that are most like the anchor's most telling line, best first."""
    from difflib import SequenceMatcher

    wanted = max(anchor.split("\n"), key=lambda line: len(line.strip())).strip()[:200]
    words = set(re.findall(r"\w+", wanted.casefold()))
    if not wanted:
        return []
    scored: list[tuple[int, int, str]] = []
    for number, line in enumerate(view.text.split("\n"), 1):
        short = line.strip()[:200]
        if short:
            shared = len(words & set(re.findall(r"\w+", short.casefold())))
            scored.append((shared, number, short))
    # Ratios are slow, so only the rows that share most words are compared.
    scored.sort(key=lambda item: (-item[0], abs(len(item[2]) - len(wanted)), item[1]))
    ratios = [(SequenceMatcher(None, wanted, line).ratio(), number) for _, number, line in scored[:50]]
    return [number for ratio, number in sorted(ratios, key=lambda r: (-r[0], r[1]))[:_NAMED] if ratio >= 0.5][:3]
