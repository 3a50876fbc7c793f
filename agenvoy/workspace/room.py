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
    for row in rows:
        seen = session.log.look(row.path)
        with session.catalog.read() as c:
            newest = versions.newest(c, row.path)
        item = Item(
            row.path, "unchanged", seen.state, row.state, newest.id if newest else 0, row.id, data=seen.data
        )
        if not item.disk.same(item.target):
            gone = "removed" if item.target.kind == "absent" else "recreated"
            item.outcome = gone if "absent" in (item.target.kind, item.disk.kind) else "restored"  # type: ignore[assignment]
            for other in _in_the_way(session, item):
                items.setdefault(other.path, other)
        items[row.path] = item
    return Plan([items[p] for p in sorted(items)], (), f"states {kind}")


def _in_the_way(session: Session, item: Item) -> list[Item]:
    """What has to make room: entries of a folder that stands at the path, a file or link in place of a parent."""
    reason = "it stood in the way; kept as a version"
    found = []
    if item.disk.kind == "dir" and item.target.kind != "dir":
        for path in entries_below(item.path):
            seen = session.log.look(path)
            found.append(Item(path, "removed", seen.state, ABSENT, data=seen.data, reason=reason))
    blocked = _blocked_parent(session, item.path) if item.target.kind != "absent" else None
    if blocked is not None:
        seen = session.log.look(blocked)
        folder = State("dir", 0o777 & ~umask())
        found.append(Item(blocked, "restored", seen.state, folder, data=seen.data, reason=reason))
    return found


def with_room(session: Session, plan: Plan, mode: OnConflict) -> Plan:
    """The plan with what must make room; unless things may be overwritten, a path without room is a conflict."""
    items = {item.path: item for item in plan.items}
    for item in plan.having("restored", "merged", "recreated"):
        blockers = [other for other in _in_the_way(session, item) if not _changes(items.get(other.path))]
        if blockers and mode == "overwrite":
            items.update((other.path, other) for other in blockers)
        elif blockers:
            item.outcome = "skipped" if mode == "skip" else "conflict"
            item.reason = f"{session.jail.shown(blockers[0].path)} stands in its way now"
    skipped = {item.path for item in plan.having("skipped")}
    done = tuple((path, upto) for path, upto in plan.handled if path not in skipped)
    return Plan([items[path] for path in sorted(items)], done, plan.kind)


def _changes(item: Item | None) -> bool:
    return item is not None and item.outcome in ("restored", "merged", "removed", "recreated")


def _blocked_parent(session: Session, path: str) -> str | None:
    root = next((r for r in session.settings.roots if inside(path, r)), "/")
    folder = root
    for part in os.path.relpath(os.path.dirname(path), root).split("/"):
        folder = os.path.normpath(os.path.join(folder, part))
        if os.path.lexists(folder) and (os.path.islink(folder) or not os.path.isdir(folder)):
            return folder
    return None
