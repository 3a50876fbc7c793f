"""The connection to history.db: opening, the one way to write, and what SQLite's errors mean.

Writes and checkpoints happen only while the store's gate (a lock file) is held. SQLite before 3.51.3 can lose
committed pages when one connection resets the WAL while another checkpoints (sqlite.org/wal.html, "WAL-reset bug");
with every writer and every checkpoint behind the gate the two never meet. For that reason automatic checkpoints are
off and `close` (where the last connection checkpoints) takes the gate too.
Every write is `BEGIN IMMEDIATE`: a deferred transaction that reads first fails at once when another process commits.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agenvoy.catalog import migrations
from agenvoy.errors import AgenvoyError, from_os_error

CHECKPOINT_BYTES = 16 * 1024 * 1024  # four times SQLite's default: each costs two syncs, and readers bear a long WAL
BULK_WAL_BYTES = 256 * 1024 * 1024  # while contents come in by the thousand: 78,000 took 7 s instead of 20 s
BULK_CACHE_KIB = 64 * 1024  # and this page cache, since their names are spread over the whole table
CACHE_KIB = 2000  # SQLite's default
SMALLEST_ROOM = 256 * 1024  # bytes: with less, SQLite's shared memory and WAL cannot be made, and it says "I/O error"
CREATED = "created"  # says that history.db was made here once: an empty one is then a loss, not a beginning
DAMAGED = "history.db.damaged"  # its presence stops every write until `agenvoy doctor` finds the file sound


class Catalog:
    """history.db of one store.

    Args:
        store: the store's folder; made (0700) when missing.
        busy_s: seconds to wait for another writer before `store_busy`.
        create: False opens only what is there, and never writes.

    Raises:
        AgenvoyError: store_unavailable, store_corrupt, store_busy, disk_full.
    """

    def __init__(self, store: str, busy_s: float = 20.0, *, create: bool = True) -> None:
        self.store = store
        self.file = os.path.join(store, "history.db")
        self.busy_s = busy_s
        self.read_only = False
        self._lock = threading.RLock()
        self._gate: int | None = None
        self._depth = 0
        self._wal_bytes = CHECKPOINT_BYTES
        self._c = self._open(create)

    # ---- opening
    def _open(self, create: bool) -> sqlite3.Connection:
        try:
            if create:
                self._prepare()
            with self.guard():
                if self.read_only or not create:
                    return self._connect_read_only()
                return self._connect()
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
                self.read_only = True
                with self.guard():
                    return self._connect_read_only()
            told = from_os_error(error, f"the store {self.store}")
            if told.code == "disk_full":
                raise told from error
            raise AgenvoyError(
                "store_unavailable", told.message, "set AGENVOY_HOME to a folder that can be written"
            ) from error

    def _prepare(self) -> None:
        home = os.path.dirname(self.store)
        for folder in (home, self.store, *(os.path.join(self.store, name) for name in ("temp", "refused"))):
            if not os.path.isdir(folder):
                os.makedirs(folder, mode=0o700, exist_ok=True)
                os.chmod(folder, 0o700)
        if not os.access(self.store, os.W_OK) or (os.path.exists(self.file) and not os.access(self.file, os.W_OK)):
            self.read_only = True
            return
        self._gate = os.open(os.path.join(self.store, "gate"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def _connect(self) -> sqlite3.Connection:
        c = sqlite3.connect(
            self.file, timeout=self.busy_s, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        seen = migrations.applied(c)
        try:
            self._refuse_newer(seen)
        except AgenvoyError:
            c.close()
            raise
        if seen is None or len(seen) < len(migrations.NAMES):
            with self.gate():
                self._create(c)
        if c.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            with self.gate():
                c.execute("PRAGMA journal_mode = WAL")
        for pragma in ("synchronous = FULL", "wal_autocheckpoint = 0", "secure_delete = ON", "fullfsync = ON"):
            c.execute(f"PRAGMA {pragma}")
        return c

    def _create(self, c: sqlite3.Connection) -> None:
        """Inside the gate: another process may have been faster."""
        born = os.path.join(self.store, CREATED)
        if migrations.applied(c) is None and os.path.exists(born):
            c.close()
            self._mark_damaged("it was emptied")
            raise damaged(self.store, "it was emptied: what it held is gone from it")
        if migrations.applied(c) is None:
            # Fixed with the first page: free pages go back to the system, deleted bytes are overwritten. Most contents
            # are a few KiB and end in a page of their own: pages of 2 KiB took 12 % less room for the contents of the
            # Linux sources than SQLite's default of 4 KiB (1 KiB: another 10 %, at the price of longer chains).
            c.execute("PRAGMA page_size = 2048")
            c.execute("PRAGMA auto_vacuum = INCREMENTAL")
            c.execute("PRAGMA secure_delete = ON")
            c.execute("PRAGMA journal_mode = WAL")
        migrations.migrate(c)
        os.close(os.open(born, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def _connect_read_only(self) -> sqlite3.Connection:
        self.read_only = True
        if not os.path.exists(self.file):
            raise AgenvoyError(
                "store_unavailable",
                f"there is no store in {self.store}, and none can be made there",
                "set AGENVOY_HOME to a writable folder",
            )
        try:
            return self._connect_by_uri("mode=ro")
        except sqlite3.OperationalError as error:
            # A WAL database at rest cannot be opened where its -shm cannot be made. Without a WAL (or with an
            # empty one) the file alone is the whole truth, so it may be read as immutable; else rows would be hidden.
            wal = self.file + "-wal"
            if os.path.exists(wal) and os.path.getsize(wal) > 0:
                raise AgenvoyError(
                    "store_unavailable",
                    f"the store {self.store} is read-only and has changes that were not checkpointed",
                    "make the folder writable once, or copy the store to a writable place",
                ) from error
            return self._connect_by_uri("mode=ro&immutable=1")

    def _connect_by_uri(self, options: str) -> sqlite3.Connection:
        quoted = "file:" + "".join(ch if ch not in "?#%" else f"%{ord(ch):02x}" for ch in self.file)
        c = sqlite3.connect(f"{quoted}?{options}", uri=True, timeout=self.busy_s, check_same_thread=False)
        try:
            c.isolation_level = None
            self._refuse_newer(migrations.applied(c))
        except BaseException:
            c.close()
            raise
        return c

    def _refuse_newer(self, seen: list[str] | None) -> None:
        if set(seen or ()) - set(migrations.NAMES):
            raise AgenvoyError(
                "store_unavailable",
                f"the store {self.store} was written by a newer agenvoy",
                "upgrade agenvoy; nothing was written",
            )

    # ---- what errors mean
    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turns SQLite's errors into the contract's; a damaged file is marked, so that nothing writes to it again."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._translate(error) from error
        except UnicodeDecodeError as error:  # SQLite's own names and messages are ASCII
            self._mark_damaged(str(error))
            raise damaged(self.store, str(error)) from error
        except OverflowError as error:
            raise AgenvoyError("invalid_arguments", "a number is too large", "use a number that was shown") from error
        except UnicodeEncodeError as error:
            raise AgenvoyError(
                "invalid_arguments", "a text holds bytes that are not UTF-8", "write it in UTF-8"
            ) from error

    def _translate(self, error: sqlite3.Error) -> AgenvoyError:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return AgenvoyError(
                "store_busy",
                f"another process has held the store for more than {self.busy_s:g} s",
                "try again; `agenvoy doctor` tells whether the store is sound",
            )
        full = name.startswith("SQLITE_IOERR") and _room(self.store) < SMALLEST_ROOM
        if name.startswith("SQLITE_FULL") or name == "SQLITE_IOERR_WRITE" or full:
            return AgenvoyError("disk_full", "the history cannot be written: the disk is full", "free some space")
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
            return AgenvoyError(
                "store_unavailable", f"the store {self.store} cannot be used: {error}", "run `agenvoy doctor`"
            )
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            self._mark_damaged(str(error))
            return damaged(self.store, str(error))
        if name == "SQLITE_ERROR" and "no such" in str(error):
            return damaged(self.store, str(error))
        return AgenvoyError("store_unavailable", f"the store cannot be used: {error}", "run `agenvoy doctor`")

    def _mark_damaged(self, why: str) -> None:
        if not self.read_only:
            with open(os.path.join(self.store, DAMAGED), "a", opener=_private) as mark:
                mark.write(why + "\n")

    # ---- the one way to write
    @contextmanager
    def gate(self) -> Iterator[None]:
        """Holds the store's gate; waits at most `busy_s`."""
        if self._gate is None:
            raise AgenvoyError(
                "store_unavailable", f"the store {self.store} is read-only", "set AGENVOY_HOME to a writable folder"
            )
        deadline, pause = time.monotonic() + self.busy_s, 0.0005
        while True:
            try:
                fcntl.flock(self._gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise AgenvoyError(
                        "store_busy",
                        f"another process has held the store for more than {self.busy_s:g} s",
                        "try again",
                    ) from None
                time.sleep(pause)
                pause = min(pause * 2, 0.02)
        try:
            yield
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)

    @contextmanager
    def write(self, *, sync: bool = True) -> Iterator[sqlite3.Connection]:
        """One write transaction: committed at the end of the block, rolled back on any exception.

        Args:
            sync: whether the commit must survive a power cut; False for what recovery can find out again.
        """
        with self._lock, self.guard():
            if self._depth:
                yield self._c
                return
            if os.path.exists(os.path.join(self.store, DAMAGED)):
                raise damaged(self.store, "it was found damaged earlier")
            with self.gate():
                self._c.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
                self._c.execute("BEGIN IMMEDIATE")
                self._depth = 1
                try:
                    yield self._c
                    self._c.execute("COMMIT")
                except BaseException:
                    if self._c.in_transaction:
                        self._c.execute("ROLLBACK")
                    raise
                finally:
                    self._depth = 0
                self._maybe_checkpoint()

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Many write transactions in a row: the WAL is brought into history.db seldom, and at the end."""
        with self._lock:
            self._c.execute(f"PRAGMA cache_size = -{BULK_CACHE_KIB}")
        self._wal_bytes = BULK_WAL_BYTES
        try:
            yield
        finally:
            self._wal_bytes = CHECKPOINT_BYTES
            with self._lock:
                self._c.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if not self.read_only:
            with self._lock, self.guard(), self.gate():
                self._maybe_checkpoint()

    def _maybe_checkpoint(self) -> None:
        try:
            size = os.stat(self.file + "-wal").st_size
        except FileNotFoundError:
            return
        if size > self._wal_bytes:
            self._c.execute("PRAGMA busy_timeout = 0")
            self._c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._c.execute(f"PRAGMA busy_timeout = {int(self.busy_s * 1000)}")

    def read(self) -> Reading:
        """The connection for queries; each statement sees the newest committed state."""
        return Reading(self)

    @property
    def own_changes(self) -> int:
        """How many rows this connection has changed so far: what was looked up before may be another thing now."""
        return self._c.total_changes

    def mark(self) -> tuple[int, int]:
        """Differs from an earlier one where this or any other connection has committed changes in between."""
        with self.read() as c:
            return c.total_changes, int(c.execute("PRAGMA data_version").fetchone()[0])

    def checkpoint(self) -> None:
        """Bring everything from the WAL into history.db and empty the WAL."""
        with self._lock, self.guard(), self.gate():
            self._c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Close; the last connection to go brings the WAL into history.db."""
        with self._lock:
            if self._gate is None:
                self._c.close()
                return
            try:
                with self.gate(), self.guard():
                    self._c.close()
            finally:
                os.close(self._gate)
                self._gate = None


class Reading:
    """What `Catalog.read` gives. By hand, since an edit reads thirty times and a generator costs each time."""

    __slots__ = ("_catalog",)

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __enter__(self) -> sqlite3.Connection:
        self._catalog._lock.acquire()
        return self._catalog._c

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._catalog._lock.release()
        if isinstance(error, sqlite3.Error | OverflowError | UnicodeError):
            with self._catalog.guard():
                raise error


def _room(store: str) -> int:
    """Bytes that are free where the store lies."""
    found = os.statvfs(store)
    return found.f_bavail * found.f_frsize


def damaged(store: str, why: str) -> AgenvoyError:
    """The error for a damaged history.db."""
    return AgenvoyError(
        "store_corrupt",
        f"the history in {store} is damaged: {why}",
        "nothing is written to it any more; run `agenvoy doctor` for the next steps",
    )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
