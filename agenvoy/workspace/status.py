"""The verb `workspace_status`: what the running task changed, what others did since, what changed outside."""

from __future__ import annotations

from typing import Any

from agenvoy.catalog import Connection, adopted, versions
from agenvoy.errors import AgenvoyError
from agenvoy.types import ABSENT, Outcome, Version
from agenvoy.workspace.session import Session

_CHANGE = {"create": "created", "modify": "modified", "delete": "deleted", "move": "moved", "restore": "restored"}


def workspace_status(session: Session) -> Outcome:
    """See the contract, `workspace_status`; without a baseline `outside` is about the paths that the store knows."""
    from agenvoy.workspace.tracked import settle

    settle(session)
    task = session.running()
    workspace = session.workspace_id()
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    outside: list[dict[str, Any]] = []
    left_out: dict[str, int] = {}
    if workspace is not None:
        with session.catalog.read() as c:
            rows = versions.of_task(c, task.id) if task else []
            own = _by_path(rows)
            if task and adopted.any_for(c):
                own = _with_adopted(c, task.id, rows)
            since = task.begun_at if task else None
            later = versions.page(c, versions.Filter(session.settings.roots, since=since), 10_000) if task else []
            others = _by_path([r for r in reversed(later) if r.task != (task.id if task else None)])
        outside, left_out = _outside(session)
    result: dict[str, Any] = {
        "task": _rows(session, own),
        "others": _rows(session, others),
        "outside": outside,
    }
    if left_out:
        result["left_out"] = left_out
    return Outcome("workspace_status", "Status()", result, "", session.task_ref())


def _by_path(rows: list[Version]) -> dict[str, str]:
    return {r.path: _CHANGE[r.action] for r in rows if r.action in _CHANGE}


def _with_adopted(c: Connection, task: str, rows: list[Version]) -> dict[str, str]:
    """What a task changed: without the paths that were taken out of it, and with those that were given to it."""
    from agenvoy.workspace.tracked import told

    lost = adopted.taken(c, [row.id for row in rows], task)
    own = _by_path([row for row in rows if row.id not in lost])
    for number in adopted.given(c, task):
        row = versions.get(c, number)
        if row is not None:
            ahead = versions.before(c, row.path, row.id)
            own[row.path] = told(ahead.state if ahead is not None else ABSENT, row.state)
    return own


def _rows(session: Session, found: dict[str, str]) -> list[dict[str, Any]]:
    return [{"path": session.jail.shown(path), "change": change} for path, change in sorted(found.items())]


def _outside(session: Session) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """What changed outside: in the whole workspace once it has a baseline, else on the paths that the store knows."""
    from agenvoy.workspace.tracked import outside, told

    whole = outside(session)
    if whole is not None:
        return whole[0], {**whole[1].left_out, "too_large": len(whole[1].too_large)}
    found: list[dict[str, Any]] = []
    left_out: dict[str, int] = {}
    with session.catalog.read() as c:
        paths = sorted({p for root in session.settings.roots for p in versions.below(c, root)})
        newest = [row for p in paths if (row := versions.newest(c, p)) is not None]
    for row in newest:
        try:
            now = session.log.look(row.path, shown=session.jail.shown(row.path)).state
        except (PermissionError, AgenvoyError):  # nothing can be said of it, and that is said
            left_out["unreadable"] = left_out.get("unreadable", 0) + 1
            continue
        if not now.same(row.state):
            found.append({"path": session.jail.shown(row.path), "change": told(row.state, now)})
    return found, left_out
