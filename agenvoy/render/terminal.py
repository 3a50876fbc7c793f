"""What people are shown: aligned tables and colour on a terminal, plain rows in a pipe.

File names and contents pass `plain.visible`, so none of them can move the cursor, set a colour or hide a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenvoy.render.audit import AUDIT
from agenvoy.render.plain import aligned, cell, human_size, plural, short_time, visible, visible_rows
from agenvoy.render.style import Style, change_rows, diff_for_people

Rows = Mapping[str, Any]


def text_for_people(tool: str, result: Rows, arguments: Rows, style: Style, notices: Sequence[str] = ()) -> str:
    """The standard output of a command.

    Args:
        tool: name of a native tool or of a command.
        result: its result, JSON-ready.
        arguments: what was asked.
        style: how to write.
        notices: put on top.
    """
    make = _TEXTS.get(tool)
    text = make(result, style) if make else _members(result, style)
    lines = [style.paint(f"Notice: {visible(notice)}", "yellow") for notice in notices]
    return "\n".join([*lines, text] if text else lines)


def error_for_people(error: Rows, style: Style) -> str:
    """The standard error of a command: `agenvoy: code: message`, the hint on a line of its own, then the details."""
    lines = [style.paint(f"agenvoy: {error['code']}:", "red") + f" {visible(str(error['message']))}"]
    if error.get("hint"):
        lines.append(f"  hint: {visible(str(error['hint']))}")
    if isinstance(error.get("diff"), str) and error["diff"]:
        lines.append(diff_for_people(error["diff"], style))
    if isinstance(error.get("changes"), list):
        lines += change_rows(error["changes"], style)
    return "\n".join(lines)


def _find(result: Rows, style: Style) -> str:
    rows: Sequence[Rows] = result.get("rows") or []
    lines: list[str]
    if rows and "text" in rows[0]:
        lines = [_hit(row, style) for row in rows]
    elif rows and "count" in rows[0]:
        lines = [f"{cell(row, 'path')}:{row['count']}" for row in rows]
    elif style.table:
        lines = aligned([_entry(row) for row in rows], right=frozenset({1}))
    else:
        lines = [cell(row, "path") for row in rows]
    if result.get("next_offset") is not None:
        lines.append(style.paint(f"[{plural(int(result['total']), 'row')} in all; more with --offset]", "dim"))
    if result.get("dropped"):
        lines.append(style.paint(f"[{plural(int(result['dropped']), 'more entry', 'more entries')}]", "dim"))
    if result.get("complete") is False:
        lines.append(style.paint("[stopped at the time limit: there may be more]", "yellow"))
    return "\n".join(lines)


def _hit(row: Rows, style: Style) -> str:
    mark = "-" if row.get("context") else ":"
    place = style.paint(cell(row, "path"), "cyan")
    return f"{place}{mark}{row['line']}{mark}{visible(str(row['text']))}"


def _entry(row: Rows) -> list[str]:
    kind, size = str(row.get("kind")), row.get("size")
    shown = human_size(size) if isinstance(size, int) and kind == "file" else ""
    name = cell(row, "path") + ("/" if kind == "dir" else "")
    return [short_time(row.get("modified_at")), shown, "" if kind in ("file", "dir") else kind, name]


def _read(result: Rows, style: Style) -> str:
    parts = []
    entries: Sequence[Rows] = result.get("files") or []
    for entry in entries:
        if len(entries) > 1:
            parts.append(style.paint(f"── {cell(entry, 'path')}", "bold"))
        error = entry.get("error")
        parts.append(_read_error(error, style) if error else visible_rows(str(entry.get("text") or "")))
    return "\n".join(parts).rstrip("\n")


def _read_error(error: Rows, style: Style) -> str:
    hint = f" ({visible(str(error['hint']))})" if error.get("hint") else ""
    return style.paint(f"{error['code']}:", "red") + f" {visible(str(error['message']))}{hint}"


def _edit(result: Rows, style: Style) -> str:
    lines = [f"{style.paint(str(result.get('action')), 'bold')} {cell(result, 'path')}: version {result['version']}"]
    if result.get("diff"):
        lines.append(diff_for_people(str(result["diff"]), style))
    before = result.get("previous_version")
    if before:
        lines.append(style.paint(f"undo: agenvoy undo, or agenvoy restore --version {before}", "dim"))
    return "\n".join(lines)


def _remove(result: Rows, style: Style) -> str:
    undo = style.paint("undo: agenvoy undo", "dim")
    count = result.get("removed")
    what = f" ({plural(int(count), 'entry', 'entries')})" if count else ""
    return f"removed {cell(result, 'path')}{what}\n{undo}"


def _move(result: Rows, style: Style) -> str:
    return f"moved {cell(result, 'path')} to {cell(result, 'to')}\n{style.paint('undo: agenvoy undo', 'dim')}"


def _restore(result: Rows, style: Style, back: str = "undo: agenvoy undo") -> str:
    changes: Sequence[Rows] = result.get("changes") or []
    moved = [c for c in changes if c["outcome"] not in ("unchanged", "skipped")]
    lines = change_rows(changes, style)
    if not moved:
        return "\n".join([*lines, visible(str(result.get("reason") or "nothing to undo: everything is as it was"))])
    if not result.get("applied"):
        conflicts = sum(c["outcome"] == "conflict" for c in changes)
        tail = f"; {plural(conflicts, 'conflict')}" if conflicts else ""
        return "\n".join([*lines, f"dry run: nothing was written{tail} (plan {result.get('plan_id')})"])
    return "\n".join([*lines, style.paint(f"{plural(len(moved), 'path')} put back; {back}", "dim")])


def _undo(result: Rows, style: Style) -> str:
    return _restore(result, style, "agenvoy redo does it again")


def _redo(result: Rows, style: Style) -> str:
    return _restore(result, style, "undo: agenvoy undo")


def _members(result: Rows, style: Style) -> str:
    return "\n".join(f"{key}: {visible(str(value))}" for key, value in result.items() if value is not None)


_TEXTS: dict[str, Callable[[Rows, Style], str]] = {
    "find_files": _find,
    "read_files": _read,
    "edit_file": _edit,
    "remove_file": _remove,
    "remove_tree": _remove,
    "move_file": _move,
    "restore_file": _restore,
    "undo": _undo,
    "redo": _redo,
    **AUDIT,
}
