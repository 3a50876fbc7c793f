"""Patterns by chance, in the syntax that RE2 and ripgrep share."""

from __future__ import annotations

import random

WORDS = (
    "import", "self", "return", "def ", "class", "None", "os.path", "error", "isinstance", "TODO", "lambda", "assert",
    "0x", "utf", "__init__", "encode", "Queue", "socket", "deprecated", "xyzzy_nowhere",
)  # fmt: skip


def pattern(chance: random.Random) -> str:
    """One pattern; the same for the same state of `chance`."""
    kind = chance.randrange(8)
    one, two = (chance.choice(WORDS).replace(".", r"\.") for _ in range(2))
    if kind == 0:
        return one
    if kind == 1:
        return "(?i)" + one
    if kind == 2:
        return f"{one}|{two}"
    if kind == 3:
        return rf"^\s*{one}"
    if kind == 4:
        return rf"\b{one.strip()}\b.*{two}"
    if kind == 5:
        return rf"{one}[a-z_]{{2,5}}\("
    if kind == 6:
        return rf"[A-Z]{{{chance.randint(2, 4)},}}[_-]?[0-9]+"
    return rf"({one}|{two})\S*[:;]$"
