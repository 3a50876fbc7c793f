"""Did these bytes change since this task saw them?

A task knows a path by what it read or last wrote there, whichever was later. "Later" is counted in version ids, not
in time: the order is the log's own. The judge is the content hash; times and sizes have no say.
"""

from __future__ import annotations

from agenvoy.catalog import Connection, reads
from agenvoy.errors import AgenvoyError

DIFF_BYTES = 16 * 1024  # of the diff in a refusal: enough to go on in one more call, small enough for a model


def known(c: Connection, task: str | None, scope: str, path: str) -> str | None:
    """The hash of the content that a task (or, outside a task, its workspace and actor) knows at a path; None: none.

    Args:
        task: the running task.
        scope: the memory of reads outside a task, which count for the task that is running when they are used.
    """
    best: tuple[int, int, str] | None = None
    for rank, name in ((0, scope), (1, task)):
        seen = reads.seen(c, name, path) if name else None
        if seen is not None:
            best = max(best or (-1, -1, ""), (seen.after, rank, seen.hash))
    if task is not None:
        written = reads.last_write(c, task, path)
        if written is not None and (best is None or written[0] > best[0]):
            best = (written[0], 2, written[1])
    return best[2] if best is not None and best[2] != reads.FORGOTTEN else None


def judge(known_hash: str | None, hash_now: str, shown: str, diff: str | None) -> None:
    """Refuse to overwrite what was not seen.

    Args:
        known_hash: what `known` gave at the start of the call.
        hash_now: what is on disk, inside the lock.
        diff: read → now, for the refusal; None where the content that was read was not kept.

    Raises:
        AgenvoyError: not_read, stale_read (with `diff`).
    """
    if known_hash is None:
        raise AgenvoyError(
            "not_read", f"{shown} was not read in this task", "read it with read_files, then call again"
        )
    if known_hash == hash_now:
        return
    told = cap(diff, DIFF_BYTES) if diff else ""
    raise AgenvoyError(
        "stale_read",
        f"{shown} has changed since this task read it" + (f":\n{told}" if told else ""),
        "read it again with read_files, then call again",
        diff=told,
    )


def cap(text: str, limit: int) -> str:
    """A text cut to `limit` bytes at a line end, and marked."""
    raw = text.encode("utf-8", "surrogateescape")
    if len(raw) <= limit:
        return text
    head = raw[:limit].rpartition(b"\n")[0] or raw[:limit]
    return head.decode("utf-8", "ignore") + f"\n[… {len(raw) - len(head)} more bytes of diff]"
