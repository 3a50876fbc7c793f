"""The verbs that put back: restore by task, version or time; undo and redo."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from agenvoy.catalog import gone, versions
from agenvoy.disk.jail import inside
from agenvoy.disk.replace import Raced
from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.history import segments
from agenvoy.history.aftermath import folders_taken_back
from agenvoy.history.changes import Spec, is_empty, is_real_folder
from agenvoy.history.plan import OnConflict, Plan, Planner, plan_dict
from agenvoy.types import ConfirmRequest, Outcome, Version
from agenvoy.workspace import times
from agenvoy.workspace.checking import check, check_possible, check_rows, check_sound, conflict
from agenvoy.workspace.protecting import protect
from agenvoy.workspace.room import to_states, with_room
from agenvoy.workspace.session import Session
from agenvoy.workspace.tasks import meant
from agenvoy.workspace.tracked import settle

_NEUTRAL = "('undo', 'redo', 'external', 'recover', 'gc', 'purge')"  # kinds that neither undo nor redo goes through
_MODES = ("abort", "merge", "overwrite", "skip")


def restore_file(
    session: Session,
    version: int | None = None,
    task_id: str | None = None,
    time: str | None = None,
    path: str | None = None,
    dry_run: bool = False,
    on_conflict: str | None = None,
    plan_id: str | None = None,
) -> Outcome:
    """See the contract, `restore_file`; version wins over task_id, task_id over time."""
    session.not_for_subagents("restore_file")
    settle(session)
    mode = _mode(on_conflict)
    if version is not None:
        return _by_version(session, version, path, dry_run, plan_id)
    if task_id is not None:
        return _by_task(session, task_id, path, dry_run, mode, plan_id)
    if time is not None:
        return _by_time(session, time, path, dry_run, plan_id)
    raise AgenvoyError(
        "invalid_arguments",
        "nothing was named to restore",
        'give task_id ("current", "last" or an id), version (a number from file_history) or time (with path)',
    )


def _mode(on_conflict: str | None) -> OnConflict:
    if on_conflict is None:
        return "merge"
    for known in _MODES:
        if known == on_conflict:
            return known  # type: ignore[return-value]
    raise AgenvoyError("invalid_arguments", f"on_conflict {on_conflict!r} is unknown", f"one of {', '.join(_MODES)}")


def _below(session: Session, path: str | None) -> Callable[[str], bool]:
    """Whether a recorded path is the one that is meant, or below it."""
    if path is None:
        return lambda real: True
    roots = session.recorded_paths(path)
    return lambda real: any(real == r or real.startswith(r.rstrip("/") + "/") for r in roots)


# ---- by task
def _by_task(
    session: Session, task_id: str, path: str | None, dry_run: bool, mode: OnConflict, plan_id: str | None
) -> Outcome:
    task = meant(session, task_id)
    label = f"Restore({task.id})" if path is None else f"Restore({task.id}: {path})"
    wanted = _below(session, path)
    part = () if path is None else tuple(session.recorded_paths(path))

    def rows() -> list[Version]:
        with session.catalog.read() as c:
            found = segments.rows_of_task(c, task.id)
        # a move goes back whole, whichever of its ends is meant
        return [row for row in found if wanted(row.path) or (row.moved is not None and wanted(row.moved))]

    def make(found: list[Version]) -> Plan:
        with session.catalog.read() as c:
            folders = set(folders_taken_back(c, None, task.id, part))
        plan = Planner(session.log, folders).take_back(found, mode, f"task {task.id} {mode}")
        return with_room(session, plan, mode, folders)

    spec = session.spec("restore_file", "restore", label, begins=False)
    spec = replace(spec, target_task=task.id, part=part, forget=True)
    return _carry_out(session, "restore_file", label, spec, rows, make, dry_run, plan_id)


# ---- undo and redo
def undo(
    session: Session, dry_run: bool = False, on_conflict: str | None = None, plan_id: str | None = None
) -> Outcome:
    """Take back the newest operation of this workspace that holds."""
    session.not_for_subagents("undo")
    settle(session)
    workspace = session.workspace_id()
    with session.catalog.read() as c:
        found = versions.operations(
            c,
            "workspace = ? AND state IN (1, 3) AND undone_by IS NULL"
            f" AND kind NOT IN {_NEUTRAL}",
            (workspace or 0,),
            "ORDER BY id DESC LIMIT 1",
        )
    if not found:
        return _nothing(session, "undo", "there is nothing to undo")
    return _turn(session, "undo", found[0], dry_run, _mode(on_conflict), plan_id)


def redo(
    session: Session, dry_run: bool = False, on_conflict: str | None = None, plan_id: str | None = None
) -> Outcome:
    """Take back the newest undo, unless something was changed after it.

    Raises:
        AgenvoyError: not_available where there is no undo to take back.
    """
    session.not_for_subagents("redo")
    settle(session)
    workspace = session.workspace_id()
    with session.catalog.read() as c:
        found = versions.operations(
            c,
            "workspace = ? AND state IN (1, 3) AND kind = 'undo' AND undone_by IS NULL",
            (workspace or 0,),
            "ORDER BY id DESC LIMIT 1",
        )
        newer = found and versions.operations(
            c,
            f"workspace = ? AND state IN (1, 3) AND kind NOT IN {_NEUTRAL} AND id > ?",
            (workspace or 0, found[0].id),
            "LIMIT 1",
        )
    if not found:
        raise AgenvoyError("not_available", "there is nothing to redo", "undo something first")
    if newer:
        raise AgenvoyError(
            "not_available",
            f"there is nothing to redo: {newer[0].label} came after the last undo",
            "use restore_file with a version to get a state back",
        )
    return _turn(session, "redo", found[0], dry_run, _mode(on_conflict), plan_id)


def _turn(
    session: Session, verb: str, target: versions.Operation, dry_run: bool, mode: OnConflict, plan_id: str | None
) -> Outcome:
    label = f"{verb.capitalize()}({target.label})"

    def rows() -> list[Version]:
        with session.catalog.read() as c:
            return segments.rows_of_operation(c, target.id)

    def make(found: list[Version]) -> Plan:
        with session.catalog.read() as c:
            folders = set(folders_taken_back(c, target.id, None))
        plan = Planner(session.log, folders).take_back(found, mode, f"{verb} {target.id} {mode}")
        return with_room(session, plan, mode, folders)

    spec = session.spec(verb, verb, label, begins=False)
    spec = replace(spec, undoes=target.id, forget=True)
    outcome = _carry_out(session, verb, label, spec, rows, make, dry_run, plan_id)
    outcome.result["operation"] = target.id
    outcome.result["label"] = target.label
    return outcome


def _nothing(session: Session, verb: str, message: str) -> Outcome:
    result: dict[str, object] = {"applied": False, "plan_id": None, "changes": [], "reason": message}
    return Outcome(verb, f"{verb.capitalize()}()", result, "", session.task_ref())


# ---- by version and time
def _by_version(session: Session, version: int, path: str | None, dry_run: bool, plan_id: str | None) -> Outcome:
    with session.catalog.read() as c:
        row = versions.get(c, version)
        taken = gone.taken_by(c, version)
    if row is None or not any(inside(row.path, root) for root in session.settings.roots):
        raise AgenvoyError("no_such_version", f"there is no version {version} here", "file_history lists the versions")
    if taken is not None:
        raise AgenvoyError(
            "not_restorable",
            f"the bytes of version {version} were taken away by {taken[0]} on {times.show(taken[1])}",
            "choose another version with file_history",
        )
    if path is not None and not _below(session, path)(row.path):
        shown = session.jail.shown(row.path)
        raise AgenvoyError("invalid_arguments", f"version {version} is one of {shown}, not of {path}", "leave path out")
    label = f"Restore(version {version})"
    spec = session.spec("restore_file", "restore", label, begins=False)
    spec = replace(spec, forget=True)
    return _carry_out(
        session, "restore_file", label, spec, lambda: [row], lambda found: to_states(session, found, str(version)),
        dry_run, plan_id,
    )  # fmt: skip


def _by_time(session: Session, time: str, path: str | None, dry_run: bool, plan_id: str | None) -> Outcome:
    at = times.parse(time)
    if path is None:
        raise AgenvoyError("invalid_arguments", "time needs path", 'name a file or folder; "." is the whole workspace')
    roots = session.recorded_paths(path)
    label = f"Restore({path} at {time})"

    def rows() -> list[Version]:
        with session.catalog.read() as c:
            paths = sorted({p for root in roots for p in versions.below(c, root)})
            return [row for p in paths if (row := _at(versions.of_path(c, p), at)) is not None]

    spec = session.spec("restore_file", "restore", label, begins=False)
    spec = replace(spec, forget=True)
    return _carry_out(
        session, "restore_file", label, spec, rows, lambda found: to_states(session, found, f"time {at}"),
        dry_run, plan_id,
    )  # fmt: skip


def _at(rows: list[Version], at: int) -> Version | None:
    """The row that tells a path's state at a time: the newest until then, else the first (what was there before)."""
    until = [row for row in rows if row.at <= at]
    return until[-1] if until else rows[0] if rows else None


# ---- carrying out
def _carry_out(
    session: Session,
    tool: str,
    label: str,
    spec: Spec,
    rows: Callable[[], list[Version]],
    make: Callable[[list[Version]], Plan],
    dry_run: bool,
    plan_id: str | None,
) -> Outcome:
    if dry_run:
        found = rows()
        plan = make(found)
        session.vault.forget_staged()
        check_rows(session, found, plan, spec.target_task)
        check_possible(session, plan)
        check_sound(session, plan)
        return _answer(session, tool, label, plan, applied=False)
    session.writable_store()
    known, found = session.catalog.mark(), rows()
    session.ask(ConfirmRequest(tool, label, _question(session, label, found)))
    held = _touched(found)
    for _ in range(8):
        with session.log.hold(sorted(held)):
            if session.catalog.mark() != known:
                found = rows()
            session.vault.forget_staged()
            plan = make(found)
            paths = {item.path for item in plan.items}
            if not paths <= held:
                held |= paths
                continue  # what must make room has to be locked too, and then looked at again
            check_rows(session, found, plan, spec.target_task)
            check(session, plan, plan_id)
            if plan.changes() or spec.undoes is not None:  # an undo that finds its work done still counts as one
                _write(session, spec, plan)
            else:
                session.vault.forget_staged()
                _drop_made_folders(session, spec)
        protect(session, [change.path for change in plan.changes()], tool, label)
        return _answer(session, tool, label, plan, applied=True)
    raise AgenvoyError("store_busy", "the files keep changing while the restore is planned", "try again in a moment")


def _touched(rows: list[Version]) -> set[str]:
    """The paths that a plan for these rows is about; a moved file has two."""
    return {path for row in rows for path in (row.path, row.moved) if path}


def _drop_made_folders(session: Session, spec: Spec) -> None:
    """Nothing else is left of the task: empty folders that it made on the way to files go too."""
    with session.catalog.read() as c:
        folders = folders_taken_back(c, spec.undoes, spec.target_task, spec.part)
    for folder in sorted(folders, key=len, reverse=True):
        if is_real_folder(folder) and is_empty(folder):
            os.rmdir(folder)


def _question(session: Session, label: str, rows: list[Version]) -> str:
    paths = sorted({session.jail.shown(row.path) for row in rows})
    shown = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    return f"{label}: put back {shown or 'nothing'}?"


def _write(session: Session, spec: Spec, plan: Plan) -> None:
    spec = replace(spec, handled=plan.handled if spec.target_task else ())
    try:
        session.log.write(spec, plan.changes())
    except Raced:
        for item in plan.items:
            if not session.log.look(item.path).state.same(item.disk):
                item.outcome, item.reason = "conflict", "it was changed by somebody else at the same instant"
        raise conflict(session, plan, "a file was changed by somebody else at the same instant") from None
    except OSError as error:
        raise from_os_error(error, str(error.filename or "a file of the restore")) from error


def _answer(session: Session, tool: str, label: str, plan: Plan, *, applied: bool) -> Outcome:
    result = {"applied": applied, "plan_id": plan.id, "changes": plan_dict(plan, session.jail.shown)}
    return Outcome(tool, label, result, "", session.task_ref())
