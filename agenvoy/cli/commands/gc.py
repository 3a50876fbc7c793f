"""gc: let old versions go."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.params import Opt
from agenvoy.cli.run import Run
from agenvoy.errors import AgenvoyError

_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def command(
    run: Run,
    dry_run: Annotated[bool, Opt("--dry-run", help="Say what would go, and take nothing away.")] = False,
    keep_days: Annotated[float | None, Opt("--keep-days", help="Versions older than this go.")] = None,
    max_size: Annotated[str | None, Opt("--max-size", help="Bytes that may stay (K, M, G); oldest go first.")] = None,
) -> int:
    """Take away the bytes of old versions, and what nothing needs; it asks first.

    The newest version of each file stays, and whatever a running task's undo needs.
    """
    try:
        most = None if max_size is None else _bytes(max_size)
    except AgenvoyError as error:
        return run.refuse("gc", error)
    keywords: dict[str, Any] = {"dry_run": dry_run, "keep_days": keep_days, "max_size": most}

    def show(result: Any) -> None:
        from agenvoy.cli.output import put

        verb = "went" if result["applied"] else "would go"
        put(f"{result['versions']} versions' bytes {verb}; {result['blobs']} contents, {result['bytes']} bytes")

    return run.finish("gc", keywords, lambda service: service.gc(**keywords), show=show)


def _bytes(text: str) -> int:
    unit = _UNITS.get(text[-1:].upper(), 1)
    number = text[:-1] if unit > 1 else text
    try:
        return int(float(number) * unit)
    except (ValueError, OverflowError):
        raise AgenvoyError("invalid_arguments", f"{text!r} is no size", "write bytes, or 500M, 2G") from None
