"""One call's line back to its caller: is it still wanted, and how far has it come.

A context variable, because between a verb and the loop that takes long lie rooms that pass no such thing along. Without
a watch (the command line, Python) nothing is stopped and progress goes nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from agenvoy.errors import AgenvoyError


def _never() -> bool:
    return False


def _nowhere(done: float, total: float | None, message: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who waits for a call.

    Args:
        stopped: whether the caller has given up.
        progress: takes what is done, of how much (None: unknown), and a few words; may be called very often.
    """

    stopped: Callable[[], bool] = _never
    progress: Callable[[float, float | None, str], None] = _nowhere


_NOBODY = Watch()
_CURRENT: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current() -> Watch:
    """The watch of the call that this thread carries out."""
    return _CURRENT.get() or _NOBODY


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let `current` give this watch within the block."""
    token = _CURRENT.set(watch)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def check() -> None:
    """Raise cancelled where the caller has given up; nothing is half done at the places that call this."""
    if current().stopped():
        raise AgenvoyError("cancelled", "the call was cancelled by its caller", "call again")
