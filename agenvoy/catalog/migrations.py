"""The schema of history.db, as migrations: a new table or column goes to the end, nothing above changes.

sqlite-utils applies them (each in a transaction with its record) and is imported only when one is pending: its
import costs more than a whole `agenvoy history`.

Append-only: `operations` rows change only in `state`, `done_at` and `undone_by`; `versions` rows never.
Paths are BLOBs: file names are bytes.
"""

from __future__ import annotations

import sqlite3
from typing import Any

SET = "agenvoy"

_FIRST = """
CREATE TABLE workspaces (id INTEGER PRIMARY KEY, root BLOB NOT NULL UNIQUE);
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, workspace INTEGER NOT NULL REFERENCES workspaces(id), actor TEXT NOT NULL,
  objective TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '', begun_at INTEGER NOT NULL, ended_at INTEGER,
  active_at INTEGER NOT NULL, parent TEXT, undone_by INTEGER
) WITHOUT ROWID;
CREATE INDEX tasks_running ON tasks(workspace, actor) WHERE ended_at IS NULL;
CREATE INDEX tasks_begun ON tasks(workspace, begun_at);
CREATE TABLE operations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL, task TEXT, actor TEXT NOT NULL,
  tool TEXT NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, at INTEGER NOT NULL, state INTEGER NOT NULL,
  done_at INTEGER, undoes INTEGER, undone_by INTEGER, target_task TEXT, folders TEXT NOT NULL DEFAULT '',
  token TEXT NOT NULL,
  previous BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE INDEX operations_prepared ON operations(state) WHERE state = 0;
CREATE INDEX operations_workspace ON operations(workspace, id);
CREATE INDEX operations_task ON operations(task, id) WHERE task IS NOT NULL;
CREATE TABLE versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL, operation INTEGER NOT NULL REFERENCES operations(id),
  action TEXT NOT NULL, kind TEXT NOT NULL, mode INTEGER NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL,
  extra TEXT NOT NULL DEFAULT '', moved BLOB, proof BLOB
);
CREATE INDEX versions_path ON versions(path, id);
CREATE INDEX versions_operation ON versions(operation);
CREATE INDEX versions_hash ON versions(hash) WHERE hash != '';
CREATE TABLE blobs (
  hash TEXT PRIMARY KEY, size INTEGER NOT NULL, stored INTEGER NOT NULL, codec TEXT NOT NULL, proof BLOB NOT NULL,
  data BLOB
) WITHOUT ROWID;
CREATE TABLE reads (
  scope TEXT NOT NULL, path BLOB NOT NULL, hash TEXT NOT NULL, after INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (scope, path)
) WITHOUT ROWID;
CREATE INDEX reads_path ON reads(path);
CREATE TABLE undone (
  task TEXT NOT NULL, path BLOB NOT NULL, operation INTEGER NOT NULL, upto INTEGER NOT NULL,
  PRIMARY KEY (task, path, operation)
) WITHOUT ROWID;
CREATE TABLE notices (id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX notices_scope ON notices(scope);
CREATE TABLE trash (
  version INTEGER PRIMARY KEY, path BLOB NOT NULL, place BLOB NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX trash_path ON trash(path);
CREATE TABLE inodes (
  device INTEGER NOT NULL, inode INTEGER NOT NULL, path BLOB NOT NULL, PRIMARY KEY (device, inode, path)
) WITHOUT ROWID;
CREATE TABLE confirmed (task TEXT NOT NULL, tool TEXT NOT NULL, PRIMARY KEY (task, tool)) WITHOUT ROWID;
"""

_TRACKING = """
CREATE TABLE stamps (
  workspace INTEGER NOT NULL, path BLOB NOT NULL, kind TEXT NOT NULL, mode INTEGER NOT NULL, size INTEGER NOT NULL,
  hash TEXT NOT NULL, extra TEXT NOT NULL, PRIMARY KEY (workspace, path)
) WITHOUT ROWID;
CREATE TABLE scans (workspace INTEGER PRIMARY KEY, at INTEGER NOT NULL, snapshot BLOB);
CREATE TABLE commands (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL, task TEXT NOT NULL, actor TEXT NOT NULL,
  command TEXT NOT NULL, pid INTEGER NOT NULL, at INTEGER NOT NULL
);
"""

_EXTRACTS = """
CREATE TABLE extracts (
  hash TEXT NOT NULL, reader TEXT NOT NULL, size INTEGER NOT NULL, codec TEXT NOT NULL, data BLOB NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY (hash, reader)
);
CREATE INDEX extracts_at ON extracts(at);
CREATE TABLE withheld (scope TEXT NOT NULL, path BLOB NOT NULL, PRIMARY KEY (scope, path)) WITHOUT ROWID;
"""

_ADOPTED = """
CREATE TABLE adopted (version INTEGER PRIMARY KEY, task TEXT NOT NULL);
CREATE INDEX adopted_task ON adopted(task);
"""

_GONE = "CREATE TABLE gone (version INTEGER PRIMARY KEY, operation INTEGER NOT NULL)"

_BACKGROUND = """
CREATE TABLE background (
  workspace INTEGER NOT NULL, pid INTEGER NOT NULL, started INTEGER NOT NULL, task TEXT NOT NULL,
  command TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (workspace, pid, started)
) WITHOUT ROWID;
"""

STEPS: tuple[tuple[str, str], ...] = (
    ("001_first", _FIRST),
    ("003_tracking", _TRACKING),
    ("002_extracts", _EXTRACTS),
    ("004_adopted", _ADOPTED),
    ("005_gone", _GONE),
    ("006_background", _BACKGROUND),
)
NAMES = tuple(name for name, _ in STEPS)


def applied(connection: sqlite3.Connection) -> list[str] | None:
    """Names of the migrations that a database has seen; None for an empty database."""
    known = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = '_sqlite_migrations'"
    ).fetchone()
    if known is None:
        return None
    rows = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ?", (SET,))
    return [row[0] for row in rows]


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to the newest schema; the caller keeps other processes away."""
    import sqlite_utils

    steps = sqlite_utils.Migrations(SET)
    for name, script in STEPS:
        steps(name=name)(_runner(script))
    steps.apply(sqlite_utils.Database(connection))


def _runner(script: str) -> Any:
    def run(db: Any) -> None:
        for statement in script.split(";"):
            if statement.strip():
                db.conn.execute(statement)

    return run
