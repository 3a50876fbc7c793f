"""Look at removed files, or let them go."""

from __future__ import annotations

from collections.abc import Callable

from agenvoy.cli.run import Run


def list_trash(run: Run) -> int:
    """List removed files."""
    return run.finish("trash_list", {}, lambda service: service.trash_list())


def empty(run: Run) -> int:
    """Empty the trash; what the history holds can still be restored."""
    return run.finish("trash_empty", {}, lambda service: service.trash_empty())


COMMANDS: dict[str, Callable[..., int]] = {"list": list_trash, "empty": empty}
