"""Files that nobody may change, root included: what `chattr +i` and `+a` have marked (Linux)."""

from __future__ import annotations

import fcntl
import os
import struct
import sys

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS, FS_APPEND_FL, FS_IMMUTABLE_FL (linux/fs.h)
_FIXED = 0x20 | 0x10
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_fixed(path: str) -> bool:
    """Whether a regular file or folder is marked immutable or append-only, as far as the system tells."""
    if sys.platform != "linux":
        return False
    try:
        fd = os.open(path, _OPEN)
    except OSError:  # absent, a link, or closed to us
        return False
    try:
        flags: int = struct.unpack("l", fcntl.ioctl(fd, _GET_FLAGS, struct.pack("l", 0)))[0]
    except OSError:  # a file system without such marks
        return False
    finally:
        os.close(fd)
    return bool(flags & _FIXED)
