"""write: a whole file from standard input."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run, usage


def command(run: Run, path: Annotated[str, Arg("The file to create or replace.")]) -> int:
    """Write standard input to a file.

    An existing file must have been read in this task (`agenvoy read`).
    """
    try:
        content = sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        return run.refuse(
            "edit_file", usage(f"standard input is not UTF-8 (byte {error.start})", "write text as UTF-8")
        )
    keywords: dict[str, Any] = {"path": run.path(path), "mode": "write", "content": content}
    return run.finish("edit_file", keywords, lambda service: service.edit_file(**keywords))
