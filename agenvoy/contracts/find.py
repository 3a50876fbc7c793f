"""find_files: names and contents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agenvoy.contracts.base import Request, Result, Whole


class FindQuery(Request):
    """One place and what to look for there."""

    dir: str = Field(".", description="Folder (or file) to look in, relative to the workspace root or absolute.")
    pattern: str | None = Field(
        None, description="glob: file name pattern such as `*.py`; search: RE2 regular expression."
    )
    file_pattern: str | None = Field(None, description="search: glob of the files to search, such as `*.{ts,tsx}`.")
    recursive: bool = Field(False, description="list only: list the whole subtree. Search and glob always do.")


class FindRequest(Request):
    """Arguments of find_files."""

    mode: Literal["list", "glob", "search"] | None = Field(
        None,
        description="list: entries of a folder; glob: files by name, newest first; search: lines by content. "
        "Left out: pattern and file_pattern mean search, pattern alone glob, neither list.",
    )
    queries: list[FindQuery] = Field(description="One or more places; their results are merged without doubles.")
    output: Literal["files", "content"] = Field(
        "files", description="search: files gives one row per file with line numbers, content one row per line."
    )
    multiline: bool = Field(False, description="search: match against the whole file; `.` crosses lines.")
    context: Whole = Field(0, description="search with output=content: lines shown around each match.")
    case_sensitive: bool = Field(True, description="search: whether case matters.")
    hidden: bool = Field(False, description="Also look at hidden files (never at .git).")
    ignored: bool = Field(False, description="Also look at files that .gitignore leaves out.")
    documents: bool = Field(False, description="search: also look into PDF, DOCX, PPTX and tables.")
    timeout_s: float = Field(30, description="search: seconds after which what was found so far is returned.")
    offset: Whole = Field(0, description="search: rows to skip, from next_offset of the page before.")
    limit: Whole = Field(256, description="search: most rows of a page.")


class FileRow(Result):
    """An entry of list or glob."""

    path: str
    kind: str
    size: int | None = None
    modified_at: str | None = None


class MatchRow(Result):
    """A file with matches; `lines` are the first five line numbers, fit for read_files' `around`.

    In a document they count its units (`unit`: page, slide, row …), fit for read_files' `offset`.
    """

    path: str
    count: int
    lines: list[int]
    unit: str | None = None


class LineRow(Result):
    """A matching line, or a neighbour of one (`context`); `cut` where it was too long to be shown whole."""

    path: str
    line: int
    text: str
    context: bool | None = None
    cut: bool | None = None
    unit: str | None = None


class FindResult(Result):
    """What find_files gives back; `total` to `next_offset` belong to search, `dropped` to list and glob.

    `complete` is false where the time limit was reached, at the path `stopped_at`.
    """

    rows: list[LineRow | MatchRow | FileRow]
    dropped: int | None = None
    total: int | None = None
    offset: int | None = None
    limit: int | None = None
    next_offset: int | None = None
    complete: bool | None = None
    stopped_at: str | None = None
    skipped: dict[str, int] | None = None
