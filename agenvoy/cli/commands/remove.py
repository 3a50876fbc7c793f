"""remove: files into the trash."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    path: Annotated[str, Arg("The file or symbolic link; a folder with --recursive.")],
    recursive: Annotated[bool, Opt("--recursive", "-r", help="A folder with all that is in it.")] = False,
) -> int:
    """Move a file (or a folder) to the trash; it asks first."""
    keywords: dict[str, Any] = {"path": run.path(path)}
    if recursive:
        return run.finish("remove_tree", keywords, lambda service: service.remove_tree(**keywords))
    return run.finish("remove_file", keywords, lambda service: service.remove_file(**keywords))
