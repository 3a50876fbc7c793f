"""run: any command as part of the task."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

from agenvoy.cli.output import put
from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run
from agenvoy.errors import AgenvoyError

if TYPE_CHECKING:
    from agenvoy.workspace.spawning import Limits

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def command(
    run: Run,
    argv: Annotated[list[str], Arg("The command and its arguments, after `--`.", metavar="-- COMMAND …")],
    no_baseline: Annotated[bool, Opt("--no-baseline", help="Do not keep contents of files never seen before.")] = False,
    timeout: Annotated[
        float | None, Opt("--timeout", help="End the command, and what it started, after SECONDS.", metavar="SECONDS")
    ] = None,
    max_output: Annotated[
        int | None, Opt("--max-output", help="Pass on at most BYTES of output, and of errors.", metavar="BYTES")
    ] = None,
) -> int:
    """Run a command; what it changes in the workspace is recorded and undone with the task."""
    from agenvoy.workspace.running import OWN_FAILURE

    status = OWN_FAILURE
    try:
        limits = _limits(timeout, max_output)
        outcome = run.service().run(argv, dict(os.environ), os.getcwd(), baseline=not no_baseline, limits=limits)
        status = int(outcome.result["status"])
        for line in [*outcome.notices, *_summary(outcome.result)]:
            put(f"agenvoy: {line}", sys.stderr)
    except AgenvoyError as error:
        run.refuse("run", error)
        status = OWN_FAILURE
    return status


def _limits(timeout: float | None, max_output: int | None) -> Limits:
    from agenvoy.workspace.spawning import Limits

    if (timeout is not None and not timeout > 0) or (max_output is not None and max_output < 0):
        raise AgenvoyError("invalid_arguments", "a limit of `run` is not a positive number", "leave it out for none")
    return Limits(timeout, max_output)


def _summary(result: dict[str, object]) -> list[str]:
    changes, kept = result["changes"], result["not_kept"]
    assert isinstance(changes, list)
    assert isinstance(kept, list)
    lines = []
    if result["timed_out"]:
        lines.append("the command took too long and was ended")
    if result["output_dropped"]:
        lines.append(f"{result['output_dropped']} bytes of output beyond the limit were dropped")
    if changes:
        lines.append(
            f"{len(changes)} paths changed, recorded in task {result['task_id']}; undo: agenvoy restore --task current"
        )
    if kept:
        more = f" and {len(kept) - 5} more" if len(kept) > 5 else ""
        named = ", ".join(map(str, kept[:5])) + more
        lines.append(f"not kept (too large, sensitive, or no regular file), so their changes cannot be undone: {named}")
    left = result["background"]
    assert isinstance(left, list)
    if left:
        lines.append(
            f"still running in the background: {', '.join(map(str, left))}; what they change from now on is recorded "
            "as outside (agenvoy adopt gives it to the task)"
        )
    return lines
