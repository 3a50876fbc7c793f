"""What people are shown of the log and the store: history, diffs, tasks, status, blame, trash, health."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenvoy.render.plain import aligned, cell, human_size, plural, short_time, visible, visible_rows
from agenvoy.render.style import Style, diff_for_people

Rows = Mapping[str, Any]


def _history(result: Rows, style: Style) -> str:
    if result.get("diffs") is not None:
        return _diffs(result, style)
    rows: Sequence[Rows] = result.get("rows") or []
    if not rows:
        return "nothing is recorded there"
    table = [["VERSION", "WHEN", "ACTION", "SIZE", "PATH", "ACTOR", "TASK", ""]]
    for row in rows:
        size = row.get("size")
        lost = "" if row.get("restorable", True) else f"gone: {cell(row, 'reason', 'bytes missing')}"
        table.append([
            str(row["version"]), short_time(row.get("changed_at")), cell(row, "action"),
            human_size(size) if isinstance(size, int) else "-", cell(row, "path"), cell(row, "actor"),
            cell(row, "task_id"), lost,
        ])  # fmt: skip
    lines = aligned(table) if style.table else aligned(table[1:])
    if style.table:
        lines[0] = style.paint(lines[0], "dim")
    if result.get("next"):
        lines.append(style.paint(f"[older ones: --before {result['next']}]", "dim"))
    return "\n".join(lines)


def _diffs(result: Rows, style: Style) -> str:
    diffs: Sequence[Rows] = result.get("diffs") or []
    return "\n".join(diff_for_people(str(d["diff"]), style) for d in diffs if d.get("diff"))


def _tasks(result: Rows, style: Style) -> str:
    rows: Sequence[Rows] = result.get("rows") or []
    if not rows:
        return "no tasks yet"
    table = []
    for row in rows:
        state = "undone" if row.get("undone_by") else "running" if row.get("running") else "ended"
        table.append([
            cell(row, "task_id"), short_time(row.get("begun_at")), state, plural(int(row.get("files") or 0), "file"),
            cell(row, "actor"), cell(row, "objective", "(no objective)"),
        ])  # fmt: skip
    return "\n".join(aligned(table))


def _task(result: Rows, style: Style) -> str:
    facts = {k: v for k, v in result.items() if k != "changes" and v is not None}
    lines = aligned([[key, visible(str(value))] for key, value in facts.items()])
    rows = [[cell(c, "action", cell(c, "change")), cell(c, "path")] for c in result.get("changes") or []]
    return "\n".join([*lines, *aligned(rows)])


def _status(result: Rows, style: Style) -> str:
    lines: list[str] = []
    heads = (("task", "this task"), ("others", "other tasks since it began"), ("outside", "outside the tools"))
    for key, head in heads:
        rows: Sequence[Rows] = result.get(key) or []
        if rows:
            lines += [style.paint(head, "bold"), *aligned([["", cell(r, "change"), cell(r, "path")] for r in rows])]
    return "\n".join(lines) or "nothing changed"


def _show(result: Rows, style: Style) -> str:
    content = result.get("content")
    if isinstance(content, str):
        return visible_rows(content).removesuffix("\n")
    return f"{cell(result, 'path')}: {human_size(int(result.get('bytes') or 0))}, no text that can be shown"


def _blame(result: Rows, style: Style) -> str:
    table = []
    for row in result.get("rows") or []:
        version = f"v{row['version']}" if row.get("version") else "-"
        outside = row.get("action") in ("observed", "external")
        actor = "(outside)" if outside else cell(row, "actor")
        who = [version, short_time(row.get("changed_at")), actor, cell(row, "task_id")]
        table.append([*who, str(row["line"]), visible(str(row.get("text", "")))])
    return "\n".join(aligned(table, right=frozenset({4})))


def _trash(result: Rows, style: Style) -> str:
    rows: Sequence[Rows] = result.get("rows") or []
    if not rows:
        return "the trash is empty"
    table = []
    for row in rows:
        size = human_size(int(row.get("size") or 0))
        table.append([short_time(row.get("removed_at")), size, f"v{row.get('version')}", cell(row, "path")])
    return "\n".join(aligned(table, right=frozenset({1})))


def _doctor(result: Rows, style: Style) -> str:
    lines = []
    for check in result.get("checks") or []:
        mark = style.paint("ok  ", "green") if check.get("ok") else style.paint("FAIL", "red")
        lines.append(f"{mark}  {cell(check, 'name')}: {cell(check, 'detail', '')}".rstrip(": "))
        if not check.get("ok") and check.get("hint"):
            lines.append(f"      hint: {visible(str(check['hint']))}")
    return "\n".join(lines)


def _verify(result: Rows, style: Style) -> str:
    findings = [visible(f if isinstance(f, str) else ", ".join(f"{k} {v}" for k, v in f.items()))
                for f in result.get("findings") or []]  # fmt: skip
    facts = [f"{k} {v}" for k, v in result.items() if isinstance(v, int) and not isinstance(v, bool)]
    verdict = style.paint("the store is sound", "green") if result.get("ok") else style.paint("DAMAGED", "red")
    return "\n".join([*findings, f"{verdict} ({', '.join(facts)})" if facts else verdict])


def _sizes(result: Rows, style: Style) -> str:
    rows = []
    for key, value in result.items():
        sized = isinstance(value, int) and key.endswith("bytes")
        shown = human_size(value) if sized else f"{value:,}" if isinstance(value, int) else visible(str(value))
        rows.append([key.removesuffix("_bytes").replace("_", " "), shown])
    return "\n".join(aligned(rows))


AUDIT: dict[str, Callable[[Rows, Style], str]] = {
    "file_history": _history,
    "diff": _diffs,
    "list_tasks": _tasks,
    "task_show": _task,
    "workspace_status": _status,
    "show": _show,
    "blame": _blame,
    "trash_list": _trash,
    "doctor": _doctor,
    "verify": _verify,
    "du": _sizes,
}
