"""find_files: list, glob and search, and what each may be asked."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenvoy.disk.glob import Glob, compile_glob, only_wildcards
from agenvoy.disk.ignores import global_excludes
from agenvoy.disk.jail import Jail, Place
from agenvoy.disk.walk import Rules
from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.search.matcher import Matcher
from agenvoy.search.pages import Page
from agenvoy.workspace import watch
from agenvoy.workspace.grep import search_files
from agenvoy.workspace.listing import Listing, with_names
from agenvoy.workspace.looking import Ask, Options
from agenvoy.workspace.sources import Units

MAX_CONTEXT = 1000  # rows; more is a reading, for which there is read_files


def find_files(
    jail: Jail,
    *,
    mode: str | None = None,
    queries: Sequence[Mapping[str, Any]],
    output: str = "files",
    multiline: bool = False,
    context: int = 0,
    case_sensitive: bool = True,
    hidden: bool = False,
    ignored: bool = False,
    documents: bool = False,
    timeout_s: float = 30.0,
    offset: int = 0,
    limit: int = 256,
    now: Callable[[], float] = time.monotonic,
    units: Units | None = None,
    index: str = "",
    watched: bool = False,
) -> dict[str, Any]:
    """List folders, find files by name, or search their text.

    Args:
        jail: judges the folders.
        mode: list, glob, search; None: what the queries say.
        queries: each with dir, pattern, file_pattern, recursive.
        output: of a search: files or content.
        multiline, context, case_sensitive: of a search (contract, section 3).
        hidden, ignored, documents: whether hidden and git-ignored files and, through `units`, documents are looked at.
        timeout_s: seconds after which what was found is returned.
        offset, limit: the page of a search.
        now: a clock in seconds.
        units: reads a document.
        index, watched: path of the workspace's search index, and whether it may be watched; empty: it is not used.

    Returns:
        `rows`, `complete` and `skipped` (by reason); a search adds what `search_files` says, list and glob `dropped`.

    Raises:
        AgenvoyError: invalid_arguments, invalid_pattern, not_found, and what the jail says of a dir.
    """
    mode = _mode(mode, queries)
    _check_numbers(context, timeout_s, offset, limit)
    end, stopped = now() + timeout_s, watch.current().stopped

    def expired() -> bool:
        return now() > end or stopped()

    rules = replace(rules_of(jail, expired), hidden=hidden, ignored=ignored)
    places = [_place(jail, "." if q.get("dir") is None else str(q["dir"])) for q in queries]
    if mode == "search":
        asks = _asks(places, queries, multiline, case_sensitive)
        rules = with_names(rules, [a.glob for a in asks])
        options = Options(output, any(a.matcher.multiline for a in asks), context, rules, Page(offset, limit), expired,
                          units if documents else None, lambda: end - now(), index, watched)  # fmt: skip
        return search_files(jail, asks, options)
    if mode == "glob":
        globs = [_glob(q, p, refuse=True) for q, p in zip(queries, places, strict=True)]
        return Listing(jail, rules).glob(places, globs)
    return Listing(jail, rules).list(places, [bool(q.get("recursive")) for q in queries])


def rules_of(jail: Jail, expired: Callable[[], bool]) -> Rules:
    """How a workspace is walked unless more is asked for.

    Args:
        jail: of the workspace.
        expired: whether the time is over.
    """
    settings = jail.settings
    excludes = global_excludes(settings.user_home, settings.config_home)
    return Rules(never=(jail.store,), top=settings.root, expired=expired, excludes=excludes)


def _mode(mode: str | None, queries: Sequence[Mapping[str, Any]]) -> str:
    """The mode that is meant; refuses queries that contradict it."""
    if not queries:
        raise AgenvoyError("invalid_arguments", "queries is empty", 'give at least one, such as {"dir": "."}')
    pattern = [q.get("pattern") is not None for q in queries]
    files = [q.get("file_pattern") is not None for q in queries]
    if mode is None:
        both = any(p and f for p, f in zip(pattern, files, strict=True))
        mode = "search" if both else "glob" if any(pattern) else "list"
    if mode == "list" and (any(pattern) or any(files)):
        raise AgenvoyError(
            "invalid_arguments",
            "a list takes neither pattern nor file_pattern",
            "use mode=glob with pattern to find files by name, mode=search to find text",
        )
    if mode == "glob" and any(files):
        raise AgenvoyError(
            "invalid_arguments", "a glob takes no file_pattern", "put the file name pattern into pattern"
        )
    if mode in ("glob", "search") and not all(pattern):
        raise AgenvoyError(
            "invalid_arguments", f"mode {mode} needs a pattern in every query", "add it, or call once for each mode"
        )
    return mode


def _check_numbers(context: int, timeout_s: float, offset: int, limit: int) -> None:
    for wrong, message, hint in (
        (
            offset < 0,
            f"offset is {offset}",
            "the first page has offset=0; later ones the next_offset of the last answer",
        ),
        (limit < 1, f"limit is {limit}", "give at least 1; 256 is the default"),
        (not 0 <= context <= MAX_CONTEXT, f"context is {context}", f"give 0 to {MAX_CONTEXT}, or use read_files"),
        (not timeout_s > 0, f"timeout_s is {timeout_s}", "give more than 0 seconds; 30 is the default"),
    ):
        if wrong:
            raise AgenvoyError("invalid_arguments", message, hint)


def _place(jail: Jail, folder: str) -> Place:
    place = jail.resolve(folder)
    try:
        mode = os.lstat(place.real).st_mode
    except OSError as error:
        raise from_os_error(error, folder) from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise AgenvoyError("not_a_file", f"{folder} is neither a folder nor a regular file", "name a folder as dir")
    return place


def _glob(query: Mapping[str, Any], place: Place, *, refuse: bool = False) -> Glob:
    pattern = str(query["pattern"] if refuse else query["file_pattern"])
    if refuse and pattern and only_wildcards(pattern):
        raise AgenvoyError(
            "invalid_arguments",
            f"the glob {pattern} holds no literal character and would match everything",
            "add one, as in *.py; to see all of a folder use mode=list with recursive=true",
        )
    return compile_glob(pattern, place.real)


def _asks(
    places: list[Place], queries: Sequence[Mapping[str, Any]], multiline: bool, case_sensitive: bool
) -> list[Ask]:
    matchers: dict[str, Matcher] = {}
    asks = []
    for place, query in zip(places, queries, strict=True):
        pattern = str(query["pattern"])
        if not pattern:
            raise AgenvoyError("invalid_arguments", "the search pattern is blank", "give the text to look for")
        if pattern not in matchers:
            matchers[pattern] = Matcher(pattern, multiline=multiline, case_sensitive=case_sensitive)
        glob = None if query.get("file_pattern") is None else _glob(query, place)
        asks.append(Ask(place, matchers[pattern], glob))
    return asks
