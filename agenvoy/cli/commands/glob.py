"""glob: files by name."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    pattern: Annotated[str, Arg("Such as `*.py` (at any depth) or `src/**/*.{ts,tsx}`.")],
    dir: Annotated[str, Arg("Where to look.", metavar="[DIR]")] = ".",
    hidden: Annotated[bool, Opt(help="Hidden files too.")] = False,
    ignored: Annotated[bool, Opt(help="Files that .gitignore leaves out too.")] = False,
) -> int:
    """Find files by name, newest first."""
    query = {"dir": run.path(dir), "pattern": pattern}
    keywords: dict[str, Any] = {"mode": "glob", "queries": [query], "hidden": hidden, "ignored": ignored}
    return run.finish("find_files", keywords, lambda service: service.find_files(**keywords))
