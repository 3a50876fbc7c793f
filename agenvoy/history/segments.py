"""Which rows are taken back, and in which pieces.

A task's rows on a path form segments, cut wherever another row stands between; a move is a segment of its own over
two paths. Segments are reversed newest first (history.plan).

What counts as a task's row: what its operations wrote, but not
  - `observed` and `external` rows,
  - restores of that very task, and undo and redo: those turn operations, of whatever task, off and on again,
  - operations that were undone, and rows up to which a restore that still holds has taken the task back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agenvoy.catalog import Connection, adopted, undone, versions
from agenvoy.types import ABSENT, State, Version


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive rows of one writer on one path, or a move.

    Args:
        path: the path; of a move, its target.
        before, after: the states around it.
        before_version, after_version: ids of the rows that hold them (0: none).
        source: of a move, the path that the file came from.
        source_before, source_version: what was there, and the row that holds it. It may differ from `after`: a
            rollback can move a file and change it in one go.
    """

    path: str
    before: State
    after: State
    before_version: int
    after_version: int
    source: str | None = None
    source_before: State = ABSENT
    source_version: int = 0


def rows_of_task(c: Connection, task: str) -> list[Version]:
    """The rows that restoring a task would take back, oldest first."""
    handled = undone.upto(c, task)
    operations = {
        op.id: op for op in versions.operations(c, "task = ? AND state IN (1, 3)", (task,)) if _counts(op, task)
    }
    own = versions.of_task(c, task)
    adoptions = adopted.any_for(c)
    lost = adopted.taken(c, [row.id for row in own], task) if adoptions else set()
    more = [row for number in adopted.given(c, task) if (row := versions.get(c, number))] if adoptions else []
    found = [
        row
        for row in own
        if row.operation in operations
        and row.action not in ("observed", "external")
        and row.id > handled.get(row.path, 0)
        and row.id not in lost
    ]
    return sorted([*found, *(r for r in more if r.id > handled.get(r.path, 0))], key=lambda row: row.id)


def _counts(op: versions.Operation, task: str) -> bool:
    if op.undone_by is not None or op.target_task == task:
        return False
    return op.kind not in ("undo", "redo", "external")


def rows_of_operation(c: Connection, operation: int) -> list[Version]:
    """The rows that undoing an operation would take back."""
    return [r for r in versions.of_operation(c, operation) if r.action not in ("observed", "external")]


def segments(c: Connection, rows: list[Version]) -> list[Segment]:
    """The segments of these rows, newest first."""
    wanted = {row.id for row in rows}
    found: list[Segment] = []
    for path in sorted({row.path for row in rows}):
        found += _of_path(versions.of_path(c, path), wanted)
    found = [_with_source(c, piece) if piece.source is not None else piece for piece in found]
    return sorted(found, key=lambda s: s.after_version, reverse=True)


def _with_source(c: Connection, move: Segment) -> Segment:
    row = versions.get(c, move.after_version)
    own = versions.of_operation(c, row.operation) if row is not None else []
    end = next((r for r in own if r.path == move.source and r.moved == move.path), None)
    ahead = versions.before(c, end.path, end.id) if end is not None else None
    if ahead is None:
        return replace(move, source_before=move.after)
    return replace(move, source_before=ahead.state, source_version=ahead.id)


def _of_path(rows: list[Version], wanted: set[int]) -> list[Segment]:
    found: list[Segment] = []
    open_: list[Version] = []
    ahead: Version | None = None

    def close() -> None:
        if open_:
            found.append(
                Segment(
                    open_[0].path,
                    ahead.state if ahead else ABSENT,
                    open_[-1].state,
                    ahead.id if ahead else 0,
                    open_[-1].id,
                )
            )
            open_.clear()

    previous: Version | None = None
    for row in rows:
        if row.id not in wanted:
            close()
        elif row.moved is not None:
            close()
            if row.state.kind != "absent":  # the source's row is the other end of the same segment
                found.append(
                    Segment(
                        row.path,
                        previous.state if previous else ABSENT,
                        row.state,
                        previous.id if previous else 0,
                        row.id,
                        row.moved,
                    )
                )
        else:
            if not open_:
                ahead = previous
            open_.append(row)
        previous = row
    close()
    return found


def told_since(now: State, piece: Segment) -> str:
    """What became of a path since a piece, in words."""
    words = {"absent": "removed", "file": "made a file", "link": "made a symbolic link", "dir": "made a folder"}
    if piece.before.kind == "absent" and now.kind == piece.after.kind:
        return "the task created it, and somebody changed it since"
    if piece.after.kind == "absent":
        return f"the task removed it, and it was {words[now.kind]} since"
    return f"it was {words[now.kind] if now.kind != piece.after.kind else 'changed'} since"
