"""The verbs about the store itself: the trash, sizes, verify, doctor."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import replace
from typing import Any

from agenvoy import trash
from agenvoy.catalog import checks, contents, grams, tasks, trashed
from agenvoy.catalog.connection import DAMAGED
from agenvoy.disk.walk import OutOfTime
from agenvoy.errors import AgenvoyError
from agenvoy.history.changes import Spec
from agenvoy.history.gc import collect, recorded
from agenvoy.history.gc import purge as purge_paths
from agenvoy.history.trashing import drop_place
from agenvoy.history.verify import Finding
from agenvoy.history.verify import verify as check_all
from agenvoy.types import ConfirmRequest, Outcome
from agenvoy.workspace import indexing, times, watch
from agenvoy.workspace.extracts import options_of
from agenvoy.workspace.find import rules_of
from agenvoy.workspace.session import Session


def trash_list(session: Session) -> Outcome:
    """Removed files of this workspace, newest first."""
    rows = [
        {
            "path": session.jail.shown(entry.path),
            "moved_to": entry.place,
            "version": entry.version,
            "size": entry.size,
            "removed_at": times.show(entry.at),
        }
        for entry in trash.entries(session.catalog, session.settings.roots)
    ]
    return Outcome("trash_list", "Trash()", {"rows": rows}, "", session.task_ref())


def trash_empty(session: Session) -> Outcome:
    """Remove the plain copies of this workspace's removed files; their versions stay restorable."""
    session.not_for_subagents("trash")
    session.writable_store()
    with session.catalog.read() as c:
        entries = trashed.rows(c, session.settings.roots)
    session.ask(ConfirmRequest("trash", "Empty(trash)", f"remove {len(entries)} files from the trash?"))
    freed = 0
    for entry in entries:
        if os.path.lexists(entry.place):
            freed += os.lstat(entry.place).st_size
        drop_place(entry.place)
        with session.catalog.write(sync=False) as c:
            trashed.delete(c, entry.version)
    result = {"removed": len(entries), "bytes": freed}
    return Outcome("trash_empty", "Empty(trash)", result, "", session.task_ref())


def gc(
    session: Session, dry_run: bool = False, keep_days: float | None = None, max_size: int | None = None
) -> Outcome:
    """Take away the bytes of old versions and what nothing needs; what a running task's undo needs never goes.

    Args:
        keep_days: versions older than this go (not the newest of a path); None: none by age.
        max_size: stored bytes that may stay; the oldest versions go first. None: no limit. Where neither is given,
            the settings `keep_days` and `keep_bytes` hold.
    """
    session.not_for_subagents("gc")
    session.writable_store()
    if keep_days is None and max_size is None:  # not told: what config.toml says
        keep_days, max_size = session.settings.keep_days or None, session.settings.keep_bytes or None
    if (keep_days is not None and keep_days < 0) or (max_size is not None and max_size < 0):
        raise AgenvoyError("invalid_arguments", "keep_days and max_size cannot be negative", "leave them out")
    if not dry_run:
        session.ask(ConfirmRequest("gc", "Gc()", "take away the bytes of old versions?"))
    until = 0 if keep_days is None else session.clock() - int(keep_days * 86_400 * 1_000_000_000)
    spec = Spec(session.settings.root, session.settings.actor, "gc", "gc", "Gc()")
    taken = collect(session.log, spec, until, max_size, dry_run=dry_run)
    gone = _gone_indexes(session)
    freed = sum(os.path.getsize(path) for path in gone)
    if not dry_run:
        for path in gone:
            os.unlink(path)
    result = {"applied": not dry_run, "versions": taken.rows, "blobs": taken.blobs,
              "bytes": taken.bytes + freed}  # fmt: skip
    return Outcome("gc", "Gc()", result, "", session.task_ref())


def purge(session: Session, path: str) -> Outcome:
    """Forget what was recorded of a file or folder for good; the file itself stays as it is."""
    session.not_for_subagents("purge")
    session.writable_store()
    paths = recorded(session.log, session.recorded_paths(path))
    if not paths:
        raise AgenvoyError("no_such_version", f"nothing is recorded for {path}", "file_history lists what is")
    label = f"Purge({path})"
    question = f"forget every recorded version of {path} ({len(paths)} paths) for good?"
    session.ask(ConfirmRequest("purge", label, question))
    spec = Spec(session.settings.root, session.settings.actor, "purge", "purge", label)
    grams.remove(indexing.index_path(session.settings))  # it knows three-letter pieces of what is to be forgotten
    taken = purge_paths(session.log, spec, paths)
    result = {"paths": [session.jail.shown(p) for p in paths], "versions": taken.rows, "blobs": taken.blobs,
              "bytes": taken.bytes}  # fmt: skip
    return Outcome("purge", label, result, "", session.task_ref())


def du(session: Session) -> Outcome:
    """Where the store's bytes are."""
    store = session.settings.store
    with session.catalog.read() as c:
        sizes = contents.sizes(c)
        rows = {
            name: checks.count(c, name)
            for name in ("workspaces", "tasks", "operations", "versions")
        }
    files = {
        name: os.path.getsize(os.path.join(store, name))
        for name in ("history.db", "history.db-wal")
        if os.path.exists(os.path.join(store, name))
    }
    total = sum(
        os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(store) for name in names
    )
    result = {
        "store": store, "total_bytes": total, "database_bytes": sum(files.values()), **sizes,
        "index_bytes": sum(os.path.getsize(path) for path in indexing.indexes(store)),
        "trash_bytes": trash.size(session.catalog), **rows,
    }  # fmt: skip
    return Outcome("du", "Du()", result, "", session.task_ref())


def index(session: Session, remove: bool = False) -> Outcome:
    """Build this workspace's search index, or bring it up to date.

    Args:
        remove: take it away instead.

    Raises:
        AgenvoyError: invalid_arguments where `search.index` is off, store_unavailable where it cannot be written.
    """
    session.writable_store()
    path = indexing.index_path(session.settings)
    if remove:
        return Outcome("index", "Index()", {"removed": grams.remove(path)}, "", session.task_ref())
    if not session.settings.search_index:
        raise AgenvoyError(
            "invalid_arguments", "the search index is switched off", "set search.index = true in config.toml"
        )
    progress = watch.current().progress
    rules = replace(rules_of(session.jail, watch.current().stopped), hidden=True)
    try:
        result = indexing.build(session.jail, rules, lambda done: progress(done, None, "files indexed"))
    except OutOfTime:
        raise AgenvoyError("cancelled", "the call was cancelled by its caller", "call again") from None
    except OSError as error:
        raise AgenvoyError(
            "store_unavailable", f"the search index cannot be written: {error}", "set AGENVOY_HOME to a writable folder"
        ) from error
    return Outcome("index", "Index()", result, "", session.task_ref())


def _gone_indexes(session: Session) -> list[str]:
    """Files of indexes whose workspace is no folder any more, and of buildings that were broken off."""
    roots = {indexing.index_path(replace(session.settings, root=root)) for root in _workspaces(session)}
    kept = {name for path in roots for name in (path, path + ".seal")}
    return [path for path in indexing.indexes(session.settings.store) if path not in kept]


def _workspaces(session: Session) -> list[str]:
    with session.catalog.read() as c:
        known = tasks.roots(c)
    return [root for root in {*known, session.settings.root} if os.path.isdir(root)]


def verify(session: Session) -> Outcome:
    """Every blob, row and link of the chain against what was written; see `history.verify`."""
    found, counts = check_all(session.log)
    if os.path.exists(os.path.join(session.settings.store, DAMAGED)):
        found.insert(0, Finding("database", "history.db", "it was found damaged earlier; `agenvoy doctor` tells more"))
    result = {
        "ok": not found,
        "findings": [{"kind": f.kind, "what": f.what, "detail": f.detail} for f in found],
        **counts,
    }
    return Outcome("verify", "Verify()", result, "", None)


def doctor(session: Session) -> Outcome:
    """Can this machine do what agenvoy needs, and is the store sound?"""
    checks = [_system(), _sqlite(), *_store(session), *_packages(), _speech(session)]
    result = {"ok": all(check["ok"] for check in checks), "checks": checks}
    return Outcome("doctor", "Doctor()", result, "", None)


def _check(name: str, ok: bool, detail: str, hint: str = "") -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "hint": hint if not ok else ""}


def _system() -> dict[str, Any]:
    known = sys.platform.startswith(("linux", "darwin"))
    return _check("system", known, f"{platform.system()}, Python {platform.python_version()}", "use Linux or macOS")


def _sqlite() -> dict[str, Any]:
    told = "SQLite " + ".".join(map(str, checks.SQLITE_VERSION))
    if checks.SQLITE_VERSION < (3, 51, 3):
        told += "; its WAL-reset fault cannot bite: writers and checkpoints are kept apart by the store's gate"
    return _check("sqlite", checks.SQLITE_VERSION >= (3, 37, 0), told, "use a Python with SQLite 3.37 or newer")


def _store(session: Session) -> list[dict[str, Any]]:
    store = session.settings.store
    mark = os.path.join(store, DAMAGED)
    aside = (
        f"the files in your workspace are not affected. Look with `sqlite3 {store}/history.db .recover`; to go on with "
        f"a new history, move {store} aside (blobs and trash in it stay readable)"
    )
    try:
        log = session.log
        with log.catalog.read() as c:
            said = checks.integrity(c, quick=True)
    except AgenvoyError as error:
        return [_check("store", False, error.message, aside if error.code == "store_corrupt" else error.hint)]
    if said:
        return [_check("store", False, f"{store} is damaged: {'; '.join(said)}", aside)]
    faults, _ = check_all(log)
    told = "; ".join(f"{f.kind} {f.what}: {f.detail}" for f in faults[:3] if f.kind != "trash")
    on = (
        "the rest stays usable: file_history tells which versions cannot be restored, `agenvoy verify` lists all that "
        "is wrong; keep a copy of the store before anything else, and purge or gc what is damaged"
    )
    found = [_check("store", not told, f"{store}: {told}" if told else f"{store} is sound", on)]
    if os.path.exists(mark):
        if log.catalog.read_only:
            found.append(_check("damage", False, "it was found damaged earlier", "make the store writable"))
        else:
            os.unlink(mark)
            found.append(_check("damage", True, "it was found damaged earlier and is sound now; writing goes on"))
    if log.catalog.read_only:
        found.append(_check("writable", False, f"{store} cannot be written", "set AGENVOY_HOME to another folder"))
    found += [_check("recovery", True, said) for said in session.said]
    return found


def _packages() -> list[dict[str, Any]]:
    from importlib.util import find_spec

    extras = {
        "docs": ("pypdf", "lxml", "PIL", "python_calamine", "msoffcrypto"),
        "audio": ("faster_whisper", "av"),
        "mcp": ("mcp",),
    }
    checks = []
    for extra, names in extras.items():
        missing = [name for name in names if find_spec(name) is None]
        told = "installed" if not missing else f"not installed (pip install 'agenvoy[{extra}]' adds it)"
        checks.append(_check(f"extra {extra}", True, told))
    return checks


def _speech(session: Session) -> dict[str, Any]:
    """The speech model; without one everything else works, so it is told and never a fault."""
    from agenvoy.readers.models import report

    there, told, help_ = report(options_of(session))
    return _check("speech", True, told if there else f"{told}; {help_}")
