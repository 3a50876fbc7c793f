"""Writing to standard output and error: bytes, UTF-8, whatever the locale says."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from agenvoy.render.style import Style


def style_of(stream: TextIO) -> Style:
    """Tables and colour on a terminal, plain text elsewhere; NO_COLOR and TERM=dumb are obeyed."""
    terminal = stream.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Style(colour=terminal and not plain, table=terminal)


def put(text: str, stream: TextIO | None = None) -> None:
    """Write text and a final newline; characters that cannot be encoded are spelled out."""
    put_raw(text if text.endswith("\n") else text + "\n", stream)


def put_raw(text: str, stream: TextIO | None = None) -> None:
    """Write text as it is."""
    out = stream or sys.stdout
    out.flush()
    out.buffer.write(text.encode("utf-8", "backslashreplace"))
    out.buffer.flush()


def put_json(document: Mapping[str, Any] | list[Any]) -> None:
    """Write one JSON document on one line, in ASCII: names that are not Unicode stay legal JSON."""
    put(json.dumps(document, ensure_ascii=True, allow_nan=False))
