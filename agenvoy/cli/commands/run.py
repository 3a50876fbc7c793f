"""run: any command as part of the task."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from agenvoy.cli.output import put
from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run
from agenvoy.errors import AgenvoyError

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def command(
    run: Run,
    argv: Annotated[list[str], Arg("The command and its arguments, after `--`.", metavar="-- COMMAND …")],
    no_baseline: Annotated[bool, Opt("--no-baseline", help="Do not keep contents of files never seen before.")] = False,
) -> int:
    """Run a command; what it changes in the workspace is recorded and undone with the task."""
    from agenvoy.workspace.running import OWN_FAILURE

    status = OWN_FAILURE
    try:
        outcome = run.service().run(argv, dict(os.environ), os.getcwd(), baseline=not no_baseline)
        status = int(outcome.result["status"])
        for line in [*outcome.notices, *_summary(outcome.result)]:
            put(f"agenvoy: {line}", sys.stderr)
    except AgenvoyError as error:
        run.refuse("run", error)
        status = OWN_FAILURE
    return status


def _summary(result: dict[str, object]) -> list[str]:
    changes, kept = result["changes"], result["not_kept"]
    assert isinstance(changes, list)
    assert isinstance(kept, list)
    lines = []
    if changes:
        lines.append(
            f"{len(changes)} paths changed, recorded in task {result['task_id']}; undo: agenvoy restore --task current"
        )
    if kept:
        more = f" and {len(kept) - 5} more" if len(kept) > 5 else ""
        named = ", ".join(map(str, kept[:5])) + more
        lines.append(f"not kept (too large, or sensitive), so their changes cannot be undone: {named}")
    return lines
