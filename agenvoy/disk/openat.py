"""Opening a folder without following any link on the way, in one call where the kernel can.

Linux 5.6 has `openat2` with RESOLVE_NO_SYMLINKS (linux/openat2.h); elsewhere, and where a sandbox forbids the call, the
folder is opened component by component with `O_NOFOLLOW`, which means the same and takes a call for each component.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable

_OPENAT2 = 437  # the same number on every architecture but alpha (include/uapi/asm-generic/unistd.h)
_NO_SYMLINKS = 0x04
_NOT_THERE = {errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EAGAIN}  # then step by step

# O_PATH needs no right to read a folder on the way, only to pass through it (Linux; elsewhere reading is needed)
FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@functools.cache
def _openat2() -> Callable[[int, bytes], int] | None:
    if sys.platform != "linux" or os.uname().machine == "alpha":
        return None
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    syscall.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_How), ctypes.c_size_t]
    how = _How(FOLDER_FLAGS, 0, _NO_SYMLINKS)
    reference, size = ctypes.pointer(how), ctypes.sizeof(how)

    def call(fd: int, path: bytes) -> int:
        return int(syscall(_OPENAT2, fd, path, reference, size))

    return call


def open_below(fd: int, path: str) -> int:
    """A descriptor of a folder, for `*at` calls only.

    Args:
        fd: the folder that `path` is relative to.
        path: without `..`; a leading `/` starts at the root of the file system.

    Raises:
        OSError: ELOOP or ENOTDIR where a component is a link or a file; ENOENT; EACCES.
    """
    call = _openat2()
    if call is not None:
        found = call(fd, os.fsencode(path))
        if found >= 0:
            return found
        code = ctypes.get_errno()
        if code not in _NOT_THERE:
            raise OSError(code, os.strerror(code), path)
    return _step_by_step(fd, path)


def _step_by_step(fd: int, path: str) -> int:
    here = os.open("/" if path.startswith("/") else ".", FOLDER_FLAGS, dir_fd=fd)
    try:
        for part in path.split("/"):
            if part not in ("", "."):
                below = os.open(part, FOLDER_FLAGS, dir_fd=here)
                os.close(here)
                here = below
    except BaseException:
        os.close(here)
        raise
    return here
