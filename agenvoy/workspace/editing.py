"""The verbs that change files: edit, remove, move."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenvoy import freshness
from agenvoy.catalog import reads, trashed, versions
from agenvoy.disk.jail import Place
from agenvoy.disk.states import Seen
from agenvoy.errors import AgenvoyError
from agenvoy.history.changes import Change, Written, inode_of
from agenvoy.history.diff import unified
from agenvoy.types import ABSENT, ConfirmRequest, Outcome, State
from agenvoy.workspace.protecting import keeps, protect
from agenvoy.workspace.session import Session

DIFF_BYTES = 32 * 1024  # of an edit's own diff: more than a model wants to see, less than it could choke on


def edit_file(
    session: Session,
    path: str,
    mode: str | None = None,
    content: str | None = None,
    targets: Sequence[Mapping[str, Any]] | None = None,
) -> Outcome:
    """See the contract, `edit_file`."""
    kind = _edit_mode(mode, content, targets)
    place = session.jail.resolve(path, write=True)
    real = session.identity(place.real)
    session.writable_store()
    task, scope = session.scopes()
    with session.catalog.read() as c:
        known = freshness.known(c, task, scope, real)
    with session.translating(place.shown), session.log.hold([real]):
        seen = session.log.look(real, shown=place.shown)
        _check_target(seen, place, patch=kind == "patch", limit=session.settings.patch_bytes)
        if seen.state.kind == "file":
            _check_fresh(session, known, seen, real, place)
        data = _bytes_now(session, seen, real)
        new, replacements = _new_bytes(kind, data, content, targets, place, session.settings.patch_bytes)
        check_parent(real, place.shown, seen.state)
        after = State(
            "file",
            seen.state.mode if seen.state.kind == "file" else 0o666 & ~umask(),
            len(new),
            session.vault.stage(new),
            seen.state.extra,
        )
        action = "modify" if seen.state.kind == "file" else "create"
        change = Change(real, seen.state, after, action, data=seen.data)  # type: ignore[arg-type]
        changes = [change, *_other_names(session, change)]
        written = session.log.write(session.spec("edit_file", "edit", f"Edit({place.shown})"), changes)
    return _edited(session, place, real, change, written, data, new, replacements)


def _other_names(session: Session, change: Change) -> list[Change]:
    """The same change for other names of the file that the log knows by themselves, since a command changed them."""
    inode = inode_of(change.before)
    if inode is None:
        return []
    found = []
    with session.catalog.read() as c:
        for name in trashed.names_of(c, *inode):
            newest = versions.newest(c, name) if name != change.path else None
            if newest is not None and newest.state.same(change.before) and _is(name, inode):
                found.append(replace(change, path=name))
    return found


def _is(path: str, inode: tuple[int, int]) -> bool:
    try:
        status = os.lstat(path)
    except OSError:  # that name is gone
        return False
    return (status.st_dev, status.st_ino) == inode


def _edit_mode(mode: str | None, content: str | None, targets: Sequence[Mapping[str, Any]] | None) -> str:
    if mode not in (None, "write", "patch"):
        raise AgenvoyError(
            "invalid_arguments",
            f"mode {mode} is not one of edit_file's",
            "mode is write (with content) or patch (with targets); remove_file and restore_file are tools of their own",
        )
    if (content is None) == (targets is None):
        both = "both content and targets" if content is not None else "neither content nor targets"
        raise AgenvoyError(
            "invalid_arguments", f"{both} were given", "give content to write a file, or targets to patch one"
        )
    kind = "write" if content is not None else "patch"
    if mode not in (None, kind):
        needs = "content" if mode == "write" else "targets"
        raise AgenvoyError("invalid_arguments", f"mode {mode} needs {needs}", f"give {needs}, or leave mode out")
    return kind


def _check_target(seen: Seen, place: Place, *, patch: bool, limit: int) -> None:
    if seen.state.kind == "dir" or place.asked.endswith("/"):
        raise AgenvoyError("is_directory", f"{place.shown} is a folder", "name a file in it")
    if not patch:
        return
    if seen.state.kind == "absent":
        raise AgenvoyError(
            "not_found", f"{place.shown} does not exist", "to create it, give content instead of targets"
        )
    if seen.state.size > limit:
        raise AgenvoyError(
            "too_large",
            f"{place.shown} has {seen.state.size} bytes; files up to {limit} bytes can be patched",
            "write the whole file with content, or change it with a command",
        )


def _check_fresh(session: Session, known: str | None, seen: Seen, real: str, place: Place) -> None:
    diff = None
    if known is not None and known != seen.state.hash and session.vault.has(known):
        if session.settings.is_sensitive(place.asked, real):
            diff = f"(a sensitive file: {seen.state.size} bytes now)"
        else:
            old = session.vault.read(known)
            before = State("file", seen.state.mode, len(old), known)
            diff = unified(old, seen.data, place.shown, before, seen.state)
    freshness.judge(known, seen.state.hash, place.shown, diff)


def _bytes_now(session: Session, seen: Seen, real: str) -> bytes | None:
    """The file's bytes for the new text: all of it up to the patch limit, else its beginning (encoding, BOM)."""
    if seen.state.kind != "file" or seen.data is not None:
        return seen.data
    parts, total = [], 0
    for block in session.log.disk_blocks(real):
        parts.append(block)
        total += len(block)
        if total > session.settings.patch_bytes:
            break
    return b"".join(parts)


def _new_bytes(
    kind: str,
    data: bytes | None,
    content: str | None,
    targets: Sequence[Mapping[str, Any]] | None,
    place: Place,
    limit: int,
) -> tuple[bytes, int]:
    from agenvoy.workspace.patch import apply_patch, encode_write

    if kind == "write":
        return encode_write(content or "", data, place.shown), 0
    patched = apply_patch(data or b"", targets or (), place.shown, limit)
    return patched.data, patched.replacements


def check_parent(real: str, shown: str, now: State) -> None:
    """Refuse before anything is recorded what the system would refuse later; raises not_found, permission_denied."""
    folder = os.path.dirname(real)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise AgenvoyError(
            "not_found", f"{shown} lies below {os.path.basename(folder)}, which is no folder", "choose another place"
        )
    if os.access(folder, os.W_OK | os.X_OK):
        return
    if now.kind == "file" and os.access(real, os.W_OK):
        return  # it is written in place
    raise AgenvoyError(
        "permission_denied", f"{shown} cannot be changed: its folder is not writable", "check the permission bits"
    )


def umask() -> int:
    """The process' umask; read where it can be without setting it (which other threads would see)."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("Umask:"):
                    return int(line.split()[1], 8)
    except OSError:  # no /proc on this system
        pass
    now = os.umask(0o077)
    os.umask(now)
    return now


def _edited(
    session: Session,
    place: Place,
    real: str,
    change: Change,
    written: Written,
    old: bytes | None,
    new: bytes,
    replacements: int,
) -> Outcome:
    if session.settings.is_sensitive(place.asked, real):
        diff = f"(a sensitive file: {change.before.size} -> {change.after.size} bytes; its diff is not shown)\n"
    else:
        whole = old if change.before.size == len(old or b"") else None
        diff = unified(whole, new, place.shown, change.before, change.after)
    result = {
        "path": place.shown,
        "version": written.versions[real],
        "previous_version": written.previous[real],
        "action": change.action,
        "replacements": replacements,
        "bytes_before": change.before.size,
        "bytes_after": change.after.size,
        "diff": freshness.cap(diff, DIFF_BYTES),
        "undoable": not protect(session, [real], "edit_file", f"Edit({place.shown})"),
    }
    return Outcome("edit_file", f"Edit({place.shown})", result, "", session.task_ref())


def remove_file(session: Session, path: str) -> Outcome:
    """See the contract, `remove_file`."""
    session.not_for_subagents("remove_file")
    place = session.jail.resolve(path, follow=False, write=True)
    session.writable_store()
    label = f"Remove({place.shown})"
    with session.translating(place.shown):
        seen = _removable(session, place)
        note_names(session, [seen.state])
        for_good = "" if keeps(session, place.real) else " for good (contents of sensitive files are not kept)"
        session.ask(ConfirmRequest("remove_file", label, f"remove {place.shown}{for_good}?"))
        with session.log.hold([place.real]):
            seen = _removable(session, place)
            check_parent(place.real, place.shown, ABSENT)
            change = Change(place.real, seen.state, ABSENT, "delete", data=seen.data)
            written = session.log.write(session.spec("remove_file", "remove", label), [change])
    forgotten = protect(session, [place.real], "remove_file", label)
    moved = written.places.get(place.real)
    result = {
        "path": place.shown,
        "moved_to": moved if moved and os.path.lexists(moved) else None,  # a sensitive file leaves no plain copy
        "version": written.versions[place.real],
        "previous_version": written.previous[place.real],
        "undoable": not forgotten,
    }
    return Outcome("remove_file", label, result, "", session.task_ref())


def _removable(session: Session, place: Place) -> Seen:
    seen = session.log.look(place.real, shown=place.shown)
    if seen.state.kind == "dir":
        raise AgenvoyError(
            "is_directory",
            f"{place.shown} is a folder",
            "remove its files one by one; a person can run `agenvoy remove --recursive`",
        )
    if seen.state.kind == "absent":
        raise AgenvoyError("not_found", f"{place.shown} does not exist", "list the folder with find_files")
    return _with_inode(session, seen, place.real)


def _with_inode(session: Session, seen: Seen, path: str) -> Seen:
    """The last name of a file that had several says so too, so that all of them can be one file again."""
    found = seen.stat
    if found is None or seen.state.kind != "file" or found.st_nlink != 1:
        return seen
    with session.catalog.read() as c:
        if path not in trashed.names_of(c, found.st_dev, found.st_ino):
            return seen
    return replace(seen, state=seen.state.of_inode(found.st_dev, found.st_ino))


def note_names(session: Session, going: Sequence[State]) -> None:
    """Of files with several names find the other ones, so that a name that comes back can be joined to them again."""
    wanted = {inode for state in going if (inode := inode_of(state)) is not None}
    if not wanted:
        return
    found = []
    for root in session.settings.roots:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                status = os.lstat(path) if os.path.lexists(path) else None
                if status is not None and (status.st_dev, status.st_ino) in wanted:
                    found.append((status.st_dev, status.st_ino, path))
    with session.catalog.write(sync=False) as c:
        for device, number, path in found:
            trashed.note_inode(c, device, number, path)


def remove_tree(session: Session, path: str) -> Outcome:
    """A folder with everything in it, links and empty folders included, as one operation (the CLI's --recursive).

    Raises:
        AgenvoyError: not_found, permission_denied, not_a_file: one entry that cannot be recorded stops it all.
    """
    session.not_for_subagents("remove_file")
    place = session.jail.resolve(path, follow=False, write=True)
    session.writable_store()
    if any(place.real == root for root in session.settings.roots):
        raise AgenvoyError("permission_denied", "the workspace's own folder cannot be removed", "name a folder in it")
    label = f"Remove({place.shown})"
    with session.translating(place.shown):
        first = session.log.look(place.real, shown=place.shown)
        if first.state.kind != "dir":
            return remove_file(session, path)
        count = len(entries_below(place.real))
        session.ask(ConfirmRequest("remove_file", label, f"remove {place.shown} and the {count} entries in it?"))
        with session.log.hold([place.real, *entries_below(place.real)]):
            paths = [place.real, *entries_below(place.real)]
            changes = [_goes(session, real) for real in paths]
            note_names(session, [change.before for change in changes])
            written = session.log.write(session.spec("remove_file", "remove", label), changes)
    forgotten = protect(session, paths, "remove_file", label)
    result = {
        "path": place.shown,
        "removed": len(changes),
        "moved_to": os.path.join(session.settings.store, "temp"),
        "version": written.versions[place.real],
        "previous_version": written.previous[place.real],
        "undoable": not forgotten,
        "not_kept": [session.jail.shown(path) for path in forgotten],
    }
    return Outcome("remove_file", label, result, "", session.task_ref())


def entries_below(folder: str) -> list[str]:
    """Every path below a folder, links not followed."""
    found = []
    for here, folders, files in os.walk(folder, onerror=_raise):
        found += [os.path.join(here, name) for name in (*folders, *files)]
    return found


def _raise(error: OSError) -> None:
    raise error


def _goes(session: Session, real: str) -> Change:
    shown = session.jail.shown(real)
    if not session.jail.writable(real):
        raise AgenvoyError("permission_denied", f"{shown} may not be removed", "remove the other entries one by one")
    seen = _with_inode(session, session.log.look(real, shown=shown), real)
    check_parent(real, shown, ABSENT)
    return Change(real, seen.state, ABSENT, "delete", data=seen.data)


def move_file(session: Session, path: str, to: str) -> Outcome:
    """See the contract, `move_file`."""
    source = session.jail.resolve(path, follow=False, write=True)
    target = session.jail.resolve(to, follow=False, write=True)
    session.writable_store()
    label = f"Move({source.shown} -> {target.shown})"
    task, scope = session.scopes()
    with session.translating(target.shown), session.log.hold([source.real, target.real]):
        seen = _removable(session, source)
        if to.endswith("/") or session.log.look(target.real).state.kind != "absent":
            raise AgenvoyError("already_exists", f"{target.shown} exists already", "choose another name")
        check_parent(source.real, source.shown, ABSENT)
        check_parent(target.real, target.shown, ABSENT)
        with session.catalog.read() as c:
            known = freshness.known(c, task, scope, source.real)
        changes = [
            Change(source.real, seen.state, ABSENT, "move", moved=target.real, data=seen.data),
            Change(target.real, ABSENT, seen.state, "move", moved=source.real),
        ]
        written = session.log.write(session.spec("move_file", "move", label), changes)
        _keep_memory(session, known, target.real, written)
    protect(session, [source.real, target.real], "move_file", label)
    result = {
        "path": source.shown,
        "to": target.shown,
        "version": written.versions[target.real],
        "previous_version": written.previous[source.real],
    }
    return Outcome("move_file", label, result, "", session.task_ref())


def _keep_memory(session: Session, known: str | None, path: str, written: Written) -> None:
    """What was read under the old name stays read under the new one."""
    if known is None:
        return
    task, scope = session.scopes()
    with session.catalog.write(sync=False) as c:
        reads.remember(c, task or scope, path, known, written.versions[path], session.clock())


def is_regular(path: str) -> bool:
    """Whether a path is a regular file now, links not followed."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:  # absent or out of reach: in either case no file to be had
        return False
