"""Unified diffs of two recorded states, for people and models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agenvoy import textual
from agenvoy.types import State

MAX_BYTES = 1024 * 1024  # a longer side is told by size and hash: comparing it would take seconds


def unified(old: bytes | None, new: bytes | None, path: str, before: State, after: State) -> str:
    """The difference of two states as a unified diff; of binary, long or hidden contents sizes and hashes.

    Args:
        old, new: contents; None where they may not be shown or are too long.
        path: as answers spell it.
    """
    if before.same(after):
        return ""
    names = (_name("a/", path, before), _name("b/", path, after))
    head = f"--- {names[0]}\n+++ {names[1]}\n"
    notes = ""
    if before.kind == after.kind and before.mode != after.mode and before.kind != "link":
        notes = f"mode {before.mode:04o} -> {after.mode:04o}\n"
    if before.hash == after.hash and before.kind == after.kind:
        return head + notes
    sides = [_text(data, state) for data, state in ((old, before), (new, after))]
    if sides[0] is None or sides[1] is None:
        return head + notes + f"contents differ: {_facts(before)} -> {_facts(after)}\n"
    return head + notes + _lines(sides[0], sides[1])


def _name(prefix: str, path: str, state: State) -> str:
    if state.kind == "absent":
        return "/dev/null"
    name = prefix + path
    return name if name.isprintable() else json.dumps(name, ensure_ascii=False)  # a newline would end the line


def _facts(state: State) -> str:
    if state.kind in ("absent", "dir"):
        return {"absent": "absent", "dir": "a folder"}[state.kind]
    return f"{state.size} bytes, hash {state.hash[:16]}"


def _text(data: bytes | None, state: State) -> str | None:
    if state.kind == "absent":
        return ""
    if state.kind == "dir":
        return None
    if data is None or len(data) > MAX_BYTES:
        return None
    if state.kind == "link":
        return "-> " + data.decode("utf-8", "replace") + "\n"
    form = textual.sniff(data, True)
    return None if form is None else textual.decode(data, form)


CONTEXT = 3  # lines around a change, as diff -u has them


def _lines(old: str, new: str) -> str:
    both = [_rows(old), _rows(new)]
    mixed, out = ("\r\n" in old or "\r\n" in new) and _mixed(both), []
    for line in _hunks(*both):
        shown = line.removesuffix("\n").removesuffix("\r")
        out.append(shown + ("␍" if mixed and line.endswith("\r\n") else "") + "\n")
        if not line.endswith(("\n", "\r")):
            out.append("\\ No newline at end of file\n")
    return "".join(out)


def _rows(text: str) -> list[str]:
    """The rows of a text with their newlines, as `textual.rows` tells them apart."""
    mark = "\n" if "\n" in text else "\r"
    parts = text.split(mark)
    last = parts.pop()
    found = [part + mark for part in parts]
    return [*found, last] if last else found


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """The hunks of a unified diff. Equal heads and tails are set aside first: most edits touch few lines of many."""
    from difflib import unified_diff

    if not old or not new:  # one side is nothing: there is nothing to compare
        if old == new:
            return
        spans = [f"{int(count > 0)},{count}".removesuffix(",1") for count in (len(old), len(new))]
        yield f"@@ -{spans[0]} +{spans[1]} @@\n"
        yield from ("-" + line for line in old)
        yield from ("+" + line for line in new)
        return
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start, rest = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    for line in list(unified_diff(old[start : len(old) - rest], new[start : len(new) - rest], "", "", n=CONTEXT))[2:]:
        yield _shift(line, start) if line.startswith("@@") else line


def _shift(head: str, by: int) -> str:
    """A hunk's head with its line numbers moved."""
    return re.sub(r"([-+])(\d+)", lambda m: f"{m[1]}{int(m[2]) + by}", head)


def _mixed(both: list[list[str]]) -> bool:
    """Whether CRLF and LF stand side by side, so that a diff must show which is which."""
    ends = {line.endswith("\r\n") for side in both for line in side if line.endswith("\n")}
    return len(ends) > 1
