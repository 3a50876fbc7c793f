"""begin_task, end_task, list_tasks, workspace_status."""

from __future__ import annotations

from pydantic import Field

from agenvoy.contracts.base import Request, Result, Whole


class BeginTaskRequest(Request):
    """Arguments of begin_task."""

    objective: str = Field(description="What is to be achieved, in one sentence.")


class BeginTaskResult(Result):
    """What begin_task gives back."""

    task_id: str


class EndTaskRequest(Request):
    """Arguments of end_task."""

    summary: str | None = Field(None, description="What was done, in a sentence or two.")


class EndTaskResult(Result):
    """What end_task gives back."""

    task_id: str
    summary: str | None = None


class ListTasksRequest(Request):
    """Arguments of list_tasks."""

    limit: Whole = Field(24, description="Most tasks to list, newest first.")


class TaskRow(Result):
    """One task; `undone_by` names the restore that took it back."""

    task_id: str
    objective: str
    summary: str | None = None
    actor: str
    begun_at: str
    ended_at: str | None = None
    running: bool
    files: int
    versions: int
    undone_by: int | str | None = None


class ListTasksResult(Result):
    """What list_tasks gives back."""

    rows: list[TaskRow]


class StatusRequest(Request):
    """Arguments of workspace_status: none."""


class StatusRow(Result):
    """A path and how it changed."""

    path: str
    change: str


class StatusResult(Result):
    """What workspace_status gives back: by the running task, by other tasks since it began, outside the tools."""

    task: list[StatusRow]
    others: list[StatusRow]
    outside: list[StatusRow]
