"""What find_files answers as the text that a model is shown: compact, one line a row, the footer last."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agenvoy.search.pages import Unit, footer

# What would end a line for some reader, or drive a terminal: C0 but TAB, DEL, C1, and the Unicode separators.
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_REASONS = {
    "hidden": "hidden (hidden=true looks at them)",
    "ignored": "ignored by .gitignore (ignored=true looks at them)",
    "binary": "binary",
    "sensitive": "sensitive (never searched)",
    "document": "documents (documents=true searches them)",
    "link": "links, not followed",
    "special": "devices, FIFOs or sockets",
    "unreadable": "unreadable",
    "too_large": "too large for a multi-line search",
}
_UNTOLD = ("git", "store")  # left out of everything: to name them each time would tell nothing


def find_text(result: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """The text of an answer.

    Args:
        result: what `workspace.find.find_files` gave back.
        arguments: the call's arguments, of which `output` is looked at.
    """
    if "total" not in result:
        return "\n".join([*_entries(result), *_summary(result), *_listing_end(result)])
    content = arguments.get("output") == "content"
    rows = result["rows"]
    lines = [*(_lines(rows) if content else _files(rows)), *_summary(result)]
    unit: Unit = "lines" if content else "files"
    if not result["complete"]:
        lines.append(f"stopped at {quoted(result.get('stopped_at', '.'))}: timeout_s was reached")
    shown = sum(not row.get("context") for row in rows)
    numbers = (result["offset"], shown, result["total"], result["next_offset"], result["complete"])
    return "\n".join([*lines, footer(unit, *numbers)])


def quoted(path: str) -> str:
    """A path on one line: as it is, or as a JSON string where it holds a control character or line separator."""
    return json.dumps(path) if _UNSAFE.search(path) else path


def visible(text: str) -> str:
    """A row's text with control characters written as escapes (`\\r`, `\\x1b`), so that it stays one line."""
    return _UNSAFE.sub(lambda m: m[0].encode("unicode_escape").decode(), text)


def _entries(result: Mapping[str, Any]) -> Iterator[str]:
    for row in result["rows"]:
        path, kind = quoted(row["path"]), row["kind"]
        if kind == "dir":
            yield path + "/"
        elif kind == "file":
            yield f"{path}\t{row['size']} bytes\t{row['modified_at']}"
        else:
            yield f"{path}\t{'link' if kind == 'link' else 'special file'}"


def _files(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        numbers = ", ".join(map(str, row["lines"]))
        more = ", …" if row["count"] > len(row["lines"]) else ""
        noun = "line" if row["count"] == 1 else "lines"
        where = f" on {row['unit']}" if row.get("unit") else ""
        yield f"{quoted(row['path'])}\t{row['count']} {noun}{where}: {numbers}{more}"


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Rows under their file's path, `:` before a match and `-` before a neighbour; `--` where rows are left out."""
    path, last = None, 0
    for row in rows:
        if row["path"] != path:
            path, last = row["path"], 0
            yield quoted(path) + (f" (by {row['unit']})" if row.get("unit") else "")
        context = bool(row.get("context"))
        if last and row["line"] > last + 1 and any(r.get("context") for r in rows):
            yield "--"
        last = row["line"]
        yield f"{row['line']}{'-' if context else ':'}{visible(row['text'])}"


def _summary(result: Mapping[str, Any]) -> list[str]:
    """One line on what was left out; none where nothing was."""
    skipped = result.get("skipped") or {}
    known = [(reason, _REASONS.get(reason, reason.replace("_", " "))) for reason in skipped if reason not in _UNTOLD]
    parts = [f"{skipped[reason]} {words}" for reason, words in known if skipped[reason]]
    return ["skipped: " + "; ".join(parts)] if parts else []


def _listing_end(result: Mapping[str, Any]) -> list[str]:
    rows, dropped = result["rows"], result["dropped"]
    noun = "entry" if len(rows) == 1 else "entries"
    if not result["complete"]:
        return [
            f"[{len(rows)} {noun} found before the time was over; call again with a larger timeout_s or a narrower dir]"
        ]
    if dropped:
        return [f"[{len(rows)} {noun}; output is full, dropped {dropped} more: name a narrower dir or pattern]"]
    return [f"[{len(rows)} {noun}]"]
