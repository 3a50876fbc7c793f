"""history: what was recorded."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    path: Annotated[str | None, Arg("Only this file.", metavar="[PATH]")] = None,
    task: Annotated[str | None, Opt(metavar="ID", help="Only this task: `current`, `last`, or an id.")] = None,
    since: Annotated[str | None, Opt("--from", help="From this local time on.")] = None,
    until: Annotated[str | None, Opt("--to", help="Up to this local time.")] = None,
    before: Annotated[int | None, Opt("--before", help="Only versions before this one.")] = None,
    limit: Annotated[int, Opt(help="Most rows, at most 24.")] = 24,
) -> int:
    """Show recorded versions, newest first."""
    asked = {
        "path": None if path is None else run.path(path), "task_id": task, "from_": since, "to": until,
        "before_version": before,
    }  # fmt: skip
    keywords: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    keywords |= {"mode": "list", "limit": limit}
    return run.finish("file_history", keywords, lambda service: service.file_history(**keywords))
