"""A workspace, and the ways of connecting to a server of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_driver import WAYS, Driver


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace; the home lies beside it."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture(params=WAYS)
def drive(request: pytest.FixtureRequest, root: Path) -> Driver:
    """Every way of connecting."""
    return Driver(root, request.param)


@pytest.fixture
def stdio(root: Path) -> Driver:
    """The commonest way."""
    return Driver(root, "stdio-legacy")
