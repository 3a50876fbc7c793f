"""move: give a file another path."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run


def command(
    run: Run,
    path: Annotated[str, Arg("The file or symbolic link.")],
    to: Annotated[str, Arg("The new path; nothing may exist there.")],
) -> int:
    """Move or rename a file; its history follows."""
    keywords: dict[str, Any] = {"path": run.path(path), "to": run.path(to)}
    return run.finish("move_file", keywords, lambda service: service.move_file(**keywords))
