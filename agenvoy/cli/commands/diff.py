"""diff: what differs between versions, or from the disk."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run, usage


def command(
    run: Run,
    path: Annotated[str | None, Arg("Only this file.", metavar="[PATH]")] = None,
    version: Annotated[str | None, Opt(metavar="A[:B]", help="A version, or two to compare.")] = None,
    task: Annotated[str | None, Opt(metavar="ID", help="What this task changed.")] = None,
) -> int:
    """Show differences: of the newest version from the disk, of versions, or of a task."""
    asked = {"path": None if path is None else run.path(path), "task_id": task}
    keywords: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if version is not None:
        parts = version.split(":")
        if len(parts) > 2 or not all(part.isdecimal() for part in parts):
            return run.refuse("diff", usage(f"--version cannot be {version!r}", "give --version 12 or --version 12:15"))
        keywords["version"] = (int(parts[0]), int(parts[1])) if len(parts) == 2 else int(parts[0])
    return run.finish("diff", keywords, lambda service: service.diff(**keywords))
