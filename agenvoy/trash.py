"""Where removed files lie, and for how long: in `<store>/temp/<version>/<name>`, until the trash is emptied.

The history has every removed state besides; emptying the trash frees the plain copies and takes no version away.
"""

from __future__ import annotations

import os

from agenvoy.catalog import Catalog, trashed


def entries(catalog: Catalog, roots: tuple[str, ...]) -> list[trashed.Trashed]:
    """Removed files below these roots, newest first; an entry whose file is gone is not listed."""
    with catalog.read() as c:
        found = trashed.rows(c, roots)
    return [entry for entry in found if os.path.lexists(entry.place)]


def size(catalog: Catalog) -> int:
    """Bytes in the trash of the whole store."""
    total = 0
    for folder, _, files in os.walk(os.path.join(catalog.store, "temp")):
        total += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)
    return total
