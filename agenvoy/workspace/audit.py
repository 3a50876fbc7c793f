"""The verbs that look back: history, show, diff, blame, status."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agenvoy.catalog import gone, tasks, versions
from agenvoy.disk.jail import inside
from agenvoy.errors import AgenvoyError
from agenvoy.types import ABSENT, Outcome, State, Version
from agenvoy.workspace import times
from agenvoy.workspace.session import Session
from agenvoy.workspace.tasks import meant


def file_history(
    session: Session,
    mode: str | None = None,
    path: str | None = None,
    paths: Sequence[str] | None = None,
    task_id: str | None = None,
    from_: str | None = None,
    to: str | None = None,
    before_version: int | None = None,
    versions: Sequence[int] | None = None,
    limit: int = 24,
) -> Outcome:
    """See the contract, `file_history`."""
    named = [*([path] if path is not None else []), *(paths or ())]
    if mode not in (None, "list", "read"):
        raise AgenvoyError("invalid_arguments", f"mode {mode} is unknown", "list or read")
    if mode == "read" or (mode is None and versions is not None):
        return _read(session, named, list(versions) if versions is not None else None)
    if limit < 1:
        raise AgenvoyError("invalid_arguments", "limit must be at least 1", "leave limit out for the newest 24 rows")
    return _list(session, named, task_id, from_, to, before_version, min(limit, session.settings.history_page))


def _list(
    session: Session,
    named: list[str],
    task_id: str | None,
    from_: str | None,
    to: str | None,
    before: int | None,
    limit: int,
) -> Outcome:
    task = meant(session, task_id) if task_id is not None else None
    wanted = versions.Filter(
        roots=session.settings.roots,
        task=task.id if task else None,
        since=times.parse(from_) if from_ else None,
        until=times.parse(to, end=True) if to else None,
        before=before,
    )
    found: list[Version] = []
    with session.catalog.read() as c:
        if not named:
            found = versions.page(c, wanted, limit + 1)
        else:
            exact, folders = _exact_or_folder(session, named)
            found = versions.page(c, replace(wanted, paths=tuple(exact)), limit + 1) if exact else []
            for folder in folders:
                found += versions.page(c, replace(wanted, folder=folder), limit + 1)
            found = sorted({row.id: row for row in found}.values(), key=lambda row: -row.id)
    more = len(found) > limit
    rows = [describe(session, row) for row in found[:limit]]
    result = {"rows": rows, "next": rows[-1]["version"] if more else None}
    return Outcome("file_history", f"History({', '.join(named) or '.'})", result, "", session.task_ref())


def _exact_or_folder(session: Session, named: Sequence[str]) -> tuple[list[str], list[str]]:
    exact: list[str] = []
    folders: list[str] = []
    for name in named:
        for real in session.recorded_paths(name):
            exact.append(real)
            if os.path.isdir(real) or _any_below(session, real):
                folders.append(real)
    return list(dict.fromkeys(exact)), list(dict.fromkeys(folders))


def _any_below(session: Session, real: str) -> bool:
    with session.catalog.read() as c:
        return versions.any_below(c, real)


def describe(session: Session, row: Version) -> dict[str, Any]:
    """A row as answers show it."""
    state = row.state
    shown: dict[str, Any] = {
        "version": row.id,
        "path": session.jail.shown(row.path),
        "action": row.action,
        "kind": state.kind,
        "size": None if state.kind in ("absent", "dir") else state.size,
        "mode": f"{state.mode:04o}" if state.kind in ("file", "dir") else None,
        "hash": state.hash or None,
        "task_id": row.task,
        "objective": _objective(session, row.task),
        "actor": row.actor or None,
        "tool": row.tool or None,
        "changed_at": times.show(row.at),
        "restorable": True,
    }
    if row.moved is not None:
        shown["moved"] = session.jail.shown(row.moved)
    with session.catalog.read() as c:
        taken = gone.taken_by(c, row.id)
    if taken is not None:
        kind, at, actor = taken
        shown["restorable"] = False
        shown["reason"] = f"its bytes were taken away by {kind} on {times.show(at)} (by {actor})"
    elif state.kind in ("file", "link") and not session.vault.has(state.hash):
        shown["restorable"] = False
        shown["reason"] = "the stored bytes are gone" if state.hash else "the bytes were too large to be kept"
    return shown


def _objective(session: Session, task_id: str | None) -> str | None:
    if task_id is None:
        return None
    with session.catalog.read() as c:
        task = tasks.get(c, task_id)
    return None if task is None else task.objective


# ---- diffs
def _read(session: Session, named: list[str], pair: list[int] | None) -> Outcome:
    if pair is not None:
        if len(pair) != 2:
            raise AgenvoyError("invalid_arguments", "versions takes two numbers", "versions: [older, newer]")
        rows = [version(session, number) for number in pair]
        diffs = [_between(session, rows[0], rows[1].state, rows[1].path, _content(session, rows[1].state))]
    elif named:
        diffs = [_against_disk(session, name) for name in named]
    else:
        raise AgenvoyError("invalid_arguments", "no path was named", "give path, paths or versions: [a, b]")
    label = f"History({', '.join(named) or pair})"
    return Outcome("file_history", label, {"diffs": diffs}, "", session.task_ref())


def version(session: Session, number: int) -> Version:
    """A row by its id, if the caller may see its path; raises no_such_version."""
    with session.catalog.read() as c:
        row = versions.get(c, number)
    if row is None or not any(inside(row.path, root) for root in session.settings.roots):
        raise AgenvoyError("no_such_version", f"there is no version {number} here", "file_history lists the versions")
    return row


def _against_disk(session: Session, name: str) -> dict[str, Any]:
    for real in session.recorded_paths(name):
        with session.catalog.read() as c:
            row = versions.newest(c, real)
        if row is not None:
            from agenvoy.history.diff import MAX_BYTES

            seen = session.log.look(real, shown=name)
            data = seen.data
            if data is None and seen.state.kind == "file" and seen.state.size <= MAX_BYTES:
                data = b"".join(session.log.disk_blocks(real))
            return _between(session, row, seen.state, real, data)
    raise AgenvoyError("no_such_version", f"nothing is recorded for {name}", "file_history lists what is")


def _between(session: Session, row: Version, after: State, path: str, new: bytes | None) -> dict[str, Any]:
    shown = session.jail.shown(path)
    return {"path": shown, "diff": diff_text(session, shown, path, row.state, after, new)}


def diff_text(session: Session, shown: str, path: str, before: State, after: State, new: bytes | None) -> str:
    """The diff of two states of a path; of a sensitive file sizes and hashes only, unless reading it is allowed."""
    from agenvoy.history.diff import unified

    if session.settings.is_sensitive(shown, path) and not session.settings.allow_sensitive:
        return unified(None, None, shown, before, after)
    return unified(_content(session, before), new, shown, before, after)


def _content(session: Session, state: State) -> bytes | None:
    from agenvoy.history.diff import MAX_BYTES

    if state.kind not in ("file", "link") or state.size > MAX_BYTES or not session.vault.has(state.hash):
        return None
    return session.vault.read(state.hash)


def diff(
    session: Session,
    path: str | None = None,
    version: int | tuple[int, int] | Sequence[int] | None = None,
    task_id: str | None = None,
) -> Outcome:
    """The CLI's `diff`: two versions, a version against the disk, a path against the disk, or what a task changed."""
    if isinstance(version, int):
        row = _row(session, version)
        seen = session.log.look(row.path)
        diffs = [_between(session, row, seen.state, row.path, _disk(session, row.path, seen.state))]
    elif version is not None:
        return file_history(session, mode="read", versions=list(version))
    elif path is not None and task_id is None:
        diffs = [_against_disk(session, path)]
    else:
        diffs = _of_task(session, task_id or "current", path)
    return Outcome("diff", "Diff()", {"diffs": diffs}, "", session.task_ref())


def _row(session: Session, number: int) -> Version:
    return version(session, number)


def _disk(session: Session, path: str, state: State) -> bytes | None:
    from agenvoy.history.diff import MAX_BYTES

    if state.kind != "file" or state.size > MAX_BYTES:
        return session.log.look(path).data
    return b"".join(session.log.disk_blocks(path))


def _of_task(session: Session, task_id: str, path: str | None) -> list[dict[str, Any]]:
    task = meant(session, task_id)
    only = set(session.recorded_paths(path)) if path is not None else None
    with session.catalog.read() as c:
        rows = [r for r in versions.of_task(c, task.id) if r.action not in ("observed", "external")]
        firsts = {r.path: r for r in reversed(rows)}
        lasts = {r.path: r for r in rows}
        found = []
        for real, first in sorted(firsts.items()):
            ahead = versions.before(c, real, first.id)
            before, after = (ahead.state if ahead else ABSENT), lasts[real].state
            if only is None or real in only:
                found.append((real, before, after))
    return [
        {
            "path": session.jail.shown(real),
            "diff": diff_text(session, session.jail.shown(real), real, before, after, _content(session, after)),
        }
        for real, before, after in found
    ]


def show(session: Session, version: int) -> Outcome:
    """The CLI's `show`: one version, with its text where it is text and may be shown."""
    row = _row(session, version)
    result = describe(session, row)
    result["content"], result["bytes"] = None, row.state.size
    sensitive = session.settings.is_sensitive(result["path"], row.path) and not session.settings.allow_sensitive
    data = None if sensitive else _content(session, row.state)
    if data is not None:
        from agenvoy import textual

        form = textual.sniff(data, True)
        result["content"] = None if form is None else textual.decode(data, form)
    result["sensitive"] = sensitive
    return Outcome("show", f"Show(version {version})", result, "", session.task_ref())


def blame(session: Session, path: str) -> Outcome:
    """Which version, task and actor gave each line of a text its present form."""
    from agenvoy import textual
    from agenvoy.history.blame import annotate

    real = next((p for p in session.recorded_paths(path) if _known(session, p)), None)
    if real is None:
        raise AgenvoyError("no_such_version", f"nothing is recorded for {path}", "file_history lists what is")
    if session.settings.is_sensitive(path, real) and not session.settings.allow_sensitive:
        raise AgenvoyError("confirmation_required", f"{path} is sensitive", "call again with --allow-sensitive")
    with session.catalog.read() as c:
        rows = [r for r in versions.of_path(c, real) if r.state.kind == "file"]
    texts = []
    for row in rows:
        data = _content(session, row.state)
        form = textual.sniff(data, True) if data is not None else None
        if data is not None and form is not None:
            texts.append((row, [line for line, _ in textual.rows(textual.decode(data, form))]))
    found = [
        {"line": number, "text": text, "version": row.id, **_author(session, row), "changed_at": times.show(row.at)}
        for number, (text, row) in enumerate(annotate(texts), 1)
    ]
    return Outcome("blame", f"Blame({path})", {"rows": found}, "", session.task_ref())


def _author(session: Session, row: Version) -> dict[str, object]:
    """Who made a row's state; what was only found there is nobody's that the log knows, least of all its finder's."""
    if row.action in ("observed", "external"):
        return {"action": row.action, "task_id": None, "actor": None, "objective": None}
    objective = _objective(session, row.task)
    return {"action": row.action, "task_id": row.task, "actor": row.actor or None, "objective": objective}


def _known(session: Session, real: str) -> bool:
    with session.catalog.read() as c:
        return versions.newest(c, real) is not None
