"""Fixtures that all rooms share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from world import World

from agenvoy.workspace.service import Service


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty workspace, with a home beside it."""
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def service(world: World) -> Service:
    """A service on `world`, with every confirmation but sensitive reads given."""
    return world.service()
