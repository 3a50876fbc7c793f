"""The verb `run`: a command as part of the task, with what it changed recorded as one operation."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agenvoy.catalog import stamps, tasks
from agenvoy.catalog.stamps import Command
from agenvoy.errors import AgenvoyError
from agenvoy.types import Outcome
from agenvoy.workspace.session import Session
from agenvoy.workspace.tracked import Progress, Scanned, scan, settle, told

OWN_FAILURE, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127  # as env(1) and timeout(1)
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def run(
    session: Session,
    argv: Sequence[str],
    environment: Mapping[str, str],
    cwd: str,
    *,
    baseline: bool = True,
    progress: Progress = lambda entries: None,
) -> Outcome:
    """Run a command with the caller's terminal; record what it created, changed, deleted, renamed or re-linked.

    Args:
        argv: the command and its arguments; no shell is involved.
        environment, cwd: what the command gets; `AGENVOY_TASK` is added to the environment.
        baseline: keep the contents of files that were never seen before; without it their changes are recorded, but
            cannot be undone.
        progress: told how many entries the baseline has taken in.

    Raises:
        AgenvoyError: the store cannot be written, or the task does not exist; the command has not been started then.
    """
    if not argv:
        raise AgenvoyError("invalid_arguments", "no command was named", "agenvoy run -- COMMAND ARGUMENTS…")
    session.writable_store()
    settle(session)
    before = scan(session, content=baseline, progress=progress)
    command = _begin(session, argv)
    status = _spawn(argv, {**environment, "AGENVOY_TASK": command.task}, cwd)
    after = scan(session, command, snapshot=before.snapshot)
    with session.catalog.write() as c:
        stamps.end_command(c, command.id)
    return _outcome(session, command, status, before, after)


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


def _spawn(argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> int:
    """The command's exit status as a shell would give it (128 + number where a signal ended it)."""
    try:
        child = subprocess.Popen(list(argv), env=dict(environment), cwd=cwd)
    except FileNotFoundError:
        return NOT_FOUND
    except (PermissionError, OSError):
        return NOT_EXECUTABLE
    previous = {number: signal.signal(number, lambda n, _: child.send_signal(n)) for number in _PASSED_ON}
    # The terminal sends its own signals to the whole group: the command decides what they mean, and we wait for it.
    previous |= {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        status = child.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status


def _not_kept(session: Session, after: Scanned) -> list[str]:
    """What this command changed and the store cannot bring back: too large, or sensitive under a strict policy."""
    lost = {
        c.path for c in after.changes if c.before.kind in ("file", "link") and not session.vault.has(c.before.hash)
    }
    return sorted({*after.tally.too_large, *lost})


def _outcome(session: Session, command: Command, status: int, before: Scanned, after: Scanned) -> Outcome:
    shown = session.jail.shown
    result = {
        "command": command.command,
        "status": status,
        "operation": after.operation,
        "task_id": command.task,
        "changes": [
            {"path": shown(c.path), "change": "moved" if c.action == "move" else told(c.before, c.after)}
            for c in after.changes
        ],
        "outside": [shown(c.path) for c in before.changes],
        "left_out": dict(after.tally.left_out),
        "not_kept": [shown(path) for path in _not_kept(session, after)],
    }
    return Outcome("run", f"Run({command.command[:120]})", result, "", session.task_ref())
