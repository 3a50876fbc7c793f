"""purge: forget what was recorded of a path."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run


def command(run: Run, path: Annotated[str, Arg("A file or folder; it stays as it is.")]) -> int:
    """Forget every recorded version of a path for good (a secret, say); it asks first."""
    keywords: dict[str, Any] = {"path": run.path(path)}

    def show(result: Any) -> None:
        from agenvoy.cli.output import put

        put(f"{result['versions']} versions of {len(result['paths'])} paths forgotten; {result['bytes']} bytes freed")

    return run.finish("purge", keywords, lambda service: service.purge(**keywords), show=show)
