"""What an operation that died left beside the files: temporary names, and copies in the trash.

A temporary file is ours when it holds the state before, the state to come, or a beginning of either (the writing was
cut). Anything else is somebody's save that the exchange displaced in the last instant before the death; it is put
back, or, where something newer stands at the name by now, recorded.
"""

from __future__ import annotations

import os

from agenvoy.disk import replace, states
from agenvoy.disk.exchange import exchange, rename_new
from agenvoy.disk.jail import open_folder
from agenvoy.history.changes import Change, Spec, is_real_folder, temp_name
from agenvoy.history.log import Log
from agenvoy.history.trashing import drop_place, place_in_trash
from agenvoy.history.writing import DiskWriter
from agenvoy.types import State


def clear(log: Log, spec: Spec, writer: DiskWriter) -> None:
    """Remove the temporary files of an operation, but for removed files on their way to the trash.

    Args:
        spec: under which a displaced save is recorded.
        writer: of the whole operation; told which removed files still lie under their temporary names.
    """
    for number, change in writer.changes:
        folder = os.path.dirname(change.path)
        if is_real_folder(folder):
            with open_folder(folder) as fd:
                for back in (False, True):
                    _clear_one(log, spec, writer, fd, number, change, temp_name(writer.token, number, back=back))


def _clear_one(
    log: Log, spec: Spec, writer: DiskWriter, fd: int, number: int, change: Change, temp: str
) -> None:
    seen = states.look(fd, temp, keep=log.vault.inline)
    if seen.state.kind == "absent":
        return
    name = os.path.basename(change.path)
    target = states.look(fd, name, keep=log.vault.inline).state
    if _ours(log, fd, temp, seen.state, change):
        leaving = change.path in writer.trash and seen.state.same(change.before) and target.kind == "absent"
        if leaving and temp == temp_name(writer.token, number):
            writer.displaced.add(number)
        elif target.kind == "absent" and seen.state.same(change.before) and change.after.kind == "dir":
            rename_new(temp, name, fd, fd)  # taken out to make room for a folder that was not made yet
        else:
            replace.unstage(fd, temp)
    elif target.kind == "absent":
        rename_new(temp, name, fd, fd)
    elif target.same(change.after) or target.same(change.before):
        replace.give_back(fd, name, temp, target, seen)
    else:
        _keep_both(log, spec, fd, temp, change)


def _ours(log: Log, fd: int, temp: str, state: State, change: Change) -> bool:
    if state.same(change.before) or state.same(change.after):
        return True
    if state.kind != "file":
        return False
    return any(s.kind == "file" and _is_beginning(log, fd, temp, s) for s in (change.after, change.before))


def _is_beginning(log: Log, fd: int, temp: str, whole: State) -> bool:
    file = os.open(temp, states.READ_FLAGS, dir_fd=fd)
    with open(file, "rb") as staged:
        for block in log.vault.blocks(whole.hash):
            part = staged.read(len(block))
            if not block.startswith(part):
                return False
            if len(part) < len(block):
                return True
        return staged.read(1) == b""


def _keep_both(log: Log, spec: Spec, fd: int, temp: str, change: Change) -> None:
    """The displaced save becomes a row for the moment that it is at the name again; the newer one then stays."""
    name = os.path.basename(change.path)
    exchange(temp, name, fd)
    newer, seen = states.look(fd, temp, keep=log.vault.inline), log.look(change.path)
    log.record_only(spec, [Change(change.path, change.before, seen.state, "external", data=seen.data)])
    replace.give_back(fd, name, temp, seen.state, newer)


def trashed_already(writer: DiskWriter, changes: list[Change]) -> dict[str, str]:
    """Removed files of the operation that reached the trash: path → place."""
    found = {}
    for change in changes:
        version = writer.trash.get(change.path)
        if version is not None:
            place = place_in_trash(writer.store, version, change.path)
            if os.path.lexists(place):
                found[change.path] = place
    return found


def empty_trash(places: dict[str, str]) -> None:
    """Take copies of files that were put back out of the trash."""
    for place in places.values():
        drop_place(place)
