"""restore: back to a version, to before a task, or to a time."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run, usage


def command(
    run: Run,
    path: Annotated[str | None, Arg("Only this file or folder.", metavar="[PATH]")] = None,
    version: Annotated[int | None, Opt(help="A version number from `agenvoy history`.")] = None,
    task: Annotated[str | None, Opt(metavar="ID", help="`current`, `last`, or a task's id.")] = None,
    time: Annotated[str | None, Opt(help="A local time such as '2026-08-13 15:04'; needs PATH.")] = None,
    dry_run: Annotated[bool, Opt("--dry-run", help="Show the plan and write nothing.")] = False,
    on_conflict: Annotated[str | None, Opt(help="merge (default), abort, overwrite or skip.")] = None,
    plan_id: Annotated[str | None, Opt(help="From a dry run: exactly that plan, or nothing.")] = None,
) -> int:
    """Put files back; it asks first.

    Changes that others made since are kept where they do not overlap; otherwise nothing is changed (exit status 4).
    """
    if version is None and task is None and time is None:
        hint = "such as: agenvoy restore --task current"
        return run.refuse("restore_file", usage("give --version N, --task ID|current|last, or --time T", hint))
    if on_conflict not in (None, "merge", "abort", "overwrite", "skip"):
        hint = "use merge, abort, overwrite or skip"
        return run.refuse("restore_file", usage(f"--on-conflict cannot be {on_conflict!r}", hint))
    asked = {
        "version": version, "task_id": task, "time": time, "path": None if path is None else run.path(path),
        "on_conflict": on_conflict, "plan_id": plan_id,
    }  # fmt: skip
    keywords: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    keywords["dry_run"] = dry_run
    return run.finish("restore_file", keywords, lambda service: service.restore_file(**keywords))
