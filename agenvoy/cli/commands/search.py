"""search: lines by content."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run


def command(
    run: Run,
    pattern: Annotated[str, Arg("An RE2 regular expression.")],
    dir: Annotated[str, Arg("Folder or file to search.", metavar="[DIR]")] = ".",
    glob: Annotated[str | None, Opt("--glob", "-g", help="Only files of this name pattern.")] = None,
    files: Annotated[bool, Opt("--files", "-l", help="Only files and their number of matching lines.")] = False,
    context: Annotated[int, Opt("--context", "-C", help="Lines around each match.")] = 0,
    ignore_case: Annotated[bool, Opt("--ignore-case", "-i", help="Case does not matter.")] = False,
    multiline: Annotated[bool, Opt("--multiline", "-U", help="Match across lines.")] = False,
    hidden: Annotated[bool, Opt(help="Hidden files too.")] = False,
    ignored: Annotated[bool, Opt(help="Files that .gitignore leaves out too.")] = False,
    documents: Annotated[bool, Opt(help="Look into PDF, DOCX, PPTX and tables too.")] = False,
    timeout: Annotated[float, Opt(help="Stop after so many seconds with what was found.")] = 30,
    offset: Annotated[int, Opt(help="Rows to skip.")] = 0,
    limit: Annotated[int, Opt(help="Most rows.")] = 256,
) -> int:
    """Find lines by content."""
    query: dict[str, Any] = {"dir": run.path(dir), "pattern": pattern}
    if glob is not None:
        query["file_pattern"] = glob
    keywords: dict[str, Any] = {
        "mode": "search", "queries": [query], "output": "files" if files else "content", "multiline": multiline,
        "context": context, "case_sensitive": not ignore_case, "hidden": hidden, "ignored": ignored,
        "documents": documents, "timeout_s": timeout, "offset": offset, "limit": limit,
    }  # fmt: skip
    return run.finish("find_files", keywords, lambda service: service.find_files(**keywords))
