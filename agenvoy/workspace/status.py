"""The verb `workspace_status`: what the running task changed, what others did since, what changed outside."""

from __future__ import annotations

from typing import Any

from agenvoy.catalog import versions
from agenvoy.disk.jail import inside
from agenvoy.types import Outcome, State, Version
from agenvoy.workspace.session import Session

_CHANGE = {"create": "created", "modify": "modified", "delete": "deleted", "move": "moved", "restore": "restored"}


def workspace_status(session: Session) -> Outcome:
    """See the contract, `workspace_status`; `outside` is about the paths that the store knows."""
    task = session.running()
    workspace = session.workspace_id()
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    outside: list[dict[str, Any]] = []
    if workspace is not None:
        with session.catalog.read() as c:
            rows = versions.of_task(c, task.id) if task else []
            own = _by_path(rows)
            since = task.begun_at if task else None
            later = versions.page(c, versions.Filter(session.settings.roots, since=since), 10_000) if task else []
            others = _by_path([r for r in reversed(later) if r.task != (task.id if task else None)])
        outside = _outside(session)
    result = {
        "task": _rows(session, own),
        "others": _rows(session, others),
        "outside": outside,
    }
    return Outcome("workspace_status", "Status()", result, "", session.task_ref())


def _by_path(rows: list[Version]) -> dict[str, str]:
    return {r.path: _CHANGE[r.action] for r in rows if r.action in _CHANGE}


def _rows(session: Session, found: dict[str, str]) -> list[dict[str, Any]]:
    return [{"path": session.jail.shown(path), "change": change} for path, change in sorted(found.items())]


def _outside(session: Session) -> list[dict[str, Any]]:
    """Known paths whose disk is not their newest row."""
    found = []
    with session.catalog.read() as c:
        paths = sorted({p for root in session.settings.roots for p in versions.below(c, root)})
        newest = [row for p in paths if (row := versions.newest(c, p)) is not None]
    for row in newest:
        if not any(inside(row.path, root) for root in session.settings.roots):
            continue
        now = session.log.look(row.path, shown=session.jail.shown(row.path)).state
        if not now.same(row.state):
            found.append({"path": session.jail.shown(row.path), "change": _told(row.state, now)})
    return found


def _told(before: State, now: State) -> str:
    if now.kind == "absent":
        return "deleted"
    if before.kind == "absent":
        return "created"
    return "modified" if before.hash != now.hash or before.kind != now.kind else "mode changed"
