"""One pattern, compiled by RE2: linear time whatever the pattern, and exact words about what it cannot do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agenvoy.errors import AgenvoyError
from agenvoy.search.literals import required, required_in_any_case, whole_literal

LONGEST = 65_536  # characters of a pattern: one takes 9 µs to prepare, and nothing can interrupt that
MAX_PROGRAM = 64 * 1024 * 1024  # bytes that RE2 may use for one pattern (its own default is 8 MiB)

_INSTEAD = "RE2 offers (?:…), (?i) (?s), [classes], \\b, ^ $, greedy and lazy repetition up to 1000; "
_UNSUPPORTED = (
    (r"\(\?<?[=!]", "look-{way} ({found}…)", "match the wider text and pick the lines you want"),
    (r"\\[1-9]", "back-reference ({found})", "write the repeated text out, or search for its parts"),
    (r"\(\?P=\w*\)?", "back-reference ({found})", "write the repeated text out, or search for its parts"),
    (r"\\[gk](?:<\w*>|\{\w*\}|'\w*'|\d)", "back-reference ({found})", "write the repeated text out"),
    (r"\(\?>", "atomic group ({found}…)", "use (?:…): RE2 never backtracks, so it gains nothing"),
    (r"[*+?}]\+", "possessive repetition ({found})", "drop the second +: RE2 never backtracks"),
    (r"\(\?\(", "conditional group ({found}…)", "write both cases as alternatives: a|b"),
    (r"\(\?(?:R|&|P>|[0-9+-])", "recursion ({found}…)", "spell the nesting out to the depth you need"),
    (r"\(\?#", "comment ({found}…)", "leave the comment out"),
    (r"\(\?[a-wyz]*x", "verbose flag ({found}…)", "write the pattern without blanks and comments"),
    (r"\\Z", "anchor ({found})", "use \\z for the end of the text, $ for the end of a line"),
    (r"\\[GKRXhHN]", "escape ({found})", "spell the characters out, such as [ \\t] for \\h"),
)
_ONE_LINE = re.compile(r"(?:[^\W_]|[ _<>\"'=:;,/@#%&~`!|)*+{}^$?-]|\((?!\?)|\\[wdbB.()\[\]{}*+?^$|\\])*", re.ASCII)


class Matcher:
    """A compiled pattern over UTF-8 bytes whose lines end with LF.

    Args:
        pattern: RE2 syntax; `^` and `$` are the ends of a line.
        multiline: whether a match may cross lines (`.` does then). The attribute of that name is false also where
            nothing in the pattern can match a line feed: then line by line gives the same, and is quicker.
        case_sensitive: whether case counts.

    `literals` are texts of which every match holds at least one (empty: none is known), `texts` the same in lower case
    for a search that ignores case (known for more patterns), `plain` is the text itself
    where the pattern matches nothing else.

    Raises:
        AgenvoyError: invalid_pattern, naming the construct and what RE2 offers instead.
    """

    def __init__(self, pattern: str, *, multiline: bool = False, case_sensitive: bool = True) -> None:
        if len(pattern) > LONGEST:
            raise AgenvoyError(
                "invalid_pattern",
                f"the pattern has {len(pattern):,} characters, and at most {LONGEST:,} are taken",
                "search for a part of it, or for several patterns in several queries",
            )
        self.pattern = pattern
        self.multiline = multiline = multiline and not _ONE_LINE.fullmatch(pattern)
        self.case_sensitive = case_sensitive
        self.literals = required(pattern) if case_sensitive else ()
        self.texts = required_in_any_case(pattern, case_sensitive)
        plain = whole_literal(pattern) if case_sensitive else None
        self.plain = None if plain is None else plain.encode("ascii")
        self._regexp = _compile(pattern, multiline, case_sensitive)

    def find(self, data: Any, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """The first match at or behind `start` and before `end` (what lies outside is still context for `^ $ \\b`)."""
        if self.plain is not None:
            at = data.find(self.plain, start, len(data) if end is None else end)
            return None if at < 0 else (at, at + len(self.plain))
        found = self._regexp.search(data, start, end)
        return found.span() if found is not None else None


def _compile(pattern: str, multiline: bool, case_sensitive: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # groups only group: RE2 is quicker without captures
    options.never_nl = not multiline
    options.dot_nl = multiline
    options.case_sensitive = case_sensitive
    options.max_mem = MAX_PROGRAM
    try:
        return re2.compile("(?m)" + pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else b""
        raise _refusal(pattern, said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)) from None
    except UnicodeEncodeError:
        raise AgenvoyError(
            "invalid_pattern", "the pattern holds a lone surrogate", "write it as well-formed Unicode text"
        ) from None


def _refusal(pattern: str, said: str) -> AgenvoyError:
    """The contract's error for a pattern that RE2 does not take."""
    for construct, name, instead in _UNSUPPORTED:
        for found in _outside_escapes(construct, pattern):
            way = "behind" if "<" in found else "ahead"
            named = name.format(found=found, way=way)
            return AgenvoyError(
                "invalid_pattern", f"the pattern uses {named}, which RE2 does not support", _INSTEAD + instead
            )
    said = said.replace("(?m)" + pattern, pattern)
    return AgenvoyError(
        "invalid_pattern",
        f"the pattern {pattern} is no valid regular expression: {said}",
        "escape a literal ( ) [ ] { } * + ? . ^ $ | with a backslash; file names are chosen by file_pattern",
    )


def _outside_escapes(construct: str, pattern: str) -> Iterator[str]:
    """Where a construct stands in the pattern, not as part of an escaped backslash or inside a set."""
    token = re.compile(rf"({construct})|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|.", re.DOTALL)
    return (m[1] for m in token.finditer(pattern) if m[1])
