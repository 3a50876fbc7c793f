"""A home and a workspace."""

from __future__ import annotations

from pathlib import Path

import pytest
from config_place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir()
    (root / ".git").mkdir(parents=True)
    return Place(home, root)
