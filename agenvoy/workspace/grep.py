"""The search of find_files: which files, what they hold, which part of it is on the page."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenvoy.disk.glob import Glob
from agenvoy.disk.jail import Jail, Place, inside
from agenvoy.disk.names import spell
from agenvoy.disk.walk import OutOfTime, Rules, Walk
from agenvoy.errors import AgenvoyError
from agenvoy.search.matcher import Matcher
from agenvoy.search.pages import Page
from agenvoy.search.searcher import Found, Wanted, search
from agenvoy.workspace import watch
from agenvoy.workspace.secrets import Secrets
from agenvoy.workspace.sources import WHOLE, NotText, Opener, Units, by_unit, document, pieces

_DOCUMENTS = frozenset(["pdf", "docx", "pptx", "xlsx", "odt", "ods", "odp"])
_REASONS = {"binary_file": "binary", "too_large": "document_too_large"}  # as `skipped` counts them
_TOLD = (".csv", ".tsv", ".ipynb", ".rtf")  # text, but searched as their readers show it where documents are


@dataclass(frozen=True, slots=True)
class Ask:
    """One query of a search: where, for what, in which files."""

    place: Place
    matcher: Matcher
    glob: Glob | None


@dataclass(slots=True)
class Options:
    """How a search goes; the members are those of find_files.

    `expired` tells that `timeout_s` is over, `units` reads documents (None: they are not searched).
    """

    output: str
    multiline: bool
    context: int
    rules: Rules
    page: Page
    expired: Callable[[], bool]
    units: Units | None = None
    skipped: Counter[str] = field(default_factory=Counter)


def search_files(jail: Jail, asks: Sequence[Ask], options: Options) -> dict[str, Any]:
    """Search files in byte order of their paths.

    Returns:
        rows, total, offset, limit, next_offset, complete, skipped; `stopped_at` is the first path that was not
        searched (wholly) where the time ran out. Then `total` counts what was found so far, and `next_offset` goes on
        behind the rows given: the same call with a larger `timeout_s` finds the same rows first.
    """
    secrets = Secrets(jail, options.expired)
    rows: list[dict[str, Any]] = []
    stopped: str | None = None
    try:
        files = _candidates(jail, asks, options, secrets)
    except OutOfTime:  # part of the files would come out of order, so none is searched
        files, stopped = {}, asks[0].place.real
    progress = watch.current().progress
    with Opener(jail) as opener:
        for number, path in enumerate(sorted(files, key=lambda p: os.fsencode(_order(jail, p)))):
            progress(number, len(files), "files searched")
            if options.expired() or not _search_one(jail, path, files[path], options, opener, secrets, rows):
                stopped = path
                break
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


def _order(jail: Jail, path: str) -> str:
    root = jail.settings.root
    return path[len(root) + 1 :] if inside(path, root) else path


def _search_one(
    jail: Jail,
    path: str,
    matchers: list[Matcher],
    options: Options,
    opener: Opener,
    secrets: Secrets,
    rows: list[dict[str, Any]],
) -> bool:
    """Search one file and add its rows; whether it was searched to its end."""
    page = options.page
    content = options.output == "content"
    wanted = page.wanted(options.context) if content else Wanted()
    try:
        found = _look(path, jail.shown(path), matchers, wanted, options, opener, secrets)
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


def _look(
    path: str, shown: str, matchers: list[Matcher], wanted: Wanted, options: Options, opener: Opener, secrets: Secrets
) -> Found:
    """What one file holds; raises NotText or OSError where it cannot be searched."""
    fd = opener.open(path)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise NotText("special")
        if secrets.linked(status):
            raise NotText("sensitive")
        if options.units is not None and path.lower().endswith(_TOLD) and status.st_size <= WHOLE:
            return _look_into(fd, shown, matchers, wanted, options)
        literals = tuple(m.literal for m in matchers)
        text = pieces(fd, status.st_size, literals if all(literals) else (), options.multiline)
        return search(text, matchers, wanted, options.expired)
    except NotText as why:
        if str(why) != "binary" or (options.units is None and path.rpartition(".")[2].lower() not in _DOCUMENTS):
            raise
        return _look_into(fd, shown, matchers, wanted, options)
    finally:
        os.close(fd)


def _look_into(fd: int, shown: str, matchers: list[Matcher], wanted: Wanted, options: Options) -> Found:
    """What one document holds, through its reader; a refusal of the reader is the reason why it is not searched."""
    if options.units is None:
        raise NotText("document") from None
    os.lseek(fd, 0, os.SEEK_SET)
    try:
        unit, pairs = options.units(fd, shown, options.expired)
        piece, numbers = document(pairs)
    except AgenvoyError as error:
        raise NotText(_REASONS.get(error.code, error.code)) from error
    except OutOfTime:
        return Found(complete=False)
    return by_unit(search([piece], matchers, wanted, options.expired), numbers, unit)


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
