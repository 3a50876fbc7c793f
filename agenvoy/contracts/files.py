"""remove_file, move_file, open_file."""

from __future__ import annotations

from pydantic import Field

from agenvoy.contracts.base import Request, Result


class RemoveRequest(Request):
    """Arguments of remove_file."""

    path: str = Field(description="The file or symbolic link to remove; never a folder.")


class RemoveResult(Result):
    """What remove_file gives back; `moved_to` is the absolute place in the trash.

    `undoable` is false where the policy for sensitive files kept no copy.
    """

    path: str
    moved_to: str | None
    version: int
    previous_version: int | None = None
    undoable: bool = True


class MoveRequest(Request):
    """Arguments of move_file."""

    path: str = Field(description="The file or symbolic link to move.")
    to: str = Field(description="The new path, file name included; nothing may exist there yet.")


class MoveResult(Result):
    """What move_file gives back."""

    path: str
    to: str
    version: int | None = None
    previous_version: int | None = None


class OpenRequest(Request):
    """Arguments of open_file."""

    target: str = Field(description="A path in the workspace, or a URL.")


class OpenResult(Result):
    """What open_file gives back."""

    target: str
    opened: bool = True
