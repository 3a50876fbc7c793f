"""Plans that make room: what stands at a path, or in place of one of its parents, when something is put back there."""

from __future__ import annotations

import os

from agenvoy.catalog import versions
from agenvoy.disk.jail import inside
from agenvoy.history.plan import Item, OnConflict, Plan
from agenvoy.types import ABSENT, State, Version
from agenvoy.workspace.editing import entries_below, umask
from agenvoy.workspace.session import Session


def to_states(session: Session, rows: list[Version], kind: str) -> Plan:
    """The plan that gives each path the state of a row, whatever is there or in place of a parent now."""
    items: dict[str, Item] = {}
    parents: dict[str, str | None] = {}
    for row in rows:
        seen = session.log.look(row.path)
        with session.catalog.read() as c:
            newest = versions.newest_id(c, row.path)
        item = Item(row.path, "unchanged", seen.state, row.state, newest, row.id, data=seen.data)
        if not item.disk.same(item.target):
            gone = "removed" if item.target.kind == "absent" else "recreated"
            item.outcome = gone if "absent" in (item.target.kind, item.disk.kind) else "restored"  # type: ignore[assignment]
            for other in _in_the_way(session, item, parents):
                items.setdefault(other.path, other)
        items[row.path] = item
    return Plan([items[p] for p in sorted(items)], (), f"states {kind}")


def _in_the_way(session: Session, item: Item, parents: dict[str, str | None]) -> list[Item]:
    """What has to make room: entries of a folder that stands at the path, a file or link in place of a parent.

    Args:
        parents: what `_blocked_parent` said of folders so far.
    """
    reason = "it stood in the way; kept as a version"
    found = []
    if item.disk.kind == "dir" and item.target.kind != "dir":
        for path in entries_below(item.path):
            seen = session.log.look(path)
            found.append(Item(path, "removed", seen.state, ABSENT, data=seen.data, reason=reason))
    folder = os.path.dirname(item.path)
    if folder not in parents:
        parents[folder] = _blocked_parent(session, folder)
    blocked = parents[folder] if item.target.kind != "absent" else None
    if blocked is not None:
        seen = session.log.look(blocked)
        made = State("dir", 0o777 & ~umask())
        found.append(Item(blocked, "restored", seen.state, made, data=seen.data, reason=reason))
    return found


def with_room(session: Session, plan: Plan, mode: OnConflict, folders: set[str]) -> Plan:
    """The plan with what must make room; unless things may be overwritten, a path without room is a conflict.

    Two states that a task found at different times can exclude each other: a file now, and before that a folder with
    files in it. Then the outer one is put back when things may be overwritten, and is the conflict otherwise.

    Args:
        folders: made on the way to a file by what is taken back; they make room like what it removes.
    """
    items = {item.path: item for item in plan.items}
    parents: dict[str, str | None] = {}
    for item in plan.having("restored", "merged", "recreated"):
        if items[item.path] is not item or not _changes(item):
            continue  # it made room for one further out
        blockers = [other for other in _in_the_way(session, item, parents) if not _yields(items.get(other.path), item)]
        if blockers and all(other.path in folders for other in blockers):
            items.update((other.path, other) for other in blockers)
            blockers = []
        excluded = [] if item.target.kind == "dir" else _coming_below(items, item.path)
        if not blockers and not excluded:
            continue
        if mode == "overwrite":
            for other in excluded:
                other.outcome, other.moved = "skipped", None
                other.reason = f"{session.jail.shown(item.path)}, above it, is no folder then"
            items.update((other.path, other) for other in blockers)
        else:
            item.outcome = "skipped" if mode == "skip" else "conflict"
            first = session.jail.shown((blockers or excluded)[0].path)
            item.reason = f"{first} stands in its way now" if blockers else f"{first} is to come back below it"
    for item in items.values():
        coming = _coming_below(items, item.path) if _goes(item) and item.disk.kind == "dir" else []
        if coming:
            item.outcome, item.reason = "unchanged", f"{session.jail.shown(coming[0].path)} comes back in it"
    skipped = {item.path for item in plan.having("skipped")} - {item.path for item in items.values() if _goes(item)}
    done = tuple((path, upto) for path, upto in plan.handled if path not in skipped)
    return Plan([items[path] for path in sorted(items)], done, plan.kind)


def _changes(item: Item | None) -> bool:
    return item is not None and item.outcome in ("restored", "merged", "removed", "recreated")


def _yields(other: Item | None, item: Item) -> bool:
    """Whether the plan takes away what stands in an item's way, or makes it the folder that the item needs."""
    if other is None or not item.path.startswith(other.path + "/"):
        return _goes(other)
    return _changes(other) and other.target.kind in ("dir", "absent")


def _goes(item: Item | None) -> bool:
    return item is not None and item.outcome == "removed"


def _coming_below(items: dict[str, Item], path: str) -> list[Item]:
    """What the plan puts below a path that is to be no folder."""
    return [
        item
        for other, item in items.items()
        if other.startswith(path + "/") and _changes(item) and item.target.kind != "absent"
    ]


def _blocked_parent(session: Session, folder: str) -> str | None:
    """The first part of a folder's path that is no folder."""
    here = next((r for r in session.settings.roots if inside(folder, r)), "/")
    for part in ("", *folder[len(here) :].split("/")):
        here = os.path.join(here, part) if part else here
        if os.path.lexists(here) and (os.path.islink(here) or not os.path.isdir(here)):
            return here
    return None
