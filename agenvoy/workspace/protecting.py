"""The secrets policies: contents of sensitive files are kept encrypted, or do not stay in the store at all.

While a change is carried out its bytes have to be durable, or a crash could lose the user's file. Right after it is
done they are sealed; or taken away again, as `purge` does it: the rows stay and say so. Either way the plain bytes are
overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy.history.changes import Spec
from agenvoy.history.gc import purge
from agenvoy.history.sealing import seal
from agenvoy.workspace.session import Session


def keeps(session: Session, *paths: str) -> bool:
    """Whether contents of a file with these names may stay in the store, encrypted or not."""
    return session.settings.keep_sensitive != "not recorded" or not session.settings.is_sensitive(*paths)


def protect(session: Session, paths: Sequence[str], tool: str, label: str) -> list[str]:
    """Seal or take away what was recorded of those paths that are sensitive; gives those whose contents went.

    Raises:
        AgenvoyError: store_busy, disk_full.
    """
    settings = session.settings
    if settings.keep_sensitive == "recorded":
        return []
    found = [path for path in paths if settings.is_sensitive(path)]
    if not found:
        return []
    if settings.keep_sensitive == "encrypted":
        seal(session.log, found)
        return []
    purge(session.log, Spec(settings.root, settings.actor, tool, "purge", label), found)
    return found
