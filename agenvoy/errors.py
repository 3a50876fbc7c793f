"""Every way in which agenvoy refuses or fails, on one page.

    AgenvoyError(code, message, hint)      what callers catch; `code` is one of CODES

One class and a closed set of codes, because callers on the other side of a process border see codes and
not classes. `exit_status` maps a code to the command line's exit status (contract, section 2).
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

CODES = frozenset((
    "invalid_arguments", "unknown_tool", "not_available", "outside_workspace", "not_found", "is_directory",
    "not_a_file", "permission_denied", "symlink_loop", "not_read", "stale_read", "anchor_not_found",
    "anchor_ambiguous", "targets_conflict", "no_change", "would_empty", "already_exists", "placeholder_content",
    "encoding_mismatch", "binary_file", "too_large", "invalid_pattern", "confirmation_required", "declined",
    "no_such_version", "not_restorable", "no_such_task", "no_task", "conflict", "encrypted_document",
    "corrupt_document", "no_text", "no_audio", "unsupported_type", "model_missing", "no_handler", "timeout",
    "cancelled", "store_busy", "store_unavailable", "store_corrupt", "disk_full", "internal",
))  # fmt: skip

LONGEST = 4000  # characters of a message: it may repeat what was asked, and that may be of any length
_EXIT = {"invalid_arguments": 2, "confirmation_required": 3, "conflict": 4, "cancelled": 130}


class AgenvoyError(Exception):
    """A refused or failed call.

    Args:
        code: one of `CODES`.
        message: what happened, to which path, in one sentence.
        hint: the next useful call, in one sentence; may be empty only where there is none.
        details: further members of the error document (`changes`, `files`, `diff` …), JSON-ready.
    """

    def __init__(self, code: str, message: str, hint: str = "", **details: Any) -> None:
        if code not in CODES:
            raise ValueError(f"not an error code of the contract: {code}")
        super().__init__(message)
        self.code = code
        self.message = message if len(message) <= LONGEST else message[:LONGEST] + " …"
        self.hint = hint
        self.details: Mapping[str, Any] = details

    def document(self) -> dict[str, Any]:
        """The `error` member of a call's answer."""
        return {"code": self.code, "message": self.message, "hint": self.hint, **self.details}

    @property
    def exit_status(self) -> int:
        """The command line's exit status for this error."""
        return _EXIT.get(self.code, 1)


_ERRNO = {
    errno.ENOENT: ("not_found", "does not exist", "list the folder with find_files"),
    errno.ENOTDIR: ("not_found", "has a file where a folder should be", "list the folder with find_files"),
    errno.EISDIR: ("is_directory", "is a folder", "name a file in it"),
    errno.EACCES: ("permission_denied", "cannot be accessed: permission denied", "check the permission bits"),
    errno.EPERM: ("permission_denied", "cannot be accessed: operation not permitted", "check its owner and flags"),
    errno.EROFS: ("permission_denied", "lies on a read-only file system", "work on a writable copy"),
    errno.EBUSY: ("permission_denied", "is in use by the system: something is mounted there", "unmount it first"),
    errno.ETXTBSY: ("permission_denied", "is a running program", "stop the program first"),
    errno.ELOOP: ("symlink_loop", "is a loop of symbolic links", "name the file itself"),
    errno.ENAMETOOLONG: ("invalid_arguments", "has a name that is too long", "use at most 255 bytes a name"),
    errno.ENOSPC: ("disk_full", "cannot be written: the disk is full", "free some space, then call again"),
    errno.EDQUOT: ("disk_full", "cannot be written: the quota is used up", "free some space, then call again"),
    errno.EFBIG: ("disk_full", "cannot be written: the file size limit is reached", "raise the limit, then call again"),
    errno.EEXIST: ("already_exists", "exists already", "choose another name"),
    errno.ENXIO: ("not_a_file", "is not a regular file", "name a regular file"),
}


def from_os_error(error: OSError, path: str) -> AgenvoyError:
    """The contract's error for what the system answered about `path` (as callers spell it)."""
    code, says, hint = _ERRNO.get(
        error.errno or 0, ("store_unavailable", f"cannot be used: {error.strerror or error}", "run `agenvoy doctor`")
    )
    return AgenvoyError(code, f"{path} {says}", hint)
