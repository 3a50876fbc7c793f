"""read: show files, with row numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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

    def verb(service: Any) -> Any:
        with _progress():
            return service.read_files(**keywords)

    return run.finish("read_files", keywords, verb, status=status)


@contextmanager
def _progress() -> Iterator[None]:
    """How far a long reading (a transcript, say) has come, on a terminal; the line goes when it is over."""
    if not sys.stderr.isatty():
        yield
        return
    from agenvoy.workspace.watch import Watch, watching

    def show(done: float, total: float | None, message: str) -> None:
        width = 30
        part = min(1.0, done / total) if total else 0.0
        bar = "#" * int(part * width) + "." * (width - int(part * width))
        sys.stderr.write(f"\r[{bar}] {part:4.0%} {message[:40]}\x1b[K")
        sys.stderr.flush()

    with watching(Watch(progress=show)):
        yield
    sys.stderr.write("\r\x1b[K")
