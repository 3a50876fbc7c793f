"""The error document, the same in every way in."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from agenvoy.contracts.base import Result


class ErrorBody(Result):
    """What went wrong; further members (`changes`, `files`, `diff` …) depend on the code."""

    code: str = Field(description="One of the error codes, such as not_read.")
    message: str = Field(description="What happened, to which path.")
    hint: str = Field("", description="The next useful call.")


class ErrorDocument(Result):
    """The answer of a call that was refused or failed."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    ok: bool = False
    tool: str
    label: str | None = None
    error: ErrorBody
