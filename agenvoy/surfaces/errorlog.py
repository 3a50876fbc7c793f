"""Where the details of internal errors go: `<home>/errors.log`, so that no traceback meets a caller."""

from __future__ import annotations

import os

_MOST = 1024 * 1024  # bytes; then the log is begun anew, the former one kept beside it


def record(home: str, error: BaseException) -> str:
    """Append an error's traceback to the log.

    Args:
        home: agenvoy's home folder; it is made (0700) where missing.
        error: what was caught.

    Returns:
        the log's path; empty where it could not be written.
    """
    import time
    import traceback

    path = os.path.join(home, "errors.log")
    lines = [time.strftime("%Y-%m-%dT%H:%M:%S%z"), *traceback.format_exception(error)]
    data = "\n".join(lines).encode("utf-8", "backslashreplace")
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > _MOST:
            os.replace(path, path + ".1")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "ab") as log:
            log.write(data + b"\n")
    except OSError:
        return ""  # the answer says so: an unwritable log must not hide the error itself
    return path
