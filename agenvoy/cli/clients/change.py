"""Changing one entry of a client's configuration: planned whole, shown, copied, then written in one step."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agenvoy.cli.clients import jsonc, tomltext
from agenvoy.cli.clients.known import Client
from agenvoy.errors import AgenvoyError, from_os_error

_SUFFIX = ".agenvoy-bak"


@dataclass(frozen=True, slots=True)
class Change:
    """What would be done to a file.

    Args:
        path: the file; a symbolic link is followed.
        before: its text; None: it does not exist.
        after: the text to be; None: it goes, because nothing but what agenvoy wrote is in it.
    """

    path: str
    before: str | None
    after: str | None

    @property
    def is_none(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.after

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, self.path, self.path if self.after is not None else "/dev/null")
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def plan(client: Client, path: str, entry: Mapping[str, Any] | None) -> Change:
    """What has to be done so that the entry is there (None: is not there).

    Raises:
        AgenvoyError: invalid_arguments where the file is broken or cannot be changed safely; it is left as it is.
    """
    real = os.path.realpath(path)
    before = read_text(real)
    if entry is None and before is None:
        return Change(real, None, None)
    form = tomltext if client.form == "toml" else jsonc
    try:
        old = _meaning(client, before)
        first = _first_copy(client, real)
        if entry:
            changed = _put(form, before or "", client, entry)
        else:
            changed = _former(form, real, client, before or "") or _take(form, before or "", client, first)
        wanted = _with(old, client, entry)
        meant = [wanted] if entry else [wanted, _pruned(wanted, client)]
        if _meaning(client, changed) not in meant:
            raise ValueError("the entry cannot be changed without changing something else")
    except ValueError as error:  # both forms' Broken are ValueErrors
        raise AgenvoyError(
            "invalid_arguments", f"{path} cannot be changed: {error}", "correct the file by hand; nothing was written"
        ) from None
    gone = entry is None and first is None and not _meaning(client, changed) and not _has_comments(changed)
    return Change(real, before, None if gone else changed)


def _put(form: Any, text: str, client: Client, entry: Mapping[str, Any]) -> str:
    done: str = form.put(text, client.path, dict(entry))
    return done


def _take(form: Any, text: str, client: Client, first: dict[str, Any] | None) -> str:
    """Without the entry, and without the table around it where agenvoy had made that too and nothing else is in it."""
    done: str = form.remove(text, client.path)
    made = client.table not in (first or {})
    if done != text and made and client.form == "json" and _meaning(client, done).get(client.table) == {}:
        done = form.remove(done, client.path[:1])
    return done


def _former(form: Any, path: str, client: Client, text: str) -> str | None:
    """What the file held before the entry was put into it, byte for byte, where nothing else has happened since."""
    try:
        entry = _meaning(client, text)[client.table][client.path[1]]
        for former in copies(path):
            held = _meaning(client, former).get(client.table) or {}
            if client.path[1] not in held and _put(form, former, client, entry) == text:
                return former
    except (ValueError, KeyError, TypeError):  # such an entry, or such a copy, was not written by us
        return None
    return None


def copies(path: str) -> Iterator[str]:
    """The texts that were kept beside a file, the newest first."""
    number = 1
    while os.path.lexists(f"{path}{_SUFFIX}{number + 1 if number else ''}"):
        number += 1
    for each in range(number, 0, -1):
        text = read_text(f"{path}{_SUFFIX}{each if each > 1 else ''}")
        if text is not None:
            yield text


def _first_copy(client: Client, path: str) -> dict[str, Any] | None:
    """What the file held before agenvoy first changed it; None where it was not there (or its copy is gone)."""
    try:
        text = read_text(path + _SUFFIX)
        return None if text is None else _meaning(client, text)
    except (ValueError, AgenvoyError):
        return None


def _meaning(client: Client, text: str | None) -> dict[str, Any]:
    if text is None or not text.strip("\ufeff \t\r\n"):
        return {}
    found = tomltext.parse(text) if client.form == "toml" else jsonc.parse(text).data
    if not isinstance(found, dict):
        raise ValueError("it does not hold an object")
    return found


def _with(old: dict[str, Any], client: Client, entry: Mapping[str, Any] | None) -> dict[str, Any]:
    table, name = client.path
    if not isinstance(old.get(table, {}), dict | None):
        raise ValueError(f"`{table}` is no table of servers")
    servers = dict(old.get(table) or {})
    servers.pop(name, None)
    if entry is not None:
        servers[name] = dict(entry)
    return {**old, table: servers}


def _pruned(wanted: dict[str, Any], client: Client) -> dict[str, Any]:
    """Without the table of servers where it is empty; the user's own empty tables stay."""
    return {key: value for key, value in wanted.items() if key != client.table or value != {}}


def _has_comments(text: str) -> bool:
    return bool(text.strip("\ufeff{} \t\r\n"))


def read_text(path: str) -> str | None:
    """A file's text; None where there is none. Raises AgenvoyError for what is not UTF-8 or out of reach."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise AgenvoyError("not_a_file", f"{path} is no regular file", "nothing was written")
            return file.read().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise AgenvoyError(
            "invalid_arguments", f"{path} is not UTF-8", "correct the file by hand; nothing was written"
        ) from None
    except OSError as error:
        raise from_os_error(error, path) from error


def carry_out(change: Change) -> str:
    """Write the change; the former text is kept beside the file.

    Returns:
        the path of the copy; empty where there was nothing to keep.
    """
    try:
        copy = _keep(change) if change.before is not None else ""
        if change.after is None:
            os.unlink(change.path)
        else:
            _write(change.path, change.after, change.before is not None)
    except OSError as error:
        raise from_os_error(error, change.path) from error
    return copy


def _keep(change: Change) -> str:
    """A copy under the first free name, so that the oldest one, from before agenvoy, is never overwritten."""
    number = 1
    while os.path.lexists(copy := f"{change.path}{_SUFFIX}{number if number > 1 else ''}"):
        number += 1
    mode = os.stat(change.path).st_mode & 0o777
    _create(copy, change.before or "", mode)
    return copy


def _write(path: str, text: str, exists: bool) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = os.stat(path).st_mode & 0o777 if exists else 0o600
    new = f"{path}.agenvoy-new"
    if os.path.lexists(new):  # left by a run that was killed
        os.unlink(new)
    _create(new, text, mode)
    os.replace(new, path)


def _create(path: str, text: str, mode: int) -> None:
    opener: Callable[[str, int], int] = lambda name, flags: os.open(name, flags | os.O_EXCL | os.O_NOFOLLOW, mode)  # noqa: E731
    with open(path, "w", encoding="utf-8", newline="", opener=opener) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(path, mode)
