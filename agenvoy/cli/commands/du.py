"""du: how much room the store takes."""

from __future__ import annotations

from agenvoy.cli.run import Run


def command(run: Run) -> int:
    """Show how much room the store takes, and for what."""
    return run.finish("du", {}, lambda service: service.du())
