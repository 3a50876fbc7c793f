"""What one file holds: opened without following links, decoded as the reader decodes it, searched."""

from __future__ import annotations

import math
import os
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agenvoy.disk.folders import OutOfTime, Rules
from agenvoy.disk.glob import Glob
from agenvoy.disk.jail import Place
from agenvoy.errors import AgenvoyError
from agenvoy.search.matcher import Matcher
from agenvoy.search.pages import Page
from agenvoy.search.searcher import Found, Wanted, search
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

    `expired` tells that `timeout_s` is over, `left` how many seconds are left of it, `units` reads documents (None:
    they are not searched), `index` is the path of the workspace's search index (empty: it is not used), `watch` whether
    the kernel's word is taken for what has changed since.
    """

    output: str
    multiline: bool
    context: int
    rules: Rules
    page: Page
    expired: Callable[[], bool]
    units: Units | None = None
    left: Callable[[], float] = lambda: math.inf
    index: str = ""
    watch: bool = False
    skipped: Counter[str] = field(default_factory=Counter)


def look(
    path: str,
    shown: str,
    matchers: Sequence[Matcher],
    wanted: Wanted,
    options: Options,
    opener: Opener,
    secrets: Secrets,
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
        text = pieces(fd, status.st_size, literals_of(matchers), options.multiline)
        return search(text, matchers, wanted, options.expired)
    except NotText as why:
        if str(why) != "binary" or (options.units is None and path.rpartition(".")[2].lower() not in _DOCUMENTS):
            raise
        return _look_into(fd, shown, matchers, wanted, options)
    finally:
        os.close(fd)


def literals_of(matchers: Sequence[Matcher]) -> tuple[bytes, ...]:
    """ASCII texts of which every hit of any of the patterns holds at least one; empty where none are known."""
    every = [m.literals for m in matchers]
    return tuple(dict.fromkeys(text for some in every for text in some)) if all(every) else ()


def _look_into(fd: int, shown: str, matchers: Sequence[Matcher], wanted: Wanted, options: Options) -> Found:
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
