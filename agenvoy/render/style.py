"""Colour, and what people are shown of diffs and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenvoy.render.plain import aligned, cell, visible_rows

Rows = Mapping[str, Any]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: `colour` only on a terminal without NO_COLOR; `table` aligns columns for reading."""

    colour: bool = False
    table: bool = False

    def paint(self, text: str, *names: str) -> str:
        """Text in a colour, or as it is."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[n] for n in names)}m{text}\x1b[0m"


def diff_for_people(diff: str, style: Style) -> str:
    """A unified diff, coloured."""
    lines = []
    for row in visible_rows(diff).rstrip("\n").split("\n"):
        name = (
            ("bold",) if row.startswith(("+++", "---"))
            else ("cyan",) if row.startswith("@@")
            else ("green",) if row.startswith("+")
            else ("red",) if row.startswith("-")
            else ()
        )  # fmt: skip
        lines.append(style.paint(row, *name) if name else row)
    return "\n".join(lines)


def change_rows(changes: Sequence[Rows], style: Style) -> list[str]:
    """One row per path of a plan, coloured by what happens to it."""
    rows = []
    for change in changes:
        before, after = change.get("from_version"), change.get("to_version")
        versions = f"v{before} → v{after}" if before and after else f"v{after or before}" if after or before else ""
        rows.append([cell(change, "outcome"), cell(change, "path"), versions, cell(change, "reason", "")])
    tint = {"conflict": "red", "failed": "red", "skipped": "yellow", "merged": "cyan"}
    lines = aligned(rows)
    return [style.paint(line, tint.get(row[0], "green")) for line, row in zip(lines, rows, strict=True)]
