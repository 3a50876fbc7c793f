"""The secrets policy `not recorded`: contents of sensitive files do not stay in the store.

While a change is carried out its bytes have to be durable, or a crash could lose the user's file. Right after it is
done they are taken away again, as `purge` does it: the rows stay and say so, the bytes are overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy.history.changes import Spec
from agenvoy.history.gc import purge
from agenvoy.workspace.session import Session


def keeps(session: Session, *paths: str) -> bool:
    """Whether contents of a file with these names may stay in the store."""
    return session.settings.keep_sensitive == "recorded" or not session.settings.is_sensitive(*paths)


def forget(session: Session, paths: Sequence[str], tool: str, label: str) -> list[str]:
    """Take away what was recorded of those paths whose contents may not stay; gives them.

    Raises:
        AgenvoyError: store_busy, disk_full.
    """
    settings = session.settings
    found = [path for path in paths if not keeps(session, path)]
    if found:
        purge(session.log, Spec(settings.root, settings.actor, tool, "purge", label), found)
    return found
