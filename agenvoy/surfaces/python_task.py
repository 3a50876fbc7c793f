"""A task of the Python API as a context manager."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Literal

from agenvoy.contracts.restore import RestoreResult
from agenvoy.errors import AgenvoyError
from agenvoy.workspace.service import Service

if TYPE_CHECKING:
    from agenvoy.surfaces.python_api import Path, Workspace

OnConflict = Literal["abort", "merge", "overwrite", "skip"]


class Task:
    """One task of a workspace; made by `Workspace.task`."""

    def __init__(self, workspace: Workspace, objective: str, *, rollback: bool) -> None:
        self._workspace = workspace
        self._rollback = rollback
        self._former: list[Service] = []
        self.objective = objective
        self.id = ""

    def restore(
        self, *, path: Path | None = None, dry_run: bool = False, on_conflict: OnConflict | None = None
    ) -> RestoreResult:
        """Take back what this task changed, everywhere or at `path` only."""
        return self._workspace.restore_file(task_id=self.id, path=path, dry_run=dry_run, on_conflict=on_conflict)

    def __enter__(self) -> Task:
        self.id = self._workspace.begin_task(self.objective).task_id
        self._former.append(self._workspace.enter(self.id))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """End the task; with `rollback`, first take it back where the block raised."""
        try:
            if error is not None and self._rollback:
                self.restore()
        finally:
            try:
                self._workspace.end_task(f"stopped by {kind.__name__}" if kind else None)
            except AgenvoyError as ended:
                if ended.code != "no_task":  # it was ended already, by the block or by a task begun in it
                    raise
            finally:
                self._workspace.leave(self._former.pop())
