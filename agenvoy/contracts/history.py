"""file_history: what was recorded, and what differs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agenvoy.contracts.base import Request, Result, Whole


class HistoryRequest(Request):
    """Arguments of file_history."""

    mode: Literal["list", "read"] | None = Field(
        None, description="list (default): recorded versions, newest first; read: unified diffs."
    )
    path: str | None = Field(None, description="One file; also one that was moved or removed.")
    paths: list[str] | None = Field(None, description="Several files.")
    task_id: str | None = Field(None, description="list: only what this task did (`current`, `last`, or an id).")
    from_: str | None = Field(
        None, alias="from", description="list: from this local time on, such as `2026-08-13 15:04`."
    )
    to: str | None = Field(None, description="list: up to this local time.")
    before_version: Whole | None = Field(None, description="list: the next page, from `next` of the page before.")
    versions: list[Whole] | None = Field(
        None, description="read: two version numbers to compare; left out: newest version against the disk."
    )
    limit: Whole = Field(24, description="list: most rows, at most 24.")


class HistoryRow(Result):
    """One recorded state of one path; `mode` is octal text such as "0644"."""

    version: int
    path: str
    action: str
    kind: str | None = None
    size: int | None = None
    mode: str | None = None
    hash: str | None = None
    task_id: str | None = None
    objective: str | None = None
    actor: str | None = None
    tool: str | None = None
    changed_at: str
    restorable: bool = True
    reason: str | None = None
    moved: str | None = None


class FileDiff(Result):
    """A unified diff of one path (binary or sensitive: sizes and hashes)."""

    path: str
    diff: str


class HistoryResult(Result):
    """What file_history gives back: `rows` and `next` in mode list, `diffs` in mode read."""

    rows: list[HistoryRow] | None = None
    next: int | None = None
    diffs: list[FileDiff] | None = None
