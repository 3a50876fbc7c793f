"""Recorded contents of some paths become encrypted ones; nothing else about their rows changes.

Holds the store's maintenance lock alone, like `gc` and `purge`: nobody reads a row while its bytes change their form.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy.catalog import contents, extracts, gone, trashed, versions
from agenvoy.history.log import Log
from agenvoy.history.trashing import drop_place


def seal(log: Log, paths: Sequence[str]) -> None:
    """Encrypt every content that was ever recorded of these paths, and drop plain copies of them.

    A removed file's copy in the trash goes: its history has the bytes. What another path shares is sealed with it.

    Raises:
        KeyMissing, OSError: there is no key, or no room; what is not sealed yet is kept as before.
    """
    with log.locks.alone():
        with log.catalog.write() as c:
            for path in paths:
                for name in {*gone.recorded_contents(c, path), *gone.read_contents(c, path)}:
                    log.vault.seal(c, name)
                    extracts.forget(c, name)
                for entry in trashed.of_path(c, path):
                    row = versions.get(c, entry.version)
                    if row is not None and row.state.kind == "file" and contents.proof(c, row.state.hash):
                        drop_place(entry.place)
                        trashed.delete(c, entry.version)
        log.catalog.checkpoint()  # deleted bytes were overwritten; this empties the WAL that still had them
