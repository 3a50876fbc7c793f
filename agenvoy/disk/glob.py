"""Path patterns as ripgrep's `-g` takes them, compiled to Python's `re`.

`*` and `?` stay within one name, `**` crosses folders, `[a-z]` and `[!a-z]` are sets, `{a,b}` are alternatives (nested
too), a backslash makes the next character literal. A pattern without `/` is judged by the name alone, at any depth; one
with `/` by the whole path relative to the folder that is searched. A leading `!` turns the answer round.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agenvoy.errors import AgenvoyError

LONGEST = 65_536  # characters of a pattern
_WILD = re.compile(r"[*?\[\]{}\\!]")
_BARE = frozenset("*?./!{},")


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled pattern.

    Args:
        pattern: as the caller wrote it.
        regex: matched in full against the name or the relative path.
        by_name: whether only the last component is judged.
        negated: whether the pattern began with `!`.
        literal: the relative path that the pattern names outright; None where it holds a wildcard.
    """

    pattern: str
    regex: re.Pattern[str]
    by_name: bool
    negated: bool
    literal: str | None

    def matches(self, relative: str) -> bool:
        """Whether a path relative to the searched folder (`/` between names, surrogates as they are) matches."""
        subject = relative.rpartition("/")[2] if self.by_name else relative
        return (self.regex.fullmatch(subject) is not None) is not self.negated

    def names(self, name: str) -> bool:
        """Whether the pattern is this very file name, without any wildcard."""
        return self.literal == name


def only_wildcards(pattern: str) -> bool:
    """Whether a pattern holds no literal character, so that it would match about everything."""
    return set(pattern) <= _BARE


def compile_glob(pattern: str, folder: str = "") -> Glob:
    """Compile a pattern.

    Args:
        pattern: the caller's pattern; `./` ahead is dropped, `dir/` means all below `dir`.
        folder: real path of the searched folder: a pattern that begins with it is taken relative to it.

    Raises:
        AgenvoyError: invalid_arguments for a blank pattern, an open bracket or brace, or a `..`.
    """
    if len(pattern) > LONGEST:
        told = f"the pattern has {len(pattern):,} characters, and at most {LONGEST:,} are taken"
        raise AgenvoyError("invalid_arguments", told, "use several patterns in several queries")
    text, negated = (pattern[1:], True) if pattern.startswith("!") else (pattern, False)
    if folder and text.startswith(folder.rstrip("/") + "/"):
        text = "/" + text[len(folder.rstrip("/")) + 1 :]
    while text.startswith("./"):
        text = text[2:]
    if not text.strip():
        raise AgenvoyError("invalid_arguments", "the glob pattern is blank", "give a pattern such as *.py")
    if ".." in text.split("/"):
        raise AgenvoyError(
            "invalid_arguments", f"the glob {pattern} leaves the folder", "name that folder as dir, without .. in it"
        )
    if text.endswith("/"):
        text += "**"
    by_name = "/" not in text
    text = text.removeprefix("/")
    literal = None if negated or _WILD.search(text) else text
    return Glob(pattern, re.compile(_Translator(text, pattern).translate(), re.DOTALL), by_name, negated, literal)


class _Translator:
    """One pattern on its way to a regular expression."""

    def __init__(self, text: str, shown: str) -> None:
        self.text = text
        self.shown = shown
        self.at = 0
        self.depth = 0

    def translate(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            parts.append(self._piece(self.text[self.at]))
        if self.depth:
            raise self._broken("{", "}")
        return "".join(parts)

    def _piece(self, char: str) -> str:
        self.at += 1
        if char == "*":
            return self._stars()
        if char == "?":
            return "[^/]"
        if char == "[":
            return self._set()
        if char == "{":
            self.depth += 1
            return "(?:"
        if char == "}" and self.depth:
            self.depth -= 1
            return ")"
        if char == "," and self.depth:
            return "|"
        if char == "\\" and self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
        return re.escape(char)

    def _stars(self) -> str:
        """`*`, or `**` where it stands for whole components; any other run of stars is one `*`, as in git."""
        start = self.at - 1
        while self.text[self.at : self.at + 1] == "*":
            self.at += 1
        opens = start == 0 or self.text[start - 1] in "/{,"
        follows = self.text[self.at : self.at + 1]
        if self.at - start != 2 or not opens:
            return "[^/]*"
        if follows == "/":
            self.at += 1
            return "(?:[^/]+/)*"
        return ".+" if follows in ("", "}", ",") else "[^/]*"

    def _set(self) -> str:
        end = self.at
        if self.text[end : end + 1] in ("!", "^"):
            end += 1
        if self.text[end : end + 1] == "]":  # a bracket that comes first is a member
            end += 1
        while end < len(self.text) and self.text[end] != "]":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise self._broken("[", "]")
        body, self.at = self.text[self.at : end], end + 1
        sign = "^/" if body[0] in "!^" else ""
        members = body[1:] if sign else body
        escaped = re.sub(r"\\?([^\w\s-])", r"\\\1", members)
        try:
            re.compile(f"[{escaped}]")
        except re.error:
            raise AgenvoyError(
                "invalid_arguments", f"the set [{body}] in the glob {self.shown} is no range", "write it as in [a-z]"
            ) from None
        return f"(?!/)[{sign}{escaped}]"

    def _broken(self, opened: str, closed: str) -> AgenvoyError:
        return AgenvoyError(
            "invalid_arguments",
            f"the glob {self.shown} has a {opened} without {closed}",
            f"close it, or write \\{opened} for the character itself",
        )
