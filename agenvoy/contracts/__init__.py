"""What may be asked and what comes back: frozen pydantic models, no I/O.

One module per group of verbs. The models are loaded on first use, so that importing this package costs nothing:
pydantic alone takes longer to import than a whole `agenvoy history` may take to start.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "find": ("FindQuery", "FindRequest", "FindResult", "FileRow", "MatchRow", "LineRow"),
    "read": ("ReadTarget", "ReadRequest", "ReadEntry", "ReadResult"),
    "edit": ("EditTarget", "EditRequest", "EditResult"),
    "files": ("RemoveRequest", "RemoveResult", "MoveRequest", "MoveResult", "OpenRequest", "OpenResult"),
    "restore": ("RestoreRequest", "Change", "RestoreResult"),
    "history": ("HistoryRequest", "HistoryRow", "FileDiff", "HistoryResult"),
    "tasks": (
        "BeginTaskRequest", "BeginTaskResult", "EndTaskRequest", "EndTaskResult", "ListTasksRequest", "TaskRow",
        "ListTasksResult", "StatusRequest", "StatusRow", "StatusResult",
    ),
    "error": ("ErrorBody", "ErrorDocument"),
    "parsing": ("parse",),
}  # fmt: skip
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the names are loaded on demand


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
