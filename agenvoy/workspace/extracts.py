"""Texts of documents and media, kept in the store by content, so that the same bytes are worked on once.

A cache and no more: a store that cannot be read or written costs time, never an answer. Sensitive files and documents
behind a password never come here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from agenvoy.blobs.codec import pack, unpack
from agenvoy.blobs.hashing import new_hasher
from agenvoy.catalog import extracts as table
from agenvoy.disk.walk import OutOfTime
from agenvoy.errors import AgenvoyError
from agenvoy.readers import reader_for
from agenvoy.readers.base import Extract, Source, Wish
from agenvoy.readers.kinds import kind_of, no_reader
from agenvoy.workspace.read import OPTIONS
from agenvoy.workspace.session import Session

_STORE = ("store_corrupt", "store_unavailable", "store_busy", "disk_full")


class Extracts:
    """The cache of one store.

    Args:
        session: gives the store and the clock.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, hash_: str, key: str) -> Extract | None:
        """What is known of a content.

        Args:
            hash_: its name.
            key: the reader's, see `Reader.key`.
        """
        try:
            with self._session.catalog.read() as c:
                packed = table.get(c, hash_, key)
            return None if packed is None else _unpacked(unpack(packed.codec, packed.data, packed.size))
        except AgenvoyError as error:
            if error.code not in _STORE:
                raise
        except (ValueError, TypeError, KeyError):  # a damaged row is made anew
            return None
        return None

    def put(self, hash_: str, key: str, extract: Extract) -> None:
        """Remember a text."""
        body = asdict(extract)
        body["labels"] = list(extract.labels.items())  # JSON has no numbers as names
        data = json.dumps(body).encode("ascii")
        codec, stored = pack(data)
        try:
            if not self._session.catalog.read_only:
                with self._session.lock, self._session.catalog.write(sync=False) as c:
                    table.put(c, hash_, key, table.Packed(len(data), codec, stored), self._session.clock())
        except AgenvoyError as error:
            if error.code not in _STORE:
                raise

    def units(self, fd: int, shown: str, expired: Callable[[], bool]) -> tuple[str, Iterable[tuple[int, str]]]:
        """The text of a document for a search: what its units are called, number and text of each (`sources.Units`).

        Raises:
            AgenvoyError: why it has no text; binary_file where it is no document.
            OutOfTime: `expired` said so meanwhile.
        """
        hasher = new_hasher()
        source = Source.open(fd, shown, hasher.update)
        kind, words = kind_of(source)
        reader = reader_for(kind)
        if reader is None:
            raise no_reader(source, kind, words)
        wish = Wish(options=options_of(self._session), check=_checking(expired))
        key = reader.key(wish)
        if not key:
            found = reader.extract(source, wish)
            return found.unit, enumerate(found.units, 1)
        source.drain()
        hash_ = hasher.hexdigest()
        known = self.get(hash_, key)
        if known is None:
            known = reader.extract(source, wish)
            self.put(hash_, key, known)
        return known.unit, enumerate(known.units, 1)


def options_of(session: Session) -> dict[str, str]:
    """The settings of readers, as `Wish.options`."""
    return {name: getattr(session.settings, name) for name in OPTIONS}


def _checking(expired: Callable[[], bool]) -> Callable[[], None]:
    def check() -> None:
        if expired():
            raise OutOfTime

    return check


def _unpacked(data: bytes) -> Extract:
    body: dict[str, Any] = json.loads(data)
    body["labels"] = {int(number): label for number, label in body["labels"]}
    body["sections"] = [(int(number), title) for number, title in body["sections"]]
    return Extract(**body)
