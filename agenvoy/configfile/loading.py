"""Where each setting comes from: defaults < user's file < workspace's file < environment < flags."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agenvoy import config
from agenvoy.config import SENSITIVE, Settings
from agenvoy.configfile.keys import BY_NAME, KEYS, Key, Value
from agenvoy.errors import AgenvoyError

_FLAGS = ("allow", "subagent")  # settings that global options set too


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and how they came about.

    Args:
        settings: what holds.
        sources: key -> where its value comes from: `default`, a file's path, an environment variable, `flag`.
        ignored: keys of the workspace's file that only a trusted file may set, or that would loosen something.
        user_file, workspace_file: where the files are looked for.
        trusted: whether the workspace's file is trusted as it is now; None: there is none.
    """

    settings: Settings
    user_file: str
    workspace_file: str
    sources: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    trusted: bool | None = None


def load(env: Mapping[str, str], cwd: str, **flags: Any) -> Loaded:
    """The settings from everything that may set them.

    Args:
        env, cwd, flags: as `config.load` takes them.

    Raises:
        AgenvoyError: invalid_arguments for a variable that is wrong, and for a file that is, with `file`, `line` and
            `key` in the details.
    """
    try:
        plain = config.load(env, cwd, **flags)
    except ValueError as error:
        raise AgenvoyError("invalid_arguments", str(error), "mend the environment, or unset that variable") from None
    user = os.path.join(plain.home, "config.toml")
    workspace = os.path.join(plain.root, ".agenvoy", "config.toml")
    if not os.path.exists(user) and not os.path.exists(workspace):
        return Loaded(plain, user, workspace)
    from agenvoy.configfile.reading import read, values
    from agenvoy.configfile.trust import is_trusted

    merged = _Merged()
    own = read(user)
    if own is not None:
        merged.take(user, values(user, own))
    theirs = read(workspace)
    trusted = None if theirs is None else is_trusted(plain.home, workspace, theirs)
    if theirs is not None:
        merged.take(workspace, values(workspace, theirs), trusted=bool(trusted))
    return merged.over(plain, env, flags, user, workspace, trusted)


class _Merged:
    """Values of files, the later one stronger."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[Value, str]] = {}
        self.ignored: list[str] = []

    def take(self, path: str, found: Mapping[str, Value], *, trusted: bool = True) -> None:
        """Add a file's values; of one that is not trusted only what tightens."""
        for name, value in found.items():
            key = BY_NAME[name]
            if trusted:
                self.values[name] = (self._added(name, value), path)
            elif key.tighten is None:
                self.ignored.append(name)
            else:
                former = self.values[name][0] if name in self.values else _default(key)
                tight = key.tighten(former, value)
                if tight == former and tight != value:
                    self.ignored.append(name)
                else:
                    self.values[name] = (tight, path)

    def _added(self, name: str, value: Value) -> Value:
        """Lists add up over files; other values replace."""
        former = self.values.get(name, (value, ""))[0]
        if isinstance(former, tuple) and isinstance(value, tuple):
            return tuple(dict.fromkeys((*former, *value)))
        return value

    def over(
        self, plain: Settings, env: Mapping[str, str], flags: Mapping[str, Any], user: str, workspace: str,
        trusted: bool | None,
    ) -> Loaded:  # fmt: skip
        """These values under those of environment and flags."""
        changes: dict[str, Any] = {}
        sources: dict[str, str] = {}
        for key in KEYS:
            if key.name not in self.values:
                continue
            value, path = self.values[key.name]
            stronger = _stronger(key, env, flags)
            if key.name == "decision.key_env":
                if not stronger:
                    changes["decision_key"] = env.get(str(value), "")
                    sources[key.name] = path
            elif key.name == "allow" and isinstance(value, tuple):
                changes["allow"] = tuple(dict.fromkeys((*(_folder(p, plain) for p in value), *plain.allow)))
                sources[key.name] = path
            elif key.name == "subagent":
                changes["subagent"] = plain.subagent or value
                sources[key.name] = path
            elif key.name == "sensitive.patterns" and isinstance(value, tuple):
                changes["sensitive"] = tuple(dict.fromkeys((*SENSITIVE, *value)))
                sources[key.name] = path
            elif not stronger:
                changes[key.field] = _folder(str(value), plain) if key.kind == "folder" else value
                sources[key.name] = path
        settings = replace(plain, **changes)
        return Loaded(settings, user, workspace, sources, tuple(self.ignored), trusted)


def _default(key: Key) -> Any:
    """The value that holds without any file."""
    if key.name == "sensitive.patterns":
        return ()
    return getattr(Settings("", ""), key.field)


def _stronger(key: Key, env: Mapping[str, str], flags: Mapping[str, Any]) -> bool:
    """Whether the environment or a flag sets it."""
    return bool(key.env and env.get(key.env)) or (key.field in _FLAGS and bool(flags.get(key.field)))


def _folder(path: str, plain: Settings) -> str:
    """A folder as files name it: `~` is the user's home, what is relative is so to the workspace."""
    if path == "~" or path.startswith("~/"):
        path = plain.user_home + path[1:]
    return os.path.realpath(os.path.join(plain.root, path))


def source_of(key: Key, loaded: Loaded, env: Mapping[str, str], flags: Mapping[str, Any]) -> str:
    """Where a key's value comes from, in words."""
    found = [loaded.sources[key.name]] if key.name in loaded.sources else []
    if key.env and env.get(key.env):
        found.append(key.env)
    if key.field in _FLAGS and flags.get(key.field):
        found.append(f"--{key.field}")
    return ", ".join(found) or "default"
