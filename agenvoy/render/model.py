"""What a model is shown for each native tool: compact, exact, ending with the next useful call.

Notices come first, because the contract fixes what the last line of several texts is (a footer, or how to undo).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenvoy.render.plain import aligned, capped, cell, human_size, plural, short_time, visible

Rows = Mapping[str, Any]
DIFF_ROWS = 200  # of one diff in a text; the whole diff is in the result
DIFF_SIZE = 16 * 1024  # characters, about 4,000 tokens
CHANGES = 200  # rows of a plan in a text; the whole plan is in the result


def text_for_model(tool: str, result: Rows, arguments: Rows, notices: Sequence[str] = ()) -> str:
    """The `text` of a call's answer.

    Args:
        tool: name of a native tool, or of a command that works like one (`undo`, `show` …).
        result: the tool's result, JSON-ready.
        arguments: what was asked, by the contract's names.
        notices: what the caller should know besides; put on top.
    """
    make = _TEXTS.get(tool)
    text = make(result, arguments) if make else _plain(result)
    return "\n".join([*(f"Notice: {notice}" for notice in notices), text]) if notices else text


def error_text(error: Rows) -> str:
    """What a model is shown of an error: code, message, hint, and what helps to repair the call."""
    lines = [f"Error {error['code']}: {error['message']}"]
    if error.get("hint"):
        lines.append(f"Hint: {error['hint']}")
    if isinstance(error.get("diff"), str) and error["diff"]:
        lines += ["What changed:", capped(error["diff"], DIFF_ROWS, DIFF_SIZE)]
    if isinstance(error.get("changes"), list):
        lines += _changes(error["changes"])
    return "\n".join(lines)


def _find(result: Rows, arguments: Rows) -> str:
    from agenvoy.render.find import find_text

    return find_text(dict(result), dict(arguments))


def _read(result: Rows, arguments: Rows) -> str:
    from agenvoy.render.read import read_text

    return read_text(dict(result))


def _edit(result: Rows, arguments: Rows) -> str:
    path = visible(str(result["path"]))
    verb = {"create": "Created", "modify": "Changed"}.get(str(result.get("action")), "Wrote")
    count = result.get("replacements") or 0
    facts = [plural(count, "replacement")] if count else []
    before, after = result.get("bytes_before"), result.get("bytes_after")
    facts.append(f"{after:,} bytes" if not before else f"{before:,} → {after:,} bytes")
    lines = [f"{verb} {path}: {', '.join(facts)}; now version {result['version']}."]
    if result.get("diff"):
        lines.append(capped(str(result["diff"]), DIFF_ROWS, DIFF_SIZE))
    return "\n".join([*lines, _undo(result, path)])


def _undo(result: Rows, path: str) -> str:
    if result.get("undoable") is False:
        return "This change cannot be undone: the state before was not recorded."
    version = result.get("previous_version")
    if version is None:
        return f"Undo: restore_file task_id=current path={path}, or the whole task: restore_file task_id=current"
    return (
        f"Undo: restore_file version={version} (agenvoy restore --version {version}), "
        "or the whole task: restore_file task_id=current"
    )


def _remove(result: Rows, arguments: Rows) -> str:
    path = visible(str(result["path"]))
    count = result.get("removed")
    what = f"{path} ({plural(count, 'entry', 'entries')})" if count else path
    place = result.get("moved_to")
    kept = f"; kept at {visible(str(place))}" if place else ""
    lost = [visible(str(name)) for name in result.get("not_kept") or []]
    told = f"\nGone for good, since sensitive files are not recorded: {', '.join(lost)}." if lost else ""
    return f"Removed {what}{kept}.{told}\n{_undo(result, path)}"


def _move(result: Rows, arguments: Rows) -> str:
    path, to = visible(str(result["path"])), visible(str(result["to"]))
    undo = f"Undo: move_file path={to} to={path}, or the whole task: restore_file task_id=current"
    return f"Moved {path} to {to}.\n{undo}"


def _changes(changes: Sequence[Rows]) -> list[str]:
    rows = []
    for change in changes[:CHANGES]:
        before, after = change.get("from_version"), change.get("to_version")
        versions = f"v{before} → v{after}" if before and after else f"v{after or before}" if after or before else ""
        rows.append([cell(change, "outcome"), cell(change, "path"), versions, cell(change, "reason", "")])
    more = len(changes) - CHANGES
    return [*aligned(rows), *([f"[… {plural(more, 'more path')}]"] if more > 0 else [])]


def _totals(changes: Sequence[Rows]) -> str:
    counts: dict[str, int] = {}
    for change in changes:
        counts[str(change["outcome"])] = counts.get(str(change["outcome"]), 0) + 1
    return ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items()))


def _restore(result: Rows, arguments: Rows) -> str:
    changes: Sequence[Rows] = result.get("changes") or []
    moved = [c for c in changes if c["outcome"] not in ("unchanged", "skipped")]
    if not result.get("applied"):
        if not moved:
            return str(result.get("reason") or "Nothing to undo: everything is as it was.")
        plan = result.get("plan_id")
        lines = ["Plan; nothing was written:", *_changes(changes), f"In all: {_totals(changes)}."]
        return "\n".join([*lines, f"To carry it out: the same call with plan_id={plan} and without dry_run."])
    if not moved:
        return "\n".join(["Nothing to undo: everything is as it was.", *_changes(changes)])
    lines = [*_changes(changes), f"Restored: {_totals(changes)}."]
    if len(moved) == 1 and moved[0].get("from_version"):
        return "\n".join([*lines, f"Undo: restore_file version={moved[0]['from_version']}, or agenvoy undo"])
    return "\n".join([*lines, "Undo this restore: agenvoy undo, or restore_file with the first versions above."])


def _history(result: Rows, arguments: Rows) -> str:
    if result.get("diffs") is not None:
        return _diffs(result, arguments)
    rows: Sequence[Rows] = result.get("rows") or []
    if not rows:
        return "Nothing is recorded there."
    table = []
    for row in rows:
        size = row.get("size")
        lost = "" if row.get("restorable", True) else f"not restorable: {cell(row, 'reason', 'its bytes are gone')}"
        table.append([
            f"v{row['version']}", short_time(row.get("changed_at")), cell(row, "action"),
            f"{size:,}" if isinstance(size, int) else "-", cell(row, "path"), cell(row, "actor"),
            cell(row, "task_id"), lost,
        ])  # fmt: skip
    lines = aligned(table, right=frozenset({3}))
    after = result.get("next")
    tail = f"[call again with before_version={after} for more]" if after else "[that is all]"
    return "\n".join([*lines, "Put one back: restore_file version=N", tail])


def _diffs(result: Rows, arguments: Rows) -> str:
    parts = []
    for entry in result.get("diffs") or []:
        diff = str(entry.get("diff") or "")
        parts.append(capped(diff, DIFF_ROWS, DIFF_SIZE) if diff else f"{visible(str(entry['path']))}: no difference")
    return "\n".join(parts) or "No difference."


def _open(result: Rows, arguments: Rows) -> str:
    return f"Opened {visible(str(result.get('target', arguments.get('target'))))}."


def _begin(result: Rows, arguments: Rows) -> str:
    return (
        f"Task {result['task_id']} begins: what you change from here on belongs to it.\n"
        "Take it all back: restore_file task_id=current"
    )


def _end(result: Rows, arguments: Rows) -> str:
    task = result.get("task_id")
    return f"Task {task} ended. It can still be taken back: restore_file task_id={task}"


def _tasks(result: Rows, arguments: Rows) -> str:
    rows: Sequence[Rows] = result.get("rows") or []
    if not rows:
        return "No tasks yet. Begin one: begin_task objective=…"
    table = []
    for row in rows:
        state = "undone" if row.get("undone_by") else "running" if row.get("running") else "ended"
        table.append([
            cell(row, "task_id"), short_time(row.get("begun_at")), state, plural(row.get("files") or 0, "file"),
            cell(row, "actor"), cell(row, "objective", "(no objective)"),
        ])  # fmt: skip
    return "\n".join([*aligned(table), "Take one back: restore_file task_id=ID"])


def _status(result: Rows, arguments: Rows) -> str:
    lines: list[str] = []
    heads = (("task", "This task"), ("others", "Other tasks since it began"), ("outside", "Outside the tools"))
    for key, head in heads:
        rows: Sequence[Rows] = result.get(key) or []
        if rows:
            lines += [f"{head}:", *aligned([["", cell(row, "change"), cell(row, "path")] for row in rows])]
    return "\n".join(lines) or "Nothing changed."


def _show(result: Rows, arguments: Rows) -> str:
    content = result.get("content")
    head = f"{visible(str(result.get('path')))} as of version {result.get('version')}"
    if isinstance(content, str):
        return f"{head}:\n{content}"
    return f"{head}: {human_size(int(result.get('bytes') or 0))}, no text that can be shown"


def _plain(result: Rows) -> str:
    """A result without a rendering of its own: one `name: value` row per member."""
    rows = []
    for key, value in result.items():
        shown = plural(len(value), "entry", "entries") if isinstance(value, list | dict) else str(value)
        rows.append(f"{key}: {visible(shown)}")
    return "\n".join(rows) or "Done."


_TEXTS: dict[str, Callable[[Rows, Rows], str]] = {
    "find_files": _find,
    "read_files": _read,
    "edit_file": _edit,
    "remove_file": _remove,
    "remove_tree": _remove,
    "move_file": _move,
    "restore_file": _restore,
    "undo": _restore,
    "redo": _restore,
    "file_history": _history,
    "diff": _diffs,
    "open_file": _open,
    "begin_task": _begin,
    "end_task": _end,
    "list_tasks": _tasks,
    "workspace_status": _status,
    "show": _show,
}
