"""The verbs about tasks, and what `current` and `last` mean."""

from __future__ import annotations

from typing import Any

from agenvoy.catalog import tasks, versions
from agenvoy.catalog.tasks import Task
from agenvoy.errors import AgenvoyError
from agenvoy.types import Outcome, TaskRef
from agenvoy.workspace import times
from agenvoy.workspace.session import Session

LONGEST_OBJECTIVE = 4000  # characters; every answer of the task repeats it


def begin_task(session: Session, objective: str) -> Outcome:
    """See the contract, `begin_task`; the actor's running task ends."""
    if not objective.strip():
        raise AgenvoyError("invalid_arguments", "the objective is blank", "say in a sentence what the task is for")
    if len(objective) > LONGEST_OBJECTIVE:
        told = f"the objective has {len(objective):,} characters, and at most {LONGEST_OBJECTIVE:,} are kept"
        raise AgenvoyError("invalid_arguments", told, "say in a sentence what the task is for")
    session.writable_store()
    new, at = session.new_id(), session.clock()
    with session.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, session.settings.root)
        tasks.end_all(c, workspace, session.settings.actor, at)
        tasks.insert(c, new, workspace, session.settings.actor, objective, at)
    return Outcome("begin_task", f"Begin({objective})", {"task_id": new}, "", TaskRef(new, objective))


def end_task(session: Session, summary: str = "") -> Outcome:
    """See the contract, `end_task`; raises no_task where none is running."""
    task = session.running()
    if task is None or task.ended_at is not None:
        raise no_task(session, "no task is running, so none can be ended")
    session.writable_store()
    with session.catalog.write() as c:
        tasks.end(c, task.id, session.clock(), summary)
    result = {"task_id": task.id, "summary": summary}
    return Outcome("end_task", f"End({task.id})", result, "", TaskRef(task.id, task.objective))


def list_tasks(session: Session, limit: int = 24) -> Outcome:
    """See the contract, `list_tasks`."""
    if limit < 1:
        raise AgenvoyError("invalid_arguments", "limit must be at least 1", "leave limit out for the newest 24 tasks")
    workspace = session.workspace_id()
    rows: list[dict[str, Any]] = []
    if workspace is not None:
        with session.catalog.read() as c:
            rows = [describe(session, task) for task in tasks.newest(c, workspace, limit)]
    return Outcome("list_tasks", f"Tasks({len(rows)})", {"rows": rows}, "", session.task_ref())


def describe(session: Session, task: Task) -> dict[str, Any]:
    """A task as answers show it."""
    with session.catalog.read() as c:
        files, rows = tasks.counts(c, task.id)
    idle = task.active_at < session.idle_since()
    ended = task.ended_at if task.ended_at is not None else task.active_at if idle else None
    return {
        "task_id": task.id,
        "objective": task.objective,
        "summary": task.summary or None,
        "actor": task.actor,
        "begun_at": times.show(task.begun_at),
        "ended_at": None if ended is None else times.show(ended),
        "running": ended is None,
        "files": files,
        "versions": rows,
        "undone_by": task.undone_by,
    }


def task_show(session: Session, task_id: str) -> Outcome:
    """A task with its changes (the CLI's `task show`)."""
    task = meant(session, task_id)
    with session.catalog.read() as c:
        rows = versions.of_task(c, task.id)
    changes: list[dict[str, Any]] = []
    for path in dict.fromkeys(row.path for row in rows):
        own = [r for r in rows if r.path == path]
        done = [r for r in own if r.action not in ("observed", "external")]
        if done:
            changes.append(
                {"path": session.jail.shown(path), "change": done[-1].action, "versions": [r.id for r in own]}
            )
    result = {**describe(session, task), "changes": changes}
    return Outcome("task_show", f"Task({task.id})", result, "", session.task_ref())


def meant(session: Session, name: str) -> Task:
    """The task that `current`, `last`, an id or a prefix means; raises no_task, no_such_task."""
    if name not in ("current", "last"):
        return session.find_task(name)
    workspace = session.workspace_id()
    if workspace is not None:
        found = _last(session, workspace) if name == "last" else _current(session, workspace)
        if found is not None:
            return found
    raise no_task(session, "no task with changes is running" if name == "current" else "no task has changed anything")


def _last(session: Session, workspace: int) -> Task | None:
    with session.catalog.read() as c:
        found = tasks.with_changes(c, workspace, None, 1)
    return found[0] if found else None


def _current(session: Session, workspace: int) -> Task | None:
    own = session.running()
    with session.catalog.read() as c:
        if own is not None and tasks.with_changes(c, workspace, [own.id], 1):
            return own
        others = tasks.running(c, workspace, None, session.idle_since())
        found = tasks.with_changes(c, workspace, [t.id for t in others], 8) if others else []
    if len(found) > 1:
        shown = "; ".join(f"{t.id} ({t.actor}: {t.objective or 'no objective'})" for t in found)
        raise AgenvoyError("no_task", "several running tasks have changes", f"name one: {shown}")
    return found[0] if found else None


def no_task(session: Session, message: str) -> AgenvoyError:
    """The error where no task is meant; its hint names the last one."""
    workspace = session.workspace_id()
    last = _last(session, workspace) if workspace is not None else None
    if last is None:
        return AgenvoyError("no_task", message, "begin one with begin_task")
    return AgenvoyError(
        "no_task", message, f"the last task with changes is {last.id} ({last.objective or 'no objective'}); name it"
    )
