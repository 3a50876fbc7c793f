"""restore_file: back to a version, to before a task, or to a time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agenvoy.contracts.base import Request, Result, Whole


class RestoreRequest(Request):
    """Arguments of restore_file."""

    version: Whole | None = Field(
        None, description="Version number from file_history: the path becomes what it was then."
    )
    task_id: str | None = Field(
        None, description="`current`, `last`, or a task's id: everything that it changed is taken back."
    )
    time: str | None = Field(
        None, description="Local time such as `2026-08-13 15:04`; with path: back to what it was then."
    )
    path: str | None = Field(None, description="With task_id or time: only this file or folder.")
    dry_run: bool = Field(False, description="Show the plan and write nothing.")
    on_conflict: Literal["abort", "merge", "overwrite", "skip"] | None = Field(
        None,
        description="Where somebody else changed the same file since: merge (default) keeps both and refuses on "
        "overlap, abort refuses at once, overwrite takes the old state, skip restores the other files.",
    )
    plan_id: str | None = Field(None, description="From a dry run: carry out exactly that plan, or nothing.")


class Change(Result):
    """What happens to one path."""

    path: str
    outcome: str
    from_version: int | None = None
    to_version: int | None = None
    reason: str | None = None


class RestoreResult(Result):
    """What restore_file gives back; after a dry run `applied` is false."""

    applied: bool
    plan_id: str | None = None
    changes: list[Change]
