"""The search of find_files: which files, what they hold, which part of it is on the page."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from agenvoy.disk.glob import Glob
from agenvoy.disk.jail import Jail, Place
from agenvoy.disk.names import spell
from agenvoy.disk.walk import OutOfTime, Walk
from agenvoy.errors import AgenvoyError
from agenvoy.search.matcher import Matcher
from agenvoy.search.searcher import Wanted
from agenvoy.workspace import watch
from agenvoy.workspace.looking import Ask, Options, look
from agenvoy.workspace.secrets import Secrets
from agenvoy.workspace.sources import NotText, Opener
from agenvoy.workspace.sweep import Sweep, order_below


def search_files(jail: Jail, asks: Sequence[Ask], options: Options) -> dict[str, Any]:
    """Search files in byte order of their paths.

    Returns:
        rows, total, offset, limit, next_offset, complete, skipped; `stopped_at` is the first path that was not
        searched (wholly) where the time ran out. Then `total` counts what was found so far, and `next_offset` goes on
        behind the rows given: the same call with a larger `timeout_s` finds the same rows first.
    """
    rows, stopped = (_swept if _sweepable(jail, asks, options) else _one_by_one)(jail, asks, options)
    page = options.page
    result: dict[str, Any] = {
        "rows": rows,
        "total": page.seen,
        "offset": page.offset,
        "limit": page.limit,
        "next_offset": page.next_offset(stopped is None),
        "complete": stopped is None,
        "skipped": dict(sorted(options.skipped.items())),
    }
    if stopped is not None:
        result["stopped_at"] = jail.shown(stopped)
    return result


Rows = list[dict[str, Any]]


def _sweepable(jail: Jail, asks: Sequence[Ask], options: Options) -> bool:
    """Whether the search is one of a folder for text: the usual one, for which there is a quick way."""
    place = asks[0].place
    if options.units is not None or any(ask.place.real != place.real for ask in asks):
        return False
    if ".git" in place.real.split("/") or not stat.S_ISDIR(os.lstat(place.real).st_mode):
        return False
    return not any(named_outright(jail, place, ask.glob) for ask in asks)


def _swept(jail: Jail, asks: Sequence[Ask], options: Options) -> tuple[Rows, str | None]:
    """All files of a folder; the rows of the page, and the path where the time ran out."""
    order = order_below(jail.settings.root)
    progress = watch.current().progress
    hits, stopped = Sweep(
        jail,
        asks,
        options,
        names_of(ask.glob for ask in asks),
        order,
        lambda done: progress(done, None, "folders searched"),
    ).run()
    rows: Rows = []
    page = options.page
    if options.output != "content":
        shown = hits[page.offset : page.offset + page.limit]
        rows = [{"path": jail.shown(path), "count": count, "lines": lines} for path, count, lines in shown]
        page.seen = len(hits)
        return rows, stopped
    secrets = Secrets(jail, options.expired)
    with Opener(jail) as opener:
        for path, count, _ in hits:
            if page.seen + count <= page.offset or page.seen >= page.offset + page.limit:
                page.seen += count
            else:
                late = replace(options, expired=lambda: False)  # it was searched in time, and is only looked up
                _search_one(jail, path, _wanting(asks, path), late, opener, secrets, rows)
        if stopped is not None and not os.path.isdir(stopped):
            _search_one(jail, stopped, _wanting(asks, stopped), options, opener, secrets, rows)
    return rows, stopped


def _wanting(asks: Sequence[Ask], path: str) -> list[Matcher]:
    """The patterns that are meant for a file below the folder of the queries."""
    relative = path[len(asks[0].place.real.rstrip("/")) + 1 :]
    return list(dict.fromkeys(a.matcher for a in asks if a.glob is None or a.glob.matches(relative)))


def _one_by_one(jail: Jail, asks: Sequence[Ask], options: Options) -> tuple[Rows, str | None]:
    """The files of several folders, files named outright, and documents; what `_swept` gives."""
    secrets = Secrets(jail, options.expired)
    rows: Rows = []
    try:
        files = _candidates(jail, asks, options, secrets)
    except OutOfTime:  # part of the files would come out of order, so none is searched
        return rows, asks[0].place.real
    progress = watch.current().progress
    order = order_below(jail.settings.root)
    with Opener(jail) as opener:
        for number, path in enumerate(sorted(files, key=order)):
            progress(number, len(files), "files searched")
            if options.expired() or not _search_one(jail, path, files[path], options, opener, secrets, rows):
                return rows, path
    return rows, None


def _search_one(
    jail: Jail,
    path: str,
    matchers: list[Matcher],
    options: Options,
    opener: Opener,
    secrets: Secrets,
    rows: Rows,
) -> bool:
    """Search one file and add its rows; whether it was searched to its end."""
    page = options.page
    content = options.output == "content"
    wanted = page.wanted(options.context) if content else Wanted()
    try:
        found = look(path, jail.shown(path), matchers, wanted, options, opener, secrets)
    except NotText as why:
        options.skipped[str(why)] += 1
        return True
    except OSError:
        options.skipped["unreadable"] += 1
        return True
    unit = {"unit": found.unit} if found.unit else {}
    if content:
        for row in found.rows:
            marks = {name: True for name, on in (("context", row.context), ("cut", row.cut)) if on}
            rows.append({"path": jail.shown(path), "line": row.line, "text": row.text, **marks, **unit})
        page.seen += found.count
    elif found.count and found.complete:
        if page.takes():
            rows.append({"path": jail.shown(path), "count": found.count, "lines": found.lines, **unit})
        page.seen += 1
    return found.complete


def _candidates(jail: Jail, asks: Sequence[Ask], options: Options, secrets: Secrets) -> dict[str, list[Matcher]]:
    """The files to be searched, each with the patterns that are meant for it."""
    files: dict[str, list[Matcher]] = {}
    for dir_asks in _by_dir(asks):
        for path, ask in _listed(jail, dir_asks, options):
            if secrets.named(path):
                options.skipped["sensitive"] += 1
                continue
            wanted = files.setdefault(path, [])
            if ask.matcher not in wanted:
                wanted.append(ask.matcher)
    return files


def _by_dir(asks: Sequence[Ask]) -> list[list[Ask]]:
    """The queries grouped by folder, so that each folder is walked once."""
    groups: dict[str, list[Ask]] = {}
    for ask in asks:
        groups.setdefault(ask.place.real, []).append(ask)
    return list(groups.values())


def _listed(jail: Jail, asks: list[Ask], options: Options) -> Iterator[tuple[str, Ask]]:
    """Each file of one folder with each query that wants it; what is left out is counted."""
    place = asks[0].place
    if not stat.S_ISDIR(os.lstat(place.real).st_mode):
        yield from _single(jail, asks, options)
        return
    if ".git" in place.real.split("/"):
        options.skipped["git"] += 1
        return
    for ask in asks:
        outright = named_outright(jail, place, ask.glob)
        if outright:
            yield outright, ask
    walk = Walk(place.real, options.rules)
    cut = len(place.real.rstrip("/")) + 1
    for entry in walk:
        wanting = [a for a in asks if a.glob is None or a.glob.matches(entry.path[cut:])]
        if entry.kind == "file":
            for ask in wanting:
                yield entry.path, ask
        elif wanting and entry.kind != "dir":
            options.skipped["link" if entry.kind == "link" else "special"] += 1
    options.skipped.update(walk.skipped)


def _single(jail: Jail, asks: list[Ask], options: Options) -> Iterator[tuple[str, Ask]]:
    """A file that was given as `dir`."""
    for ask in asks:
        if jail.settings.is_sensitive(ask.place.asked):
            options.skipped["sensitive"] += 1
        elif ask.glob is None or ask.glob.matches(ask.place.name):
            yield ask.place.real, ask


def named_outright(jail: Jail, place: Place, glob: Glob | None, *, follow: bool = True) -> str | None:
    """The real path of the file that a pattern without wildcards names below a folder; None where there is none."""
    if glob is None or glob.literal is None:
        return None
    try:
        found = jail.resolve(spell(os.path.join(place.real, glob.literal)), follow=follow)
        mode = os.lstat(found.real).st_mode
    except (AgenvoyError, OSError):  # absent or out of bounds: nothing is named, the walk says what there is
        return None
    return found.real if stat.S_ISREG(mode) or stat.S_ISLNK(mode) else None


def names_of(globs: Iterable[Glob | None]) -> list[str]:
    """The bare file names that are patterns by themselves: such files are kept though hidden or ignored."""
    return [g.literal for g in globs if g is not None and g.literal and "/" not in g.literal]
