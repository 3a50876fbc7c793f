"""The form of a text (encoding, mark, newlines) and the way between its bytes and `str`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Newline = Literal["lf", "crlf", "cr", "mixed", "none"]

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text is written down.

    Args:
        encoding: a Python codec that does not write a mark by itself (`utf-8`, `utf-16-le`, `cp1252` …).
        bom: the byte-order mark that the bytes begin with; empty without one.
        newline: what ends rows; `cr` only where there is no LF at all.
        errors: how undecodable bytes are carried: `strict` (there are none), `surrogateescape` (mostly UTF-8 with
            some stray bytes), `surrogatepass` (UTF-16 or UTF-32 with lone surrogates).
    """

    encoding: str
    bom: bytes
    newline: Newline
    errors: str = "strict"

    @property
    def name(self) -> str:
        """The encoding as answers tell it (`utf-8-sig` is UTF-8 with a mark)."""
        return "utf-8-sig" if self.bom and self.encoding == "utf-8" else self.encoding


def newline_style(lf: int, crlf: int, cr: int) -> Newline:
    """What ends the rows of a text with so many LF (those of CRLF included), CRLF and CR (likewise)."""
    if lf:
        return "crlf" if crlf == lf else "mixed" if crlf else "lf"
    return "cr" if cr else "none"


def decode(data: bytes, form: TextForm) -> str:
    """The text of `data` without its mark; stray bytes come as surrogates where the form says so.

    A cut last character (an odd byte at the end of UTF-16) comes as U+FFFD.
    """
    body = data[len(form.bom) :] if form.bom and data.startswith(form.bom) else data
    try:
        return body.decode(form.encoding, form.errors)
    except UnicodeDecodeError:
        return body.decode(form.encoding, "replace")


class Unencodable(ValueError):
    """An encoding cannot hold a text.

    Args:
        encoding: which one.
        told: the first character that it cannot hold, as a message names it.
    """

    def __init__(self, encoding: str, told: str) -> None:
        super().__init__(f"{encoding} cannot hold {told}")
        self.encoding = encoding
        self.told = told


def encode(text: str, form: TextForm) -> bytes:
    """The bytes of `text`, without a mark.

    Raises:
        Unencodable: names the first character that the encoding cannot hold.
    """
    try:
        return text.encode(form.encoding)
    except UnicodeEncodeError as error:
        char = text[error.start]
        told = f"U+{ord(char):04X}" if _LONE.match(char) else f"{char!r} (U+{ord(char):04X})"
        raise Unencodable(form.encoding, told) from None


def to_utf8(data: bytes, form: TextForm) -> bytes:
    """The text as UTF-8 without a mark; stray bytes stay as they are, so that offsets of rows stay true."""
    if form.encoding == "utf-8":
        return data[len(form.bom) :] if form.bom and data.startswith(form.bom) else data
    return decode(data, form).encode("utf-8", "surrogatepass" if form.errors == "surrogatepass" else "replace")


def printable(text: str) -> str:
    """The text with U+FFFD for everything that UTF-8 cannot write (stray bytes, lone surrogates)."""
    return _LONE.sub("\ufffd", text)


def rows(text: str) -> list[tuple[str, str]]:
    """The rows of a text, each as its line and the newline that ends it (empty for an unterminated last row).

    LF and CRLF end a row; where the text has no LF at all, CR does. Nothing else does: not U+2028, NEL, VT or FF.
    """
    if not text:
        return []
    mark = "\n" if "\n" in text else "\r"
    parts = text.split(mark)
    last = parts.pop()
    out = [(p[:-1], "\r\n") if mark == "\n" and p.endswith("\r") else (p, mark) for p in parts]
    if last:
        out.append((last, ""))
    return out
