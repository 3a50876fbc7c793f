"""Confirmation by a person at a terminal."""

from __future__ import annotations

import sys

from agenvoy.cli.output import put_raw
from agenvoy.render.plain import visible
from agenvoy.types import Answer, Confirm, ConfirmRequest

_ANSWERS: dict[str, Answer] = {"y": "yes", "yes": "yes", "a": "task", "all": "task", "n": "no", "no": "no", "": "no"}


def asker() -> Confirm | None:
    """A function that asks, where both standard input and error are a terminal; else None: nobody can be asked."""
    return ask if sys.stdin.isatty() and sys.stderr.isatty() else None


def ask(request: ConfirmRequest) -> Answer | None:
    """Put the question until it is answered; end of input means no.

    A sensitive file is asked for each time: "all in this task" is not offered.
    """
    choices = "[y]es / [n]o" if request.sensitive else "[y]es / [a]ll in this task / [n]o"
    while True:
        put_raw(f"{visible(request.question)} {choices}: ", sys.stderr)
        line = sys.stdin.readline()
        answer = _ANSWERS.get(line.strip().lower())
        if answer and not (request.sensitive and answer == "task"):
            return answer
        if not line:
            return "no"
