"""read: show files, with row numbers."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    paths: Annotated[list[str], Arg("Files to show.", metavar="PATH...")],
    offset: Annotated[int, Opt(help="First row (page, slide …), from 1.")] = 1,
    limit: Annotated[int | None, Opt(help="Most rows.")] = None,
    around: Annotated[list[int] | None, Opt(help="Show this row and its surroundings; repeatable.")] = None,
    context: Annotated[int, Opt("--context", "-C", help="Rows on each side of --around.")] = 20,
    reason: Annotated[str | None, Opt(help="Why you read them.")] = None,
    password: Annotated[str | None, Opt(help="Password of an encrypted document.")] = None,
) -> int:
    """Show files, each row with its number."""
    common: dict[str, Any] = {"offset": offset, "context": context}
    extra = {"limit": limit, "around": around or None, "password": password}
    common |= {name: value for name, value in extra.items() if value is not None}
    files = [{"path": run.path(path), **common} for path in paths]
    keywords: dict[str, Any] = {"files": files} | ({"reason": reason} if reason else {})

    def status(result: Any) -> int:
        return 1 if any(entry.get("error") for entry in result["files"]) else 0

    return run.finish("read_files", keywords, lambda service: service.read_files(**keywords), status=status)
