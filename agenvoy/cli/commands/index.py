"""index: the search index of a workspace."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Opt
from agenvoy.cli.run import Run


def command(run: Run, remove: Annotated[bool, Opt("--remove", help="Take the index away.")] = False) -> int:
    """Build the search index of the workspace, or bring it up to date.

    Searches use it where there is one, and answer the same without it.
    """

    def show(result: Any) -> None:
        from agenvoy.cli.output import put

        if remove:
            put(f"the index is gone; {result['removed']} bytes are free")
        else:
            put(f"{result['files']} files looked at, {result['indexed']} indexed ({result['bytes']} bytes) in "
                f"{result['seconds']} s; the index takes {result['size']} bytes")  # fmt: skip

    return run.finish("index", {"remove": remove}, lambda service: service.index(remove), show=show)
