"""The service: one method per verb, each giving an `Outcome` or raising `AgenvoyError`.

Arguments are those of the contract (`from` is `from_`). Verbs that change something run one at a time per service;
several services, threads and processes on one store are kept apart by the store's own locks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenvoy.config import Settings
from agenvoy.types import Clock, Confirm, NewId, Outcome
from agenvoy.workspace import watch
from agenvoy.workspace.session import Session


class Service:
    """One workspace, for one caller.

    Args:
        settings: see `config.Settings`.
        clock: epoch nanoseconds; default the system's.
        new_id: makes task ids; default time and chance.
        confirm: asks a person; None: nobody can be asked.
        step: called with a name after every write step (crash tests).
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        new_id: NewId | None = None,
        confirm: Confirm | None = None,
        step: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.session = Session(settings, clock=clock, new_id=new_id, confirm=confirm, step=step)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.session.close()

    def _told(self, outcome: Outcome) -> Outcome:
        """Add what waits to be told to the caller."""
        if not outcome.notices:
            outcome.notices = self.session.take_notices()
        return outcome

    def _locked(self, verb: Callable[..., Outcome], *args: Any, **kwargs: Any) -> Outcome:
        with self.session.lock, self.session.one_call():
            return self._told(verb(self.session, *args, **kwargs))

    # ---- the tools
    def find_files(self, queries: Sequence[dict[str, Any]], mode: str | None = None, **options: Any) -> Outcome:
        """List, glob or search; needs no store."""
        from agenvoy.workspace.find import find_files

        if options.get("documents"):
            from agenvoy.workspace.extracts import Extracts

            options["units"] = Extracts(self.session).units
        if self.settings.search_index:
            from agenvoy.workspace.indexing import index_path

            options["index"], options["watched"] = index_path(self.settings), self.settings.search_watch
        result = find_files(self.session.jail, mode=mode, queries=queries, **options)
        watch.check()
        first = next((q["pattern"] for q in queries if q.get("pattern")), None)
        label = f"Find({first or ', '.join(str(q.get('dir', '.')) for q in queries)})"
        return Outcome("find_files", label, result, "")

    def read_files(self, files: Sequence[dict[str, Any]], reason: str | None = None) -> Outcome:
        """Read files; see `workspace.reading`."""
        from agenvoy.workspace.reading import read_files

        outcome = read_files(self.session, files, reason)
        return self._told(outcome)

    def edit_file(
        self,
        path: str,
        mode: str | None = None,
        content: str | None = None,
        targets: Sequence[dict[str, Any]] | None = None,
    ) -> Outcome:
        """Write or patch a file; see `workspace.editing`."""
        from agenvoy.workspace.editing import edit_file

        return self._locked(edit_file, path, mode, content, targets)

    def remove_file(self, path: str) -> Outcome:
        """Move a file or link to the trash."""
        from agenvoy.workspace.editing import remove_file

        return self._locked(remove_file, path)

    def remove_tree(self, path: str) -> Outcome:
        """Move a folder with everything in it to the trash."""
        from agenvoy.workspace.editing import remove_tree

        return self._locked(remove_tree, path)

    def move_file(self, path: str, to: str) -> Outcome:
        """Move a file or link."""
        from agenvoy.workspace.editing import move_file

        return self._locked(move_file, path, to)

    def restore_file(self, **arguments: Any) -> Outcome:
        """Put back by version, task or time; see `workspace.restoring.restore_file`."""
        from agenvoy.workspace.restoring import restore_file

        return self._locked(restore_file, **arguments)

    def undo(self, **arguments: Any) -> Outcome:
        """Take back the newest operation."""
        from agenvoy.workspace.restoring import undo

        return self._locked(undo, **arguments)

    def redo(self, **arguments: Any) -> Outcome:
        """Take back the newest undo."""
        from agenvoy.workspace.restoring import redo

        return self._locked(redo, **arguments)

    def file_history(self, **arguments: Any) -> Outcome:
        """List versions, or show diffs; see `workspace.audit.file_history`."""
        from agenvoy.workspace.audit import file_history

        return self._locked(file_history, **arguments)

    def show(self, version: int) -> Outcome:
        """One version with its text."""
        from agenvoy.workspace.audit import show

        return self._locked(show, version)

    def diff(self, **arguments: Any) -> Outcome:
        """Diffs of versions, paths or a task."""
        from agenvoy.workspace.audit import diff

        return self._locked(diff, **arguments)

    def blame(self, path: str) -> Outcome:
        """Who gave each line its present form."""
        from agenvoy.workspace.audit import blame

        return self._locked(blame, path)

    def workspace_status(self) -> Outcome:
        """What the task changed, what others did since, what changed outside."""
        from agenvoy.workspace.status import workspace_status

        return self._locked(workspace_status)

    def open_file(self, target: str) -> Outcome:
        """Open with the system's handler."""
        from agenvoy.workspace.opening import open_file

        return open_file(self.session, target)

    def begin_task(self, objective: str, *, track: bool = False) -> Outcome:
        """Begin a task; the actor's running one ends. With `track`, the workspace is scanned into the store first."""
        from agenvoy.workspace.tasks import begin_task

        if track:
            from agenvoy.workspace.tracked import scan

            with self.session.lock:
                scan(self.session)
        return self._locked(begin_task, objective)

    def end_task(self, summary: str = "") -> Outcome:
        """End the running task."""
        from agenvoy.workspace.tasks import end_task

        return self._locked(end_task, summary)

    def list_tasks(self, limit: int = 24) -> Outcome:
        """The newest tasks."""
        from agenvoy.workspace.tasks import list_tasks

        return self._locked(list_tasks, limit)

    def task_show(self, task_id: str) -> Outcome:
        """One task with its changes."""
        from agenvoy.workspace.tasks import task_show

        return self._locked(task_show, task_id)

    def run(self, argv: Sequence[str], environment: Mapping[str, str], cwd: str, **options: Any) -> Outcome:
        """Run a command and record what it changed; see `workspace.running.run`."""
        from agenvoy.workspace.running import run

        return self._locked(run, argv, environment, cwd, **options)

    def hook(self, client: str, event: Mapping[str, Any]) -> str | None:
        """Take an event of an agent's own hooks; see `workspace.hooks.handle`."""
        from agenvoy.workspace.hooks import handle

        with self.session.lock:
            return handle(self.session, client, event)

    def adopt(self, **arguments: Any) -> Outcome:
        """Give outside changes to a task, or take paths out of one; see `workspace.adopting.adopt`."""
        from agenvoy.workspace.adopting import adopt

        return self._locked(adopt, **arguments)

    # ---- the store
    def trash_list(self) -> Outcome:
        """Removed files."""
        from agenvoy.workspace.store import trash_list

        return self._locked(trash_list)

    def trash_empty(self) -> Outcome:
        """Remove the plain copies of removed files."""
        from agenvoy.workspace.store import trash_empty

        return self._locked(trash_empty)

    def gc(self, **arguments: Any) -> Outcome:
        """Take away the bytes of old versions; see `workspace.store.gc`."""
        from agenvoy.workspace.store import gc

        return self._locked(gc, **arguments)

    def purge(self, path: str) -> Outcome:
        """Forget what was recorded of a path."""
        from agenvoy.workspace.store import purge

        return self._locked(purge, path)

    def index(self, remove: bool = False) -> Outcome:
        """Build the search index, or bring it up to date; see `workspace.indexing`."""
        from agenvoy.workspace.store import index

        return self._locked(index, remove)

    def du(self) -> Outcome:
        """Sizes."""
        from agenvoy.workspace.store import du

        return self._locked(du)

    def verify(self) -> Outcome:
        """Check everything in the store."""
        from agenvoy.workspace.store import verify

        with self.session.lock:
            return verify(self.session)

    def doctor(self) -> Outcome:
        """Check this machine and the store."""
        from agenvoy.workspace.store import doctor

        with self.session.lock:
            return doctor(self.session)
