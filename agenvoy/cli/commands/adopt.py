"""adopt: whose a change is."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    paths: Annotated[list[str], Arg("Files or folders; none: every outside change since the task began.")] = [],  # noqa: B006
    task: Annotated[str | None, Opt("--task", help="The task; default the running one, else the last.")] = None,
    outside: Annotated[bool, Opt("--outside", help="Take the paths out of the task instead.")] = False,
) -> int:
    """Give changes made outside the tools to a task, or take paths out of one."""
    keywords: dict[str, Any] = {"paths": [run.path(p) for p in paths], "task_id": task, "outside": outside}

    def show(result: Any) -> None:
        from agenvoy.cli.output import put

        verb = "taken out of" if result["outside"] else "given to"
        put(f"{len(result['rows'])} changes {verb} task {result['task_id']}")

    return run.finish("adopt", keywords, lambda service: service.adopt(**keywords), show=show)
