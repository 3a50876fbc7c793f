"""edit: replace text in a file."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run, usage


def command(
    run: Run,
    path: Annotated[str, Arg("The file to patch.")],
    old: Annotated[list[str] | None, Opt("--old", help="Text to replace; must occur once.")] = None,
    new: Annotated[list[str] | None, Opt("--new", help="Text to put there, one for each --old.")] = None,
    every: Annotated[bool, Opt("--all", help="Replace every occurrence.")] = False,
) -> int:
    """Replace text in a file that was read in this task; several pairs are made together or not at all."""
    before, after = old or [], new or []
    if not before or len(before) != len(after):
        return run.refuse(
            "edit_file", usage("give one --new for each --old", "agenvoy edit PATH --old TEXT --new TEXT")
        )
    targets = [{"old_string": a, "new_string": b, "replace_all": every} for a, b in zip(before, after, strict=True)]
    keywords: dict[str, Any] = {"path": run.path(path), "mode": "patch", "targets": targets}
    return run.finish("edit_file", keywords, lambda service: service.edit_file(**keywords))
