"""list: the entries of a folder."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    dir: Annotated[str, Arg("The folder.", metavar="[DIR]")] = ".",
    recursive: Annotated[bool, Opt("--recursive", "-r", help="The whole subtree.")] = False,
    hidden: Annotated[bool, Opt(help="Hidden entries too.")] = False,
    ignored: Annotated[bool, Opt(help="Entries that .gitignore leaves out too.")] = False,
) -> int:
    """List a folder in alphabetical order."""
    query = {"dir": run.path(dir), "recursive": recursive}
    keywords: dict[str, Any] = {"mode": "list", "queries": [query], "hidden": hidden, "ignored": ignored}
    return run.finish("find_files", keywords, lambda service: service.find_files(**keywords))
