"""One config.toml: from its bytes to values by key, or an error that names the file, the line and the key."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import Any

from agenvoy.configfile.keys import BY_NAME, KEYS, TABLES, Value
from agenvoy.errors import AgenvoyError, from_os_error

_HEADER = re.compile(r"\s*\[\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9_\-\"']+(?:\s*\.\s*[A-Za-z0-9_\-\"']+)*)\s*=")
_MOST = 1024 * 1024  # bytes; a configuration of more than that is a mistake, or an attack on whoever opens the folder


def read(path: str) -> bytes | None:
    """The file's bytes; None where there is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a FIFO would keep every command waiting
            raise _bad(path, 1, "it is no regular file")
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        if isinstance(error, NotADirectoryError):
            return None
        raise from_os_error(error, path) from error
    if len(data) > _MOST:
        raise _bad(path, 1, "the file is larger than 1 MiB")
    return data


def values(path: str, data: bytes) -> dict[str, Value]:
    """The values of a file by key.

    Args:
        path: for messages.
        data: its bytes.

    Raises:
        AgenvoyError: invalid_arguments for what is no TOML, an unknown key, or a value of the wrong kind.
    """
    import tomllib

    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise _bad(path, data.count(b"\n", 0, error.start) + 1, "the file is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _bad(path, _told_line(error), f"the file is not TOML: {str(error).partition(' (at ')[0]}") from None
    except RecursionError:
        raise _bad(path, 1, "the file is nested too deeply") from None
    found = _flat(document)
    for name, value in found.items():
        key = BY_NAME.get(name)
        problem = _unknown(name) if key is None else key.problem(value)
        if problem:
            raise _explained(path, text, document, name, problem)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in document.items():
        if name in TABLES and isinstance(value, dict):
            found |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            found[name] = value
    return found


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:64], [key.name for key in KEYS], n=1, cutoff=0.5)
    return "is no key of agenvoy" + (f"; did you mean {near[0]}?" if near else "")


def _explained(path: str, text: str, document: Mapping[str, Any], name: str, problem: str) -> AgenvoyError:
    """The error for the first thing that is wrong; every finding of the whole file is in `findings`."""
    every = _all_problems(document, name, problem)
    findings = [{"key": key, "line": line_of(text, key), "problem": said} for key, said in every]
    line = line_of(text, name)
    error = _bad(path, line, f"{name} {problem}")
    error.details = {"file": path, "line": line, "key": name, "findings": findings}
    return error


def _all_problems(document: Mapping[str, Any], name: str, problem: str) -> list[tuple[str, str]]:
    """What pydantic finds in the whole file. (It is only loaded for this: a right file is checked without it.)"""
    from agenvoy.configfile.schema import problems

    return problems(document) or [(name, problem)]


def line_of(text: str, name: str) -> int:
    """The line that a key stands in; where it cannot be told, that of its table, else 1."""
    table, fallback = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = _plain(header[1])
            if name.startswith(table):
                fallback = number
            continue
        assigned = _ASSIGNMENT.match(line)
        if assigned:
            full = ".".join(part for part in (table, _plain(assigned[1])) if part)
            if full == name:
                return number
            if name.startswith(full + "."):  # an inline table
                fallback = number
    return fallback


def _plain(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def _told_line(error: Exception) -> int:
    told = re.search(r"\(at line (\d+)", str(error))
    return int(told[1]) if told else 1


def _bad(path: str, line: int, problem: str) -> AgenvoyError:
    return AgenvoyError(
        "invalid_arguments", f"{path}, line {line}: {problem}", "correct the file; `agenvoy config show` lists the keys"
    )

