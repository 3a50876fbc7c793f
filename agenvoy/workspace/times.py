"""Times as people and programs write them, and as answers show them: local, with the offset."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from agenvoy.errors import AgenvoyError

_FORM = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?", re.I
)


def parse(text: str, *, end: bool = False) -> int:
    """Epoch nanoseconds of a local time (`2026-08-13`, `… 15:04`, `…:05`) or an RFC 3339 time.

    Args:
        end: give the last nanosecond of the day, minute or second that is named instead of its first.

    Raises:
        AgenvoyError: invalid_arguments.
    """
    match = _FORM.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        if zone:
            offset = "+00:00" if zone in "zZ" else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
            moment = datetime.fromisoformat(moment.isoformat() + offset)
        start = int(moment.timestamp()) * 1_000_000_000
        unit = timedelta(days=1) if hour is None else timedelta(minutes=1) if second is None else timedelta(seconds=1)
        if hour is None:
            width = int((moment + unit).timestamp()) * 1_000_000_000 - start  # a day may have 23 or 25 hours
        else:
            width = int(unit.total_seconds()) * 1_000_000_000
    except (ValueError, OverflowError, OSError):
        raise AgenvoyError(
            "invalid_arguments",
            f"{text!r} is no time",
            "write 2026-08-13, 2026-08-13 15:04, 2026-08-13 15:04:05 (local) or an RFC 3339 time",
        ) from None
    if fraction:
        return start + int(fraction.ljust(9, "0"))
    return start + width - 1 if end else start


def show(at: int) -> str:
    """ISO 8601 in local time with the offset, to the millisecond."""
    return datetime.fromtimestamp(at / 1e9).astimezone().isoformat(timespec="milliseconds")
