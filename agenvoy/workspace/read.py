"""read_files: opening what the jail allows, choosing the reader, remembering what was seen."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agenvoy.blobs.hashing import new_hasher
from agenvoy.config import Settings
from agenvoy.disk.jail import Jail, Place, open_folder
from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.readers import reader_for
from agenvoy.readers.base import Reading, Source, Wish
from agenvoy.readers.kinds import kind_of, no_reader

KEPT_BYTES = 1024 * 1024  # texts up to this size are kept for later refusals (contract: 1 MiB)

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """One file that was read.

    Args:
        place: where it is.
        entry: the contract's entry, JSON-ready.
        hash: name of the whole file's content, whatever part was shown.
        data: the file's bytes where they may be kept (text, up to 1 MiB, not sensitive); else None.
        sensitive: whether the file is one of those that always need confirmation.
    """

    place: Place
    entry: dict[str, Any]
    hash: str
    data: bytes | None
    sensitive: bool


def read_one(jail: Jail, request: dict[str, Any], *, confirm_sensitive: Callable[[Place], None]) -> ReadEntry:
    """Read one file, or the part of it that is asked for.

    Args:
        jail: judges the path.
        request: `path`, and where given `offset`, `limit`, `around`, `context`, `password`.
        confirm_sensitive: is called for a sensitive file before it is opened, and raises to refuse it.

    Raises:
        AgenvoyError: every code that the contract gives for reading.
    """
    place = jail.resolve(request["path"])
    sensitive = jail.settings.is_sensitive(request["path"], place.real)
    hasher = new_hasher()
    with _opened(place, lambda: confirm_sensitive(place) if sensitive else None) as fd:
        source = Source.open(fd, place.shown, hasher.update)
        kind, words = kind_of(source)
        reader = reader_for(kind)
        if reader is None:
            raise no_reader(source, kind, words)
        reading = reader.read(source, _wish(request, jail.settings))
        source.drain()
    keep = kind == "text" and not sensitive and source.whole and source.size <= KEPT_BYTES
    entry = _entry(place, reading, source.size)
    return ReadEntry(place, entry, hasher.hexdigest(), source.head if keep else None, sensitive)


def read_files(
    jail: Jail,
    files: Sequence[dict[str, Any]],
    *,
    confirm_sensitive: Callable[[Place], None],
    remember: Callable[[Place, ReadEntry], None],
) -> dict[str, Any]:
    """Read several files; one that fails never spoils the others.

    Args:
        jail: judges the paths.
        files: one request each, as `read_one` takes them.
        confirm_sensitive: as for `read_one`.
        remember: is told of each file that was read.

    Returns:
        `{"files": [...]}`, one entry per request in order; a failed one carries `error`.

    Raises:
        AgenvoyError: the first file's error, with all entries in `files`, where every file failed;
            invalid_arguments where none was named.
    """
    if not files:
        raise AgenvoyError("invalid_arguments", "files is empty", "name at least one file: files=[{path: …}]")
    entries: list[dict[str, Any]] = []
    errors: list[AgenvoyError] = []
    for request in files:
        try:
            done = read_one(jail, request, confirm_sensitive=confirm_sensitive)
            remember(done.place, done)
            entries.append(done.entry)
        except AgenvoyError as error:
            errors.append(error)
            entries.append(_failed(request["path"], error))
    if len(errors) == len(entries):
        first = errors[0]
        raise AgenvoyError(first.code, first.message, first.hint, **{**first.details, "files": entries})
    return {"files": entries}


@contextmanager
def _opened(place: Place, ask: Callable[[], None]) -> Iterator[int]:
    """A descriptor of a regular file; whatever else stands there is refused without being opened."""
    if place.real == place.root:
        raise _is_directory(place)
    try:
        with open_folder(place.folder, place.root) as folder:
            _check_kind(place, os.stat(place.name, dir_fd=folder, follow_symlinks=False).st_mode)
            ask()
            fd = os.open(place.name, _FLAGS, dir_fd=folder)
        try:
            _check_kind(place, os.fstat(fd).st_mode)  # something else may have taken its place meanwhile
            yield fd
        finally:
            os.close(fd)
    except OSError as error:
        raise from_os_error(error, place.shown) from error


def _check_kind(place: Place, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise _is_directory(place)
    if stat.S_ISLNK(mode):  # the jail followed links, so this one is new
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    kinds = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    what = kinds.get(stat.S_IFMT(mode), "a special file")
    raise AgenvoyError("not_a_file", f"{place.shown} is {what}, which is never opened", "name a regular file")


def _is_directory(place: Place) -> AgenvoyError:
    return AgenvoyError(
        "is_directory", f"{place.shown} is a folder", f"list it: find_files with queries=[{{dir: {place.shown!r}}}]"
    )


def _wish(request: dict[str, Any], settings: Settings) -> Wish:
    around = request.get("around")
    offset, context = request.get("offset"), request.get("context")
    return Wish(
        offset=1 if offset is None else offset,
        limit=request.get("limit"),
        around=(around,) if isinstance(around, int) else around,
        context=20 if context is None else context,
        password=request.get("password"),
        max_units=settings.read_rows,
        max_bytes=settings.read_bytes,
    )


def _entry(place: Place, reading: Reading, size: int) -> dict[str, Any]:
    return {
        "path": place.shown,
        "kind": reading.kind,
        "unit": reading.unit,
        "total": reading.total,
        "from": reading.first,
        "to": reading.last,
        "next_offset": reading.next_offset,
        "text": reading.text,
        "encoding": reading.encoding,
        "newline": reading.newline,
        "size": size,
        "error": None,
        **reading.extra,
    }


def _failed(path: str, error: AgenvoyError) -> dict[str, Any]:
    """The entry of a file that could not be read; the path as it was asked for."""
    names = ("kind", "unit", "total", "from", "to", "next_offset", "text", "encoding", "newline", "size")
    return {"path": path, **dict.fromkeys(names), "error": error.document()}
