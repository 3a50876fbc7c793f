"""verify: is the store sound?"""

from __future__ import annotations

from agenvoy.cli.run import Run


def command(run: Run) -> int:
    """Check the history and every stored content; exit status 1 where something is damaged."""
    return run.finish("verify", {}, lambda service: service.verify(), status=lambda result: 0 if result["ok"] else 1)
