"""The renames that Python does not offer: exchange two names, and rename without replacing.

Linux: renameat2 (kernel 3.15, glibc 2.28). macOS: renameatx_np. Where neither is there, or the file system refuses,
callers fall back to a check and a plain rename, which leaves a window of microseconds.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable

_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2  # linux/fs.h
_MAC_SWAP, _MAC_EXCL = 2, 4  # sys/stdio.h
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


class Unsupported(Exception):
    """The system or file system cannot do it."""


@functools.cache
def _function() -> tuple[Callable[..., int], int, int] | None:
    libc = ctypes.CDLL(None, use_errno=True)
    name, keep, swap = ("renameatx_np", _MAC_EXCL, _MAC_SWAP) if sys.platform == "darwin" else (
        "renameat2", _LINUX_NOREPLACE, _LINUX_EXCHANGE)  # fmt: skip
    try:
        function = getattr(libc, name)
    except AttributeError:
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    return function, keep, swap


def _call(source: str, target: str, source_fd: int, target_fd: int, which: int) -> None:
    found = _function()
    if found is None:
        raise Unsupported
    function, *flags = found
    if function(source_fd, os.fsencode(source), target_fd, os.fsencode(target), flags[which]) != 0:
        code = ctypes.get_errno()
        if code in _UNSUPPORTED:
            raise Unsupported
        raise OSError(code, os.strerror(code), target)


def rename_new(source: str, target: str, source_fd: int, target_fd: int) -> None:
    """Rename, but never over something; raises FileExistsError."""
    try:
        _call(source, target, source_fd, target_fd, 0)
    except Unsupported:
        if os.access(target, os.F_OK, dir_fd=target_fd, follow_symlinks=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
        os.rename(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)


def exchange(one: str, other: str, fd: int) -> None:
    """Exchange two names in one folder; raises Unsupported."""
    _call(one, other, fd, fd, 1)
