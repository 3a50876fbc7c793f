"""read_files: opening what the jail allows, choosing the reader, remembering what was seen."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from agenvoy.blobs.hashing import new_hasher
from agenvoy.config import Settings
from agenvoy.disk.jail import Jail, Place, open_folder
from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.readers import reader_for
from agenvoy.readers.base import Extract, Reader, Reading, Source, Wish
from agenvoy.readers.kinds import TEXTUAL, kind_of, no_reader
from agenvoy.readers.paging import Whole, page
from agenvoy.types import Image
from agenvoy.workspace import watch

KEPT_BYTES = 1024 * 1024  # texts up to this size are kept for later refusals (contract: 1 MiB)

OPTIONS = ("audio_model", "audio_device", "audio_compute_type")  # settings that readers are told
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
        images: what a model is to look at.
    """

    place: Place
    entry: dict[str, Any]
    hash: str
    data: bytes | None
    sensitive: bool
    images: tuple[Image, ...] = ()


class Kept(Protocol):
    """Texts of documents that were kept from earlier reads and searches; see `workspace.extracts`."""

    def get(self, hash_: str, key: str) -> Extract | None:
        """What is known of a content."""

    def put(self, hash_: str, key: str, extract: Extract) -> None:
        """Remember a text."""


def read_one(
    jail: Jail,
    request: dict[str, Any],
    *,
    confirm_sensitive: Callable[[Place], None],
    kept: Kept | None = None,
) -> ReadEntry:
    """Read one file, or the part of it that is asked for.

    Args:
        jail: judges the path.
        request: `path`, and where given `offset`, `limit`, `around`, `context`, `password`.
        confirm_sensitive: is called for a sensitive file before it is opened, and raises to refuse it.
        kept: texts of documents by content; None: each is taken out anew.

    Raises:
        AgenvoyError: every code that the contract gives for reading.
    """
    place = jail.resolve(request["path"])
    sensitive = jail.settings.is_sensitive(request["path"], place.real)
    hasher = new_hasher()
    with _opened(place, lambda: confirm_sensitive(place) if sensitive else None) as fd:
        source = Source.open(fd, place.shown, _watched(hasher.update, os.fstat(fd).st_size))
        kind, words = kind_of(source)
        if kind in TEXTUAL and request.get("around") is not None:
            kind = "text"  # lines of the file itself, the ones that a search gives
        reader = reader_for(kind)
        if reader is None:
            raise no_reader(source, kind, words)
        wish = _wish(request, jail.settings)
        if kept is not None and not sensitive and wish.password is None and reader.key(wish):
            source.drain()
            reading = _through(kept, reader, source, wish, hasher.hexdigest())
        else:
            reading = reader.read(source, wish)
            source.drain()
    keep = kind in TEXTUAL and not sensitive and source.whole and source.size <= KEPT_BYTES
    entry = _entry(place, reading, source.size)
    return ReadEntry(place, entry, hasher.hexdigest(), source.head if keep else None, sensitive, reading.images)


def _through(kept: Kept, reader: Reader, source: Source, wish: Wish, hash_: str) -> Reading:
    """A page of a text that was kept; of one that is not, what the reader gives, or what is then kept."""
    key = reader.key(wish)
    extract = kept.get(hash_, key)
    if extract is None and reader.dear:
        extract = reader.extract(source, wish)
        kept.put(hash_, key, extract)
    return reader.read(source, wish) if extract is None else page(Whole(extract), wish, source.shown)


def _watched(update: Callable[[bytes], None], size: int) -> Callable[[bytes], None]:
    """Hands blocks on, tells how much of the file was gone through, and stops where the caller has given up."""
    progress, done = watch.current().progress, 0

    def on_bytes(block: bytes) -> None:
        nonlocal done
        watch.check()
        update(block)
        done += len(block)
        progress(done, size or None, "bytes read")

    return on_bytes


def read_files(
    jail: Jail,
    files: Sequence[dict[str, Any]],
    *,
    confirm_sensitive: Callable[[Place], None],
    remember: Callable[[dict[str, Any], ReadEntry], None],
    kept: Kept | None = None,
) -> dict[str, Any]:
    """Read several files; one that fails never spoils the others.

    Args:
        jail: judges the paths.
        files: one request each, as `read_one` takes them.
        confirm_sensitive: as for `read_one`.
        remember: is told of each file that was read, with its request.
        kept: as for `read_one`.

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
            done = read_one(jail, request, confirm_sensitive=confirm_sensitive, kept=kept)
            remember(request, done)
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
        options={name: getattr(settings, name) for name in OPTIONS},
        progress=lambda done, of: watch.current().progress(done, of, "seconds of sound transcribed"),
        check=watch.check,
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
