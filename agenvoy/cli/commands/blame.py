"""blame: which version each line comes from."""

from __future__ import annotations

from typing import Annotated

from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run


def command(run: Run, path: Annotated[str, Arg("The file.")]) -> int:
    """Show for each line of a file the version, task and actor that it comes from."""
    name = run.path(path)
    return run.finish("blame", {"path": name}, lambda service: service.blame(name))
