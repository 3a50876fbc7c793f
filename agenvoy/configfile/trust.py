"""Workspace files that the user has trusted: `<home>/trusted.json`, path -> SHA-256 of the trusted bytes."""

from __future__ import annotations

import hashlib
import json
import os

from agenvoy.errors import AgenvoyError, from_os_error


def digest(data: bytes) -> str:
    """The hash under which bytes are trusted."""
    return hashlib.sha256(data).hexdigest()


def _file(home: str) -> str:
    return os.path.join(home, "trusted.json")


def _all(home: str) -> dict[str, str]:
    path = _file(home)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise from_os_error(error, path) from error
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise AgenvoyError(
            "invalid_arguments", f"{path} is damaged", "remove it, then trust your workspaces again with `config trust`"
        )
    return found


def is_trusted(home: str, path: str, data: bytes) -> bool:
    """Whether exactly these bytes of this file are trusted; a file that was changed since is not."""
    return _all(home).get(path) == digest(data)


def trust(home: str, path: str, data: bytes | None) -> None:
    """Trust these bytes of a file; None: trust the file no more.

    Raises:
        AgenvoyError: permission_denied, disk_full … where the home cannot be written.
    """
    known = _all(home)
    known.pop(path, None)
    if data is not None:
        known[path] = digest(data)
    target = _file(home)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(target + ".new", "w", encoding="utf-8", opener=_private) as file:
            json.dump(known, file, indent=1, sort_keys=True)
        os.replace(target + ".new", target)
    except OSError as error:
        raise from_os_error(error, target) from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
