"""The verb `read_files` with the read memory: what was shown is remembered for the caller's task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenvoy.catalog import reads, tasks, trashed, versions
from agenvoy.catalog.tasks import Task
from agenvoy.disk.jail import Place
from agenvoy.errors import AgenvoyError
from agenvoy.types import ConfirmRequest, Outcome, TaskRef
from agenvoy.workspace.extracts import Extracts
from agenvoy.workspace.read import ReadEntry
from agenvoy.workspace.read import read_files as read_all
from agenvoy.workspace.relevance import Relevance
from agenvoy.workspace.session import Session

_LATELY_NS = 60_000_000_000  # a task that was used within it need not be noted as used again


def read_files(session: Session, files: Sequence[dict[str, Any]], reason: str | None = None) -> Outcome:
    """See the contract, `read_files`.

    A store that cannot be used does not keep anybody from reading: the answer then carries a notice.
    """
    if not files:
        raise AgenvoyError("invalid_arguments", "files is empty", 'name at least one: files: [{"path": …}]')
    label = f"Read({', '.join(str(f.get('path')) for f in files)})"
    seen: list[tuple[Place, ReadEntry]] = []
    relevance = Relevance(session, reason)

    def remember(request: dict[str, Any], entry: ReadEntry) -> None:
        if not relevance.withholds(request, entry):
            seen.append((entry.place, entry))

    def ask(place: Place) -> None:
        session.ask(
            ConfirmRequest("read_files", f"Read({place.shown})", f"show the sensitive file {place.shown}?", True)
        )

    result = read_all(
        session.jail,
        list(files),
        confirm_sensitive=ask,
        remember=remember,
        kept=Extracts(session),
    )
    notices, task = _remember(session, seen)
    return Outcome("read_files", label, result, "", task, notices, [i for _, entry in seen for i in entry.images])


def _remember(session: Session, seen: list[tuple[Place, ReadEntry]]) -> tuple[list[str], TaskRef | None]:
    try:
        task = session.running()
        if session.catalog.read_only:
            return ["The store is read-only: this read is not remembered, and edits are refused."], None
        if not _remembered(session, seen, task):
            _store(session, seen)
        return [], TaskRef(task.id, task.objective) if task else None
    except AgenvoyError as error:
        if error.code not in ("store_corrupt", "store_unavailable", "store_busy", "disk_full"):
            raise
        return [f"This read is not remembered, and edits will be refused: {error.message}."], None


def _remembered(session: Session, seen: list[tuple[Place, ReadEntry]], task: Task | None) -> bool:
    """Whether the store knows all of it already: the same contents were read just before, and nothing was changed."""
    workspace, now = session.workspace_id(), session.clock()
    if workspace is None or (task is not None and not 0 <= now - task.active_at < _LATELY_NS):
        return False
    scope = task.id if task is not None else reads.scope_of(workspace, session.settings.actor)
    with session.catalog.read() as c:
        after = versions.last_id(c)
        return all(
            reads.seen(c, scope, session.identity(place.real)) == reads.Seen(entry.hash, after)
            and (entry.data is None or session.vault.has(entry.hash))
            for place, entry in seen
        )


def _store(session: Session, seen: list[tuple[Place, ReadEntry]]) -> None:
    if not seen:
        return
    vault, at = session.vault, session.clock()
    paths = {place.real: session.identity(place.real) for place, _ in seen}
    with session.lock:
        for _, entry in seen:
            if entry.data is not None and not vault.has(entry.hash):
                vault.stage(entry.data)
        with session.catalog.write(sync=False) as c:
            workspace = tasks.ensure_workspace(c, session.settings.root)
            vault.enter(c)
            task = _task(session)
            if task is not None:
                tasks.touch(c, task, at)
            scope = task or reads.scope_of(workspace, session.settings.actor)
            after = versions.last_id(c)
            for place, entry in seen:
                reads.remember(c, scope, paths[place.real], entry.hash, after, at)
                _note_names(c, paths[place.real])


def _task(session: Session) -> str | None:
    task = session.running()
    return task.id if task else None


def _note_names(c: Any, path: str) -> None:
    """A file with several names is known under the first one that was read or changed."""
    import os
    import stat

    try:
        found = os.lstat(path)
    except OSError:  # it was removed right after it was read
        return
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        trashed.note_inode(c, found.st_dev, found.st_ino, path)
