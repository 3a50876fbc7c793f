"""status: what changed, by whom."""

from __future__ import annotations

from agenvoy.cli.run import Run


def command(run: Run) -> int:
    """Show what this task, other tasks, and others outside the tools changed."""
    return run.finish("workspace_status", {}, lambda service: service.workspace_status())
