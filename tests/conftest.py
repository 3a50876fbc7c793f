"""Fixtures that all rooms share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("world", "crashing")

from world import World  # noqa: E402  after the line that lets its assertions explain themselves

from agenvoy.workspace.service import Service  # noqa: E402


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
