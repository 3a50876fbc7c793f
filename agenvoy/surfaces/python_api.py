"""The Python way in: `Workspace`, one typed method per native tool, and tasks as context managers.

    with Workspace.open("project") as ws, ws.task("rename the option", rollback=True) as task:
        ws.read_files(["setup.cfg"])
        ws.edit_file("setup.cfg", targets=[{"old_string": "colour", "new_string": "color"}])
        task.restore(dry_run=True)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from agenvoy.configfile import load
from agenvoy.contracts.base import Request, Result
from agenvoy.contracts.edit import EditRequest, EditResult
from agenvoy.contracts.files import MoveRequest, MoveResult, OpenRequest, OpenResult, RemoveRequest, RemoveResult
from agenvoy.contracts.find import FindRequest, FindResult
from agenvoy.contracts.history import HistoryRequest, HistoryResult
from agenvoy.contracts.parsing import parse
from agenvoy.contracts.read import ReadRequest, ReadResult
from agenvoy.contracts.restore import RestoreRequest, RestoreResult
from agenvoy.contracts.tasks import (
    BeginTaskRequest,
    BeginTaskResult,
    EndTaskRequest,
    EndTaskResult,
    ListTasksRequest,
    ListTasksResult,
    StatusRequest,
    StatusResult,
)
from agenvoy.disk.names import is_utf8, spell
from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.python_task import OnConflict, Task
from agenvoy.types import Confirm
from agenvoy.workspace.service import Service

R = TypeVar("R", bound=Result)
Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _path(path: Path) -> str:
    """A path as callers spell it; a name that is not UTF-8 (as `os.listdir` gives it) becomes `bytes:…`."""
    try:
        text = os.fsdecode(path)
        return text if is_utf8(text) else spell(text)
    except (TypeError, UnicodeError):
        raise AgenvoyError(
            "invalid_arguments", f"{path!r:.80} is no path", "give a str, bytes or os.PathLike that names a file"
        ) from None


class Workspace:
    """A folder whose files are read and changed through agenvoy's log.

    Open it with `Workspace.open`. It may be shared by threads: calls are carried out one at a time. A call is its own
    confirmation, but for sensitive files, which ask `confirm`. Every method raises `AgenvoyError`.
    """

    def __init__(self, service: Service, confirm: Confirm | None = None) -> None:
        self._service = service
        self._confirm = confirm
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        root: Path | None = None,
        *,
        home: Path | None = None,
        allow: Sequence[Path] = (),
        actor: str = "python",
        task: str | None = None,
        allow_sensitive: bool = False,
        confirm: Confirm | None = None,
        subagent: bool = False,
    ) -> Workspace:
        """Open a workspace.

        Args:
            root: its folder; None: AGENVOY_ROOT, else the nearest ancestor with `.git` or `.agenvoy`.
            home: where the store is; None: AGENVOY_HOME, else `~/.config/agenvoy`.
            allow: further folders that may be touched.
            actor: who is calling.
            task: id (or unique prefix) of the task that calls belong to; None: the running one.
            allow_sensitive: sensitive files are read without asking.
            confirm: asked before a sensitive file is read; None: refuse.
            subagent: whatever removes or puts back is refused.

        Raises:
            AgenvoyError: store_unavailable, store_corrupt.
        """
        settings = load(
            os.environ,
            os.getcwd(),
            root=None if root is None else os.fspath(root),
            home=None if home is None else os.fspath(home),
            allow=[os.fspath(folder) for folder in allow],
            actor=actor,
            task=task,
            yes=True,
            allow_sensitive=allow_sensitive,
            subagent=subagent,
        ).settings
        return cls(Service(settings, confirm=confirm), confirm)

    def close(self) -> None:
        """Close the store; the running task goes on until it is ended or taken up again."""
        with self._lock:
            self._service.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def root(self) -> str:
        """The workspace folder's real path."""
        return self._service.settings.root

    def find_files(
        self,
        queries: Sequence[Mapping[str, Any]],
        *,
        mode: Literal["list", "glob", "search"] | None = None,
        output: Literal["files", "content"] = "files",
        multiline: bool = False,
        context: int = 0,
        case_sensitive: bool = True,
        hidden: bool = False,
        ignored: bool = False,
        documents: bool = False,
        timeout_s: float = 30,
        offset: int = 0,
        limit: int = 256,
    ) -> FindResult:
        """List folders, find files by name, or search their contents (see the contract's `find_files`)."""
        arguments = {
            "queries": [dict(query) for query in queries], "mode": mode, "output": output, "multiline": multiline,
            "context": context, "case_sensitive": case_sensitive, "hidden": hidden, "ignored": ignored,
            "documents": documents, "timeout_s": timeout_s, "offset": offset, "limit": limit,
        }  # fmt: skip
        return self._run("find_files", FindRequest, FindResult, arguments)

    def read_files(self, files: Sequence[Path | Mapping[str, Any]], *, reason: str | None = None) -> ReadResult:
        """Read files; a path alone means its beginning, a mapping may name `offset`, `limit`, `around` …"""
        asked = [{**f, "path": _path(f["path"])} if isinstance(f, Mapping) else {"path": _path(f)} for f in files]
        return self._run("read_files", ReadRequest, ReadResult, {"files": asked, "reason": reason})

    def edit_file(
        self,
        path: Path,
        *,
        mode: Literal["write", "patch"] | None = None,
        content: str | None = None,
        targets: Sequence[Mapping[str, Any]] | None = None,
    ) -> EditResult:
        """Write a file (`content`) or patch it (`targets`: old_string, new_string, replace_all)."""
        patch = None if targets is None else [dict(target) for target in targets]
        arguments = {"path": _path(path), "mode": mode, "content": content, "targets": patch}
        return self._run("edit_file", EditRequest, EditResult, arguments)

    def remove_file(self, path: Path) -> RemoveResult:
        """Move a file or symbolic link to the trash."""
        return self._run("remove_file", RemoveRequest, RemoveResult, {"path": _path(path)})

    def move_file(self, path: Path, to: Path) -> MoveResult:
        """Move a file or symbolic link; nothing may exist at `to`."""
        return self._run("move_file", MoveRequest, MoveResult, {"path": _path(path), "to": _path(to)})

    def restore_file(
        self,
        *,
        version: int | None = None,
        task_id: str | None = None,
        time: str | None = None,
        path: Path | None = None,
        dry_run: bool = False,
        on_conflict: OnConflict | None = None,
        plan_id: str | None = None,
    ) -> RestoreResult:
        """Put back a version, what a task changed, or what was recorded at a time."""
        arguments = {
            "version": version, "task_id": task_id, "time": time, "path": None if path is None else _path(path),
            "dry_run": dry_run, "on_conflict": on_conflict, "plan_id": plan_id,
        }  # fmt: skip
        return self._run("restore_file", RestoreRequest, RestoreResult, arguments)

    def file_history(
        self,
        *,
        mode: Literal["list", "read"] | None = None,
        path: Path | None = None,
        paths: Sequence[Path] | None = None,
        task_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        before_version: int | None = None,
        versions: Sequence[int] | None = None,
        limit: int = 24,
    ) -> HistoryResult:
        """What was recorded (`mode="list"`, newest first), or unified diffs (`mode="read"`)."""
        arguments = {
            "mode": mode, "path": None if path is None else _path(path),
            "paths": None if paths is None else [_path(p) for p in paths], "task_id": task_id, "from": from_,
            "to": to, "before_version": before_version, "versions": None if versions is None else list(versions),
            "limit": limit,
        }  # fmt: skip
        return self._run("file_history", HistoryRequest, HistoryResult, arguments)

    def open_file(self, target: Path) -> OpenResult:
        """Open a path or URL with the system's default program."""
        return self._run("open_file", OpenRequest, OpenResult, {"target": _path(target)})

    def begin_task(self, objective: str) -> BeginTaskResult:
        """Begin a task; the actor's task before it ends."""
        return self._run("begin_task", BeginTaskRequest, BeginTaskResult, {"objective": objective})

    def end_task(self, summary: str | None = None) -> EndTaskResult:
        """End the running task."""
        return self._run("end_task", EndTaskRequest, EndTaskResult, {"summary": summary})

    def list_tasks(self, limit: int = 24) -> ListTasksResult:
        """Tasks of this workspace, newest first."""
        return self._run("list_tasks", ListTasksRequest, ListTasksResult, {"limit": limit})

    def workspace_status(self) -> StatusResult:
        """What the running task, other tasks, and others outside the tools changed."""
        return self._run("workspace_status", StatusRequest, StatusResult, {})

    def task(self, objective: str, *, rollback: bool = False) -> Task:
        """A task as a context manager: begun on entry, ended on exit; calls in between belong to it.

        Args:
            objective: what is to be achieved.
            rollback: take everything back when the block raises.
        """
        return Task(self, objective, rollback=rollback)

    def enter(self, task: str) -> Service:
        """Let calls belong to a task; gives back the service that they went to before."""
        with self._lock:
            former = self._service
            self._service = Service(replace(former.settings, task=task), confirm=self._confirm)
            return former

    def leave(self, former: Service) -> None:
        """Let calls go to a former service again (the end of what `enter` began)."""
        with self._lock:
            self._service.close()
            self._service = former

    def _run(self, tool: str, request: type[Request], result: type[R], arguments: Mapping[str, Any]) -> R:
        asked = parse(request, arguments, tool)
        keywords = {key: value for key, value in asked.model_dump().items() if value is not None}
        with self._lock:
            verb: Callable[..., Any] = getattr(self._service, tool)
            return result.model_validate(verb(**keywords).result)
