"""What a model sees of read_files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def read_text(result: Mapping[str, Any]) -> str:
    """The text of a read: one file's own text; several files each under a line with their name.

    Args:
        result: `{"files": [...]}` as `workspace.read.read_files` gives it.
    """
    files = result["files"]
    if len(files) == 1:
        return _body(files[0])
    return "\n\n".join(f"{_header(entry)}\n{_body(entry)}" for entry in files)


def _header(entry: Mapping[str, Any]) -> str:
    """`== path (lines 1-20 of 99, utf-8) ==`; the path alone where there is nothing more to say."""
    facts = []
    if entry.get("error") is None and entry.get("total"):
        facts.append(f"{entry['unit']}s {entry['from']}-{entry['to']} of {entry['total']}")
    encoding = entry.get("encoding")
    if encoding and encoding != "utf-8":
        facts.append(encoding)
    return f"== {entry['path']}" + (f" ({', '.join(facts)})" if facts else "") + " =="


def _body(entry: Mapping[str, Any]) -> str:
    error = entry.get("error")
    if error is None:
        return str(entry.get("text") or "")
    hint = error.get("hint")
    return f"{error['code']}: {error['message']}" + (f"\nHint: {hint}" if hint else "")
