"""One table of a TOML text, everything else kept as it stands."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")


class Broken(ValueError):
    """The text is no TOML, or spells the table in a way that cannot be changed without touching the rest."""


def parse(text: str) -> dict[str, Any]:
    """What a text means; raises Broken."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Broken(str(error)) from None


def put(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """The text with the table at `path` set; a new one goes to the end. Raises Broken."""
    document = parse(text)
    if _at(document, path) == value:
        return text
    block = "\n".join(_spelled(path, value))
    span = _span(text, path)
    if span is None:
        if _at(document, path) is not None:
            raise Broken(f"{'.'.join(path)} is written as an inline table")
        gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{block}\n"
    lines = text.splitlines(keepends=True)
    return "".join(lines[: span[0]]) + block + "\n" + "".join(lines[span[1] :])


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at `path` and the tables in it; the same text where there is none. Raises Broken."""
    document = parse(text)
    span = _span(text, path)
    if span is None:
        if _at(document, path) is not None:
            raise Broken(f"{'.'.join(path)} is written as an inline table")
        return text
    lines = text.splitlines(keepends=True)
    start, end = span
    if start > 0 and not lines[start - 1].strip():  # the blank line that was put in front of it
        start -= 1
    return "".join(lines[:start] + lines[end:])


def _at(document: dict[str, Any], path: Sequence[str]) -> Any:
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """The lines of a table and the tables in it: from its header to its last line that is neither blank nor comment."""
    start, end, inside = -1, -1, False
    for number, line in enumerate(text.splitlines()):
        header = _HEADER.match(line)
        if header:
            names = [part.strip().strip("\"'") for part in header[1].split(".")]
            inside = names[: len(path)] == list(path)
            if inside and start >= 0 and end < number - 1 and _between(text, end, number):
                raise Broken(f"the parts of {'.'.join(path)} stand apart")
            start = number if inside and start < 0 else start
        if inside and line.strip() and not line.lstrip().startswith("#"):
            end = number + 1
    return (start, end) if start >= 0 else None


def _between(text: str, end: int, number: int) -> bool:
    """Whether another table stands between two lines."""
    return any(_HEADER.match(line) for line in text.splitlines()[end:number])


def _spelled(path: Sequence[str], value: dict[str, Any]) -> list[str]:
    """A table of texts, lists of texts and tables; JSON spells those as TOML does."""
    lines = [f"[{'.'.join(path)}]"]
    tables = {key: item for key, item in value.items() if isinstance(item, dict)}
    lines += [f"{key} = {json.dumps(item)}" for key, item in value.items() if key not in tables]
    for key, item in tables.items():
        lines += ["", *_spelled((*path, key), item)]
    return lines
