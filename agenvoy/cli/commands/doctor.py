"""doctor: does everything work on this machine?"""

from __future__ import annotations

from agenvoy.cli.run import Run


def command(run: Run) -> int:
    """Check this machine, the store and the settings; exit status 1 where something is wrong."""
    return run.finish("doctor", {}, lambda service: service.doctor(), status=lambda result: 0 if result["ok"] else 1)
