"""Who gave each line its present form."""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy.types import Version


def annotate(texts: Sequence[tuple[Version, Sequence[str]]]) -> list[tuple[str, Version]]:
    """Each line of the newest text with the row in which it appeared.

    Args:
        texts: rows of one path with their lines, oldest first; lines of the first row are its own.
    """
    from difflib import SequenceMatcher

    lines: list[tuple[str, Version]] = []
    for row, text in texts:
        matcher = SequenceMatcher(None, [line for line, _ in lines], list(text), autojunk=False)
        fresh: list[tuple[str, Version]] = []
        for tag, a, b, c, d in matcher.get_opcodes():
            fresh += lines[a:b] if tag == "equal" else [(line, row) for line in text[c:d]]
        lines = fresh
    return lines
