"""read_files: what is in files of any kind."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agenvoy.contracts.base import Request, Result, Whole


class ReadTarget(Request):
    """One file and which part of it."""

    path: str = Field(description="The file, relative to the workspace root or absolute.")
    offset: Whole = Field(1, description="First row (page, slide …) to show, from 1.")
    limit: Whole | None = Field(None, description="Most rows to show.")
    around: Whole | list[Whole] | None = Field(
        None, description="Row number or numbers to show with their surroundings; offset and limit are then ignored."
    )
    context: Whole = Field(20, description="Rows shown on each side of `around`; 0 shows that row only.")
    password: str | None = Field(None, description="Password of an encrypted document.")


class ReadRequest(Request):
    """Arguments of read_files."""

    files: list[ReadTarget] = Field(
        description="The files to read, answered in this order.", min_length=1, max_length=4096
    )
    reason: str | None = Field(None, description="Why you read them, in one sentence.")


class ReadEntry(Result):
    """One file that was asked for; `error` is set where it could not be read."""

    path: str
    kind: str | None = None
    unit: str | None = None
    total: int | None = None
    from_: int | None = Field(None, alias="from")
    to: int | None = None
    next_offset: int | None = None
    text: str | None = None
    encoding: str | None = None
    newline: str | None = None
    size: int | None = None
    error: dict[str, Any] | None = None


class ReadResult(Result):
    """What read_files gives back: one entry per request, in order."""

    files: list[ReadEntry]
