"""One line for a log or a chat: which call this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 120  # characters; a label is one line of a chat


def _clean(value: object) -> str:
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _members(value: object, key: str) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [_clean(item[key]) for item in value if isinstance(item, Mapping) and item.get(key)]


def _restore(arguments: Mapping[str, Any]) -> str:
    version, task, time, path = (arguments.get(k) for k in ("version", "task_id", "time", "path"))
    if version is not None:
        return f"version {_clean(version)}"
    what = f"task {_clean(task)}" if task else _clean(time) if time else ""
    return ", ".join(part for part in (what, _clean(path) if path else "") if part)


def label(tool: str, arguments: object) -> str:
    """The label of a native call; wrong arguments give a shorter one, never an error."""
    given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
    path = _clean(given["path"]) if given.get("path") else ""
    match tool:
        case "find_files":
            patterns = _members(given.get("queries"), "pattern") or _members(given.get("queries"), "dir")
            return f"Find({', '.join(patterns[:3]) or '.'})"
        case "read_files":
            names = _members(given.get("files"), "path")
            return f"Read({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
        case "edit_file":
            return f"Edit({path})"
        case "remove_file":
            return f"Remove({path})"
        case "move_file":
            return f"Move({path} → {_clean(given.get('to', ''))})"
        case "restore_file":
            return f"Restore({_restore(given)})"
        case "file_history":
            return f"History({path or ', '.join(map(_clean, _paths(given)))})"
        case "open_file":
            return f"Open({_clean(given.get('target', ''))})"
        case "begin_task":
            return f"Begin({_clean(given.get('objective', ''))})"
        case "end_task":
            return "End task"
        case "list_tasks":
            return "Tasks"
        case "workspace_status":
            return "Status"
    return _clean(tool).replace("_", " ").capitalize()


def _paths(given: Mapping[str, Any]) -> list[str]:
    paths = given.get("paths")
    return [str(p) for p in paths[:3]] if isinstance(paths, list) else []
