"""How callers spell paths: UTF-8 as it is, other names as `bytes:` with percent-encoding.

A real name that begins with `bytes:` is spelled `./bytes:…`; so every spelling is taken back as it was given.
"""

from __future__ import annotations

import os
import re

PREFIX = "bytes:"
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def is_utf8(path: str) -> bool:
    """Whether a path (as `os.fsdecode` gives it) is legal UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def spell(path: str) -> str:
    """The JSON-safe spelling of a path, absolute or relative."""
    if is_utf8(path):
        return "./" + path if path.startswith(PREFIX) else path
    raw = os.fsencode(path)
    quoted = "".join(chr(b) if 0x20 <= b < 0x7F and b != 0x25 else f"%{b:02X}" for b in raw)
    return PREFIX + quoted


def unspell(text: str) -> str:
    """The path that a caller's spelling means; raises ValueError for a NUL byte."""
    if text.startswith(PREFIX):
        raw = _PERCENT.sub(lambda m: bytes([int(m[1], 16)]), text[len(PREFIX) :].encode("utf-8", "surrogateescape"))
        path = os.fsdecode(raw)
    else:
        path = text
    if "\0" in path:
        raise ValueError("a path cannot hold a NUL byte")
    return path
