"""The verb `adopt`: whose a change is, where stamps cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy.catalog import adopted, stamps, versions
from agenvoy.errors import AgenvoyError
from agenvoy.types import Outcome, Version
from agenvoy.workspace.session import Session
from agenvoy.workspace.tasks import meant
from agenvoy.workspace.tracked import scan


def adopt(
    session: Session, paths: Sequence[str] = (), task_id: str | None = None, outside: bool = False
) -> Outcome:
    """Give changes that happened outside the tools to a task, or take paths out of it again.

    Args:
        paths: files or folders; none: every outside change since the task began.
        task_id: the task; None: the caller's running one, else the last.
        outside: take the paths out of the task: its changes there count as somebody else's.

    Raises:
        AgenvoyError: invalid_arguments (`outside` without paths), no_task, no_such_task.
    """
    if outside and not paths:
        raise AgenvoyError("invalid_arguments", "no path was named", "adopt --outside PATH…")
    session.writable_store()
    workspace = session.workspace_id()
    running = session.running()
    task = meant(session, task_id) if task_id else running or meant(session, "last")
    with session.catalog.read() as c:
        whole = workspace is not None and stamps.last_scan(c, workspace) is not None
    if whole and not outside:
        scan(session)
    roots = [root for path in paths for root in session.recorded_paths(path)]

    def wanted(row: Version) -> bool:
        return not roots or any(row.path == r or row.path.startswith(r.rstrip("/") + "/") for r in roots)

    with session.catalog.read() as c:
        if outside:
            rows = [r for r in versions.of_task(c, task.id) if r.action not in ("observed", "external")]
        else:
            since = versions.Filter(session.settings.roots, since=task.begun_at)
            rows = [r for r in versions.page(c, since, 100_000) if r.action == "external" and r.task is None]
        rows = [row for row in rows if wanted(row)]
    with session.catalog.write() as c:
        adopted.assign(c, [row.id for row in rows], adopted.NOBODY if outside else task.id)
    result = {
        "task_id": task.id,
        "outside": outside,
        "rows": [{"version": r.id, "path": session.jail.shown(r.path)} for r in rows],
    }
    return Outcome("adopt", f"Adopt({', '.join(paths) or 'all'})", result, "", session.task_ref())
