"""Begin, end, list and look at tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def begin(
    run: Run,
    objective: Annotated[str, Arg("What is to be achieved.")],
    track: Annotated[bool, Opt("--track", help="Keep the whole workspace's contents as they are now.")] = False,
) -> int:
    """Begin a task; what changes from here on can be taken back together."""
    keywords: dict[str, Any] = {"objective": objective}
    if track:
        return run.finish("begin_task", keywords, lambda service: service.begin_task(**keywords, track=True))
    return run.finish("begin_task", keywords, lambda service: service.begin_task(**keywords))


def end(run: Run, summary: Annotated[str | None, Opt(help="What was done.")] = None) -> int:
    """End the running task."""
    keywords: dict[str, Any] = {} if summary is None else {"summary": summary}
    return run.finish("end_task", keywords, lambda service: service.end_task(**keywords))


def list_tasks(run: Run, limit: Annotated[int, Opt(help="Most tasks.")] = 24) -> int:
    """List tasks, newest first."""
    keywords: dict[str, Any] = {"limit": limit}
    return run.finish("list_tasks", keywords, lambda service: service.list_tasks(**keywords))


def show(run: Run, task_id: Annotated[str, Arg("`current`, `last`, or an id.", metavar="ID")]) -> int:
    """Show a task and what it changed."""
    keywords: dict[str, Any] = {"task_id": task_id}
    return run.finish("task_show", keywords, lambda service: service.task_show(**keywords))


COMMANDS: dict[str, Callable[..., int]] = {"begin": begin, "end": end, "list": list_tasks, "show": show}
