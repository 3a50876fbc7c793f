"""undo: take back the newest operation."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    dry_run: Annotated[bool, Opt("--dry-run", help="Show the plan and write nothing.")] = False,
    on_conflict: Annotated[str, Opt(help="merge, abort, overwrite or skip.")] = "merge",
    plan_id: Annotated[str | None, Opt(help="From a dry run: exactly that plan, or nothing.")] = None,
) -> int:
    """Take back the newest operation of this workspace; it asks first."""
    keywords: dict[str, Any] = {"dry_run": dry_run, "on_conflict": on_conflict, "plan_id": plan_id}
    return run.finish("undo", keywords, lambda service: service.undo(**keywords))
