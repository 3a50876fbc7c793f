"""What a rollback would do, path by path, before anything is done.

The plan is made on a picture of the disk: segments are reversed in it newest first, and what the picture then shows
against the disk are the changes. Nothing is written here. Paths that moves tie together stand or fall together.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from typing import Any, Literal

from agenvoy.catalog import trashed, versions
from agenvoy.disk.states import NOTHING, Seen
from agenvoy.errors import AgenvoyError
from agenvoy.history.changes import Change, inode_of, is_real_folder
from agenvoy.history.log import Log
from agenvoy.history.merge import merge
from agenvoy.history.segments import Segment, segments, told_since
from agenvoy.types import ABSENT, State, Version

OnConflict = Literal["abort", "merge", "overwrite", "skip"]
Outcome = Literal["restored", "merged", "removed", "recreated", "unchanged", "conflict", "skipped", "failed"]


@dataclass(slots=True)
class Item:
    """The plan for one path.

    Args:
        disk, target: the state now and the state to be.
        from_version: the newest row of the path (0: none); what is on disk may be newer.
        to_version: the row whose state it gets; 0 where the result is a merge.
        base_version: of a conflict, the row of the state that both sides come from.
    """

    path: str
    outcome: Outcome
    disk: State
    target: State
    from_version: int = 0
    to_version: int = 0
    base_version: int = 0
    reason: str = ""
    data: bytes | None = None
    moved: str | None = None


@dataclass(slots=True)
class Plan:
    """Items in path order, and the rows that they take back (`handled`: newest row id per path)."""

    items: list[Item]
    handled: tuple[tuple[str, int], ...] = ()
    kind: str = ""

    @property
    def id(self) -> str:
        """A digest of everything that the plan would do: the same plan on the same disk has the same id."""

        def plain(s: State) -> list[object]:
            return [s.kind, s.mode, s.size, s.hash]

        text = json.dumps([self.kind, [[i.path, i.outcome, plain(i.disk), plain(i.target)] for i in self.items]])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def having(self, *outcomes: Outcome) -> list[Item]:
        """Items with one of these outcomes."""
        return [item for item in self.items if item.outcome in outcomes]

    def changes(self) -> list[Change]:
        """What the log is to write; a move is one only where both of its ends change."""
        doing = {i.path: i for i in self.having("restored", "merged", "removed", "recreated")}

        def other_end(item: Item) -> str | None:
            other = doing.get(item.moved or "")
            if other is None or other.moved != item.path:
                return None
            return item.moved if (other.target.kind == "absent") != (item.target.kind == "absent") else None

        return [
            Change(i.path, i.disk, i.target, "restore", moved=other_end(i), data=i.data) for i in doing.values()
        ]


@dataclass(slots=True)
class _Picture:
    """The disk as the plan imagines it; `merged` and `trouble` say what happened to a path on the way."""

    seen: dict[str, Seen] = field(default_factory=dict)
    now: dict[str, State] = field(default_factory=dict)
    version: dict[str, int] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)
    trouble: dict[str, tuple[str, Segment]] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)  # what cannot be looked at, and why
    lies_at: dict[str, str] = field(default_factory=dict)  # of a path that was moved back: where its bytes are on disk


class Planner:
    """Makes plans; reads the disk and the log, and stages merged contents in the vault."""

    def __init__(self, log: Log, folders: set[str] | None = None) -> None:
        self.log = log
        self.folders = folders or set()  # made on the way to a file by what is taken back

    def take_back(self, rows: list[Version], on_conflict: OnConflict, kind: str) -> Plan:
        """The plan that takes these rows back."""
        with self.log.catalog.read() as c:
            pieces = segments(c, rows)
        picture = _Picture()
        paths = sorted({p for s in pieces for p in (s.path, s.source) if p})
        for path in paths:
            picture.seen[path] = self._look(picture, path)
            picture.now[path] = picture.seen[path].state
        disk = dict(picture.seen)
        self._forget_own_folders(picture, paths)
        for piece in pieces:
            if piece.path not in picture.trouble:
                self._reverse(picture, piece, on_conflict)
        self._tie(picture, pieces)
        self._leave_own_folders(picture, paths)
        items = [self._item(picture, path, disk[path], pieces, on_conflict) for path in paths]
        _agree(items)
        items = sorted([*items, *self._other_names(items, rows)], key=lambda item: item.path)
        items += self._empty_folders(paths)
        self._keep_used_folders(items)
        newest: dict[str, int] = {}
        for row in rows:
            newest[row.path] = max(row.id, newest.get(row.path, 0))
        skipped = {i.path for i in items if i.outcome == "skipped"}
        return Plan(items, tuple((p, v) for p, v in sorted(newest.items()) if p not in skipped), kind)

    def _look(self, picture: _Picture, path: str) -> Seen:
        try:
            return self.log.look(path)
        except PermissionError:
            picture.closed[path] = "it cannot be looked at: permission denied"
        except AgenvoyError as error:
            if error.code != "not_a_file":
                raise
            picture.closed[path] = "a device, FIFO or socket stands there"
        return NOTHING

    # ---- one segment
    def _reverse(self, picture: _Picture, piece: Segment, on_conflict: OnConflict) -> None:
        if piece.source is not None:
            self._move_back(picture, piece)
            return
        now = picture.now[piece.path]
        if now.same(piece.after):
            picture.now[piece.path] = piece.before
            picture.version[piece.path] = piece.before_version
        elif now.same(piece.before):
            picture.version[piece.path] = piece.before_version
        elif on_conflict == "abort":
            picture.trouble[piece.path] = ("it was changed since", piece)
        else:
            self._merge(picture, piece, now)

    def _merge(self, picture: _Picture, piece: Segment, now: State) -> None:
        if not now.kind == piece.before.kind == piece.after.kind == "file":
            picture.trouble[piece.path] = (self._moved_since(piece.path, now) or told_since(now, piece), piece)
            return
        mode = _three(piece.after.mode, now.mode, piece.before.mode)
        content: str | None = _three(piece.after.hash, now.hash, piece.before.hash)
        size = {piece.before.hash: piece.before.size, now.hash: now.size}.get(content or "", 0)
        if content is None:
            both = merge(*(self._bytes(picture, piece.path, s) for s in (piece.after, now, piece.before)))
            if both is not None:
                content, size = self.log.vault.stage(both), len(both)
        if mode is None or content is None:
            what = "both changed the same lines" if content is None else "both changed its permission bits"
            picture.trouble[piece.path] = (f"{what}: the task, and somebody else since", piece)
            return
        merged = State("file", mode, size, content, now.extra)
        if now.alike(piece.after):  # only the task changed its attributes
            merged = merged.dressed(piece.before.attributes())
        picture.now[piece.path] = merged
        picture.version[piece.path] = 0
        picture.merged.add(piece.path)

    def _moved_since(self, path: str, now: State) -> str:
        """Where somebody else moved a file that is gone; empty where nobody did."""
        with self.log.catalog.read() as c:
            newest = versions.newest(c, path) if now.kind == "absent" else None
        return f"it was moved to {os.path.basename(newest.moved)} since" if newest and newest.moved else ""

    def _bytes(self, picture: _Picture, path: str, state: State) -> bytes:
        seen = picture.seen.get(path)
        if seen is not None and seen.data is not None and seen.state.hash == state.hash:
            return seen.data
        if seen is not None and seen.state.hash == state.hash and not self.log.vault.has(state.hash):
            return b"".join(self.log.disk_blocks(picture.lies_at.get(path, path)))
        return self.log.vault.read(state.hash)

    def _move_back(self, picture: _Picture, piece: Segment) -> None:
        source = piece.source or ""
        now, at_source = picture.now[piece.path], picture.now[source]
        if now.same(piece.before) and at_source.kind != "absent":
            return  # it is back already
        if at_source.kind != "absent" or now.kind != piece.after.kind:
            picture.trouble[piece.path] = ("it was moved, and one end of the move was changed since", piece)
            return
        if now.same(piece.after):
            now, version = piece.source_before, piece.source_version
        elif piece.source_before.same(piece.after):
            version = 0
            picture.merged.add(piece.path)
        else:
            self._merge(picture, with_fields(piece, before=piece.source_before), now)
            if piece.path in picture.trouble:
                return
            now, version = picture.now[piece.path], 0
        picture.now[source], picture.now[piece.path] = now, piece.before
        picture.version[source], picture.version[piece.path] = version, piece.before_version
        picture.seen[source] = picture.seen[piece.path]
        picture.lies_at[source] = picture.lies_at.get(piece.path, piece.path)
        if piece.path in picture.merged:
            picture.merged.add(source)
        picture.moved[source], picture.moved[piece.path] = piece.path, source

    # ---- what belongs together
    def _tie(self, picture: _Picture, pieces: list[Segment]) -> None:
        """Trouble at one end of a move is trouble at the other."""
        moves = [s for s in pieces if s.source is not None]
        for _ in moves:
            for piece in moves:
                for one, other in ((piece.path, piece.source or ""), (piece.source or "", piece.path)):
                    if one in picture.trouble and other not in picture.trouble:
                        picture.trouble[other] = (picture.trouble[one][0], piece)

    def _forget_own_folders(self, picture: _Picture, paths: list[str]) -> None:
        """A folder that was made on the way to a file, and holds nothing but what goes, counts as absent."""
        for path in paths:
            if picture.now[path].kind == "dir" and path in self.folders and self._goes(path, set(paths)):
                picture.now[path] = ABSENT

    def _leave_own_folders(self, picture: _Picture, paths: list[str]) -> None:
        """A folder that was made on the way, and is gone, does not come back for nothing."""
        for path in reversed(paths):  # what lies in a folder comes first
            if path in self.folders and picture.now[path].kind == "dir" and picture.seen[path].state.kind == "absent":
                inside = [p for p in paths if p.startswith(path + "/") and picture.now[p].kind != "absent"]
                if not inside:
                    picture.now[path] = ABSENT

    def _other_names(self, items: list[Item], rows: list[Version]) -> list[Item]:
        """Other names of a file that comes back, which show what was written through the name that had gone."""
        known, found = {item.path for item in items}, []
        for item in items:
            inode = inode_of(item.target)
            if item.outcome not in ("recreated", "restored") or inode in (None, inode_of(item.disk)):
                continue
            written = {row.state.hash for row in rows if row.path == item.path} - {item.target.hash, ""}
            with self.log.catalog.read() as c:
                names = [name for name in trashed.names_of(c, *inode) if name not in known]
            for name in names:
                seen = self._look(_Picture(), name)
                same = seen.stat is not None and (seen.stat.st_dev, seen.stat.st_ino) == inode
                if same and seen.state.hash in written:
                    with self.log.catalog.read() as c:
                        newest = versions.newest_id(c, name)
                    reason = "another name of the same file"
                    found.append(
                        Item(name, "restored", seen.state, item.target, newest, item.to_version,
                             reason=reason, data=seen.data)
                    )  # fmt: skip
                    known.add(name)
        return found

    def _empty_folders(self, paths: list[str]) -> list[Item]:
        """Folders that were made on the way and hold nothing by now: they go with the rest, recorded like it."""
        found: dict[str, Item] = {}
        for folder in sorted(self.folders - set(paths), key=len, reverse=True):
            entries = _entries(folder) if is_real_folder(folder) else None
            if entries is not None and all(entry.path in found for entry in entries):
                disk = self.log.look(folder).state
                with self.log.catalog.read() as c:
                    newest = versions.newest_id(c, folder)
                found[folder] = Item(folder, "removed", disk, ABSENT, newest)
        return [found[path] for path in sorted(found)]

    def _goes(self, folder: str, paths: set[str]) -> bool:
        entries = _entries(folder)
        if entries is None:
            return False
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in self.folders | paths or not self._goes(entry.path, paths):
                    return False
            elif entry.path not in paths:
                return False
        return True

    def _keep_used_folders(self, items: list[Item]) -> None:
        """A folder with somebody else's entries stays."""
        going = {i.path for i in items if i.outcome == "removed"} | self.folders
        for item in sorted(items, key=lambda i: -len(i.path)):
            if item.outcome == "removed" and item.disk.kind == "dir":
                entries = _entries(item.path)
                others = [e.name for e in entries or () if e.path not in going]
                if entries is None or others:
                    told = f"it holds other entries, such as {others[0]}" if others else "it cannot be looked into"
                    item.outcome, item.reason = "unchanged", told
                    going.discard(item.path)

    # ---- the items
    def _item(
        self, picture: _Picture, path: str, disk: Seen, pieces: list[Segment], on_conflict: OnConflict
    ) -> Item:
        with self.log.catalog.read() as c:
            newest = versions.newest_id(c, path)
        item = Item(path, "unchanged", disk.state, picture.now[path], newest, data=disk.data)
        item.to_version = picture.version.get(path, 0)
        item.moved = picture.moved.get(path)
        if path in picture.closed:
            item.outcome = "skipped" if on_conflict == "skip" else "failed"
            item.reason, item.moved = picture.closed[path], None
            return item
        if path in picture.trouble:
            reason, piece = picture.trouble[path]
            first = [s for s in pieces if path in (s.path, s.source)][-1]
            item.reason, item.base_version, item.to_version = reason, piece.after_version, first.before_version
            item.target, item.moved = first.before if path == first.path else first.source_before, None
            if on_conflict == "overwrite":
                item.reason = "overwritten; what was there is kept as a version"
                item.outcome = _outcome(item, merged=False)
            else:
                item.outcome = "skipped" if on_conflict == "skip" else "conflict"
            return item
        item.outcome = _outcome(item, merged=path in picture.merged)
        return item


def _entries(folder: str) -> list[os.DirEntry[str]] | None:
    """What is in a folder; None where it cannot be looked into."""
    try:
        return list(os.scandir(folder))
    except PermissionError:
        return None


def _agree(items: list[Item]) -> None:
    """Names of one file that stay its names get one state: that of the name whose history goes back farthest."""
    shared: dict[tuple[int, int], list[Item]] = {}
    for item in items:
        inode = inode_of(item.target)
        if item.outcome == "restored" and inode is not None and inode == inode_of(item.disk):
            shared.setdefault(inode, []).append(item)
    for group in shared.values():
        first = min(group, key=lambda item: item.to_version or sys.maxsize)
        for item in group:
            item.target = first.target


def _outcome(item: Item, *, merged: bool) -> Outcome:
    if item.disk.same(item.target):
        return "unchanged"
    if item.target.kind == "absent":
        return "removed"
    if merged:
        return "merged"
    return "recreated" if item.disk.kind == "absent" else "restored"


def _three(base: Any, one: Any, other: Any) -> Any:
    """One value out of three: the side that differs from the base; None where both do, differently."""
    if one == other or other == base:
        return one
    return other if one == base else None


def plan_dict(plan: Plan, shown: Any) -> list[dict[str, Any]]:
    """The plan's items as the contract shows them.

    Args:
        shown: spells a real path.
    """
    found = []
    for item in plan.items:
        row: dict[str, Any] = {
            "path": shown(item.path),
            "outcome": item.outcome,
            "from_version": item.from_version or None,
            "to_version": item.to_version or None,
            "reason": item.reason or None,
        }
        if item.outcome in ("conflict", "skipped"):
            row["base_version"] = item.base_version or None
        found.append(row)
    return found
