"""The verb `run`: a command as part of the task, with what it changed recorded as one operation."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agenvoy.blobs.files import process_alive
from agenvoy.catalog import stamps, tasks
from agenvoy.catalog.stamps import Command
from agenvoy.errors import AgenvoyError
from agenvoy.types import Outcome
from agenvoy.workspace.session import Session
from agenvoy.workspace.spawning import Ended, Limits, spawn
from agenvoy.workspace.tracked import Progress, Scanned, going_on, scan, settle, told

OWN_FAILURE = 125  # as env(1) and timeout(1); what else they say of a command is in `spawning`


def run(
    session: Session,
    argv: Sequence[str],
    environment: Mapping[str, str],
    cwd: str,
    *,
    baseline: bool = True,
    limits: Limits = Limits(),
    progress: Progress = lambda entries: None,
) -> Outcome:
    """Run a command with the caller's terminal; record what it created, changed, deleted, renamed or re-linked.

    Args:
        argv: the command and its arguments; no shell is involved.
        environment, cwd: what the command gets; `AGENVOY_TASK` and `AGENVOY_RUN` (for an `agenvoy run` in it) are added
            to the environment.
        baseline: keep the contents of files that were never seen before; without it their changes are recorded, but
            cannot be undone.
        limits: how long the command may take, and how much it may print.
        progress: told how many entries the baseline has taken in.

    Raises:
        AgenvoyError: the store cannot be written, or the task does not exist; the command has not been started then.
    """
    if not argv:
        raise AgenvoyError("invalid_arguments", "no command was named", "agenvoy run -- COMMAND ARGUMENTS…")
    session.writable_store()
    settle(session)
    outer = _outer(session, environment) or going_on(session)
    before = scan(session, outer, content=baseline, progress=progress)  # so far it was the other command's doing
    command = _begin(session, argv)
    own = {"AGENVOY_TASK": command.task, "AGENVOY_RUN": str(command.id)}
    ended = spawn(argv, {**environment, **own}, cwd, limits)
    after = scan(session, command, snapshot=before.snapshot)
    _leave(session, command, ended.left)
    return _outcome(session, command, ended, None if outer else before, after)


def _begin(session: Session, argv: Sequence[str]) -> Command:
    spec = session.spec("run", "run", "")
    at, shown = session.clock(), shlex.join(argv).encode("utf-8", "backslashreplace").decode()
    assert spec.task is not None
    with session.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, spec.root)
        if spec.objective is not None:
            tasks.insert(c, spec.task, workspace, spec.actor, spec.objective, at)
        tasks.touch(c, spec.task, at)
        number = stamps.begin_command(c, workspace, spec.task, spec.actor, shown, os.getpid(), at)
    session.settings = replace(session.settings, task=spec.task)
    return Command(number, spec.task, spec.actor, shown, os.getpid(), at)


def _outer(session: Session, environment: Mapping[str, str]) -> Command | None:
    """The command of an `agenvoy run` that this one was started by, if it still goes on in this workspace."""
    named, workspace = environment.get("AGENVOY_RUN", ""), session.workspace_id()
    if not named.isdigit() or workspace is None:
        return None
    with session.catalog.read() as c:
        found = [command for command in stamps.open_commands(c, workspace) if command.id == int(named)]
    return found[0] if found and process_alive(found[0].pid) else None


def _leave(session: Session, command: Command, left: Sequence[tuple[int, int]]) -> None:
    """The command's window is over; what it left running is noted."""
    at, workspace = session.clock(), session.workspace_id()
    with session.catalog.write() as c:
        stamps.end_command(c, command.id)
        if workspace is not None:
            found = [stamps.Background(pid, started, command.task, command.command, at) for pid, started in left]
            stamps.leave_background(c, workspace, found)


def _not_kept(session: Session, before: Scanned | None, after: Scanned) -> list[str]:
    """What this command changed and nothing takes back: too large, sensitive under a strict policy, FIFOs and such."""
    lost = {
        c.path for c in after.changes if c.before.kind in ("file", "link") and not session.vault.has(c.before.hash)
    }
    made = after.tally.special if before is not None else []
    return sorted({*after.tally.too_large, *lost, *made})


def _outcome(session: Session, command: Command, ended: Ended, before: Scanned | None, after: Scanned) -> Outcome:
    shown = session.jail.shown
    result = {
        "command": command.command,
        "status": ended.status,
        "timed_out": ended.timed_out,
        "output_dropped": ended.dropped,
        "background": [pid for pid, _ in ended.left],
        "operation": after.operation,
        "task_id": command.task,
        "changes": [
            {"path": shown(c.path), "change": "moved" if c.action == "move" else told(c.before, c.after)}
            for c in after.changes
        ],
        "outside": [shown(c.path) for c in before.changes] if before is not None else [],
        "left_out": dict(after.tally.left_out),
        "not_kept": [shown(path) for path in _not_kept(session, before, after)],
    }
    return Outcome("run", f"Run({command.command[:120]})", result, "", session.task_ref())
