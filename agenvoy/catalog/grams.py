"""The search index of one workspace: which trigrams its files hold, in an SQLite file of its own beside history.db.

A cache and no more. It holds no text, only which three letters occur in which numbered text (FTS5, trigram, without
content or positions), and how each file looked when it was read. A seal beside it tells its size and times: an index
that was changed by anything but `write` is not used. Numbers are never used twice, so what is forgotten stays as waste
until the next building from nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

VERSION = "1"
LEAST = 3  # letters of a text that can be looked up
_MOST_GRAMS = 24  # of one text: more do not narrow the answer
_CACHE_KIB = 32 * 1024

_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE folders (path BLOB PRIMARY KEY, stamps BLOB NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE grams USING fts5(text, content='', detail=none, columnsize=0, tokenize='trigram');
"""


class Grams:
    """An open index. Use `reading` or `writing`, not the constructor.

    Every method raises OSError where the file is damaged.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._c = connection

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows; OSError where the file is damaged."""
        try:
            return self._c.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise OSError(f"the search index cannot be used: {error}") from error

    def fact(self, name: str) -> str:
        """A fact about the index; empty where it is not known."""
        rows = self._rows("SELECT value FROM facts WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def set_fact(self, name: str, value: str) -> None:
        """Note a fact."""
        self._rows("INSERT OR REPLACE INTO facts(name, value) VALUES (?, ?)", (name, value))

    def stamps(self, folder: str) -> bytes | None:
        """What was noted of a folder; None where nothing was."""
        rows = self._rows("SELECT stamps FROM folders WHERE path = ?", (os.fsencode(folder),))
        return bytes(rows[0][0]) if rows else None

    def all_stamps(self) -> dict[str, bytes]:
        """What was noted of every folder."""
        return {os.fsdecode(path): bytes(stamps) for path, stamps in self._rows("SELECT * FROM folders")}

    def set_stamps(self, folder: str, stamps: bytes) -> None:
        """Note a folder anew."""
        self._rows("INSERT OR REPLACE INTO folders(path, stamps) VALUES (?, ?)", (os.fsencode(folder), stamps))

    def forget(self, folder: str) -> None:
        """Forget a folder."""
        self._rows("DELETE FROM folders WHERE path = ?", (os.fsencode(folder),))

    def add(self, number: int, text: str) -> None:
        """Index a text under a number that was never used."""
        self._rows("INSERT INTO grams(rowid, text) VALUES (?, ?)", (number, text))

    def holding(self, texts: Iterable[str]) -> set[int]:
        """The numbers of all indexed texts that may hold one of these (ASCII, at least `LEAST` letters, any case)."""
        either = " OR ".join(f"({_grams(text)})" for text in texts)
        return {row[0] for row in self._rows("SELECT rowid FROM grams WHERE grams MATCH ?", (either,))}


def _grams(text: str) -> str:
    found = dict.fromkeys(text[i : i + LEAST].lower() for i in range(len(text) - LEAST + 1))
    quoted = ['"' + gram.replace('"', '""') + '"' for gram in found]
    return " AND ".join(quoted[:_MOST_GRAMS])


def usable(path: str) -> bool:
    """Whether there is an index that nothing but `writing` has changed."""
    try:
        with open(path + ".seal", "rb") as seal:
            return bool(json.loads(seal.read()) == _look(path))
    except (OSError, ValueError):
        return False


@contextmanager
def reading(path: str) -> Iterator[Grams | None]:
    """The index as it is now, the same throughout the block; None where there is none that can be used."""
    if not usable(path):
        yield None
        return
    c = None
    try:
        c = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, timeout=0.2, isolation_level=None)
        c.execute("BEGIN")
        known = Grams(c) if Grams(c).fact("version") == VERSION else None
    except (sqlite3.Error, OSError):  # being written, or damaged: the search does without
        known = None
    try:
        yield known
    finally:
        if c is not None:
            c.close()


@contextmanager
def writing(path: str, anew: bool) -> Iterator[Grams]:
    """The index to be changed: all of the block or nothing of it.

    Args:
        path: its file; the folder is made where missing.
        anew: whether to begin with an empty one (the old one stays in use until the block's end).

    Raises:
        OSError: it cannot be written.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    place = f"{path}.{os.getpid()}.new" if anew else path
    if anew:
        _remove(place)
    c = None
    try:
        c = sqlite3.connect(place, timeout=5, isolation_level=None)
        os.chmod(place, 0o600)
        c.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if anew:
            c.execute("PRAGMA journal_mode = OFF")  # what is not finished is thrown away whole
            c.execute("PRAGMA synchronous = OFF")
            c.executescript(_SCHEMA)
        c.execute("BEGIN IMMEDIATE")
        grams = Grams(c)
        grams.set_fact("version", VERSION)
        grams.set_fact("token", secrets.token_hex(8))  # tells one writing from another
        yield grams
        c.execute("COMMIT")
        c.close()
        if anew:
            os.replace(place, path)
        _seal(path)
    except sqlite3.Error as error:
        raise OSError(f"the search index cannot be written: {error}") from error
    finally:
        if c is not None:
            c.close()
        if anew:
            _remove(place)


def remove(path: str) -> int:
    """Remove an index; gives the bytes that it took."""
    freed = 0
    for name in (path, path + ".seal"):
        with suppress(FileNotFoundError):
            freed += os.path.getsize(name)
            os.unlink(name)
    return freed


def _look(path: str) -> list[int]:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _seal(path: str) -> None:
    """Written last: a crash before leaves an index that is not used."""
    temporary = f"{path}.{os.getpid()}.seal"
    with open(temporary, "w", opener=lambda p, f: os.open(p, f | os.O_CLOEXEC, 0o600)) as file:
        json.dump(_look(path), file)
    os.replace(temporary, path + ".seal")


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path))
