"""A home, a workspace, and settings loaded from their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenvoy.configfile import Loaded, load


@dataclass
class Place:
    """A home and a workspace with their configuration files."""

    home: Path
    root: Path

    def user(self, text: str) -> None:
        """Write the user's file."""
        (self.home / "config.toml").write_text(text)

    def workspace(self, text: str) -> None:
        """Write the workspace's file."""
        (self.root / ".agenvoy").mkdir(exist_ok=True)
        (self.root / ".agenvoy" / "config.toml").write_text(text)

    def load(self, env: dict[str, str] | None = None, **flags: Any) -> Loaded:
        """What holds."""
        own = {"HOME": str(self.home.parent), "AGENVOY_HOME": str(self.home), **(env or {})}
        return load(own, str(self.root), **flags)
