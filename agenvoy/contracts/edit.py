"""edit_file: write a file or patch it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from agenvoy.contracts.base import Request, Result

_ROWS = "use targets=[{old_string, new_string}]: copy the text to replace from read_files, without row numbers"


class EditTarget(Request):
    """One replacement."""

    old_string: str = Field(description="Exact text to replace, without row numbers; must occur once.")
    new_string: str = Field("", description="Text to put there; empty removes the old text. Taken literally.")
    replace_all: bool = Field(False, description="Replace every occurrence instead of exactly one.")


class EditRequest(Request):
    """Arguments of edit_file."""

    removed: ClassVar[dict[str, str]] = {
        "row": _ROWS,
        "rows": _ROWS,
        "insert_string": "to insert, use targets with an old_string that is kept at the start or end of new_string",
    }
    removed_values: ClassVar[dict[tuple[str, str], str]] = {
        ("mode", "remove"): "to remove a file, call remove_file {path}",
        ("mode", "restore"): "to put a file back, call restore_file {version} or restore_file {task_id}",
        ("mode", "insert"): "use mode=patch with an old_string that is kept at the start or end of new_string",
    }

    path: str = Field(description="The file, relative to the workspace root or absolute.")
    mode: Literal["write", "patch"] | None = Field(
        None, description="Left out: content means write, targets mean patch."
    )
    content: str | None = Field(None, description="write: the whole new content of the file.")
    targets: list[EditTarget] | None = Field(
        None, description="patch: replacements, all located in the original text; all are made or none."
    )


class EditResult(Result):
    """What edit_file gives back."""

    path: str
    version: int
    previous_version: int | None = None
    action: str
    replacements: int = 0
    bytes_before: int | None = None
    bytes_after: int | None = None
    diff: str | None = None
    undoable: bool = True
