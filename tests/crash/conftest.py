"""A place for tests that set the same stage hundreds of times: what a death leaves does not depend on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one, else on disk."""
    if not os.path.isdir("/dev/shm"):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="agenvoy-crash-", dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)
