"""Settings as plain data, and the rules on names that follow from them.

The core reads no environment: `load` is handed one. Strength rises: defaults < environment < flags.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SENSITIVE = (
    "authorized_keys", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_*_sk", "*.pem", "*.key", "*.p12", "*.pfx",
    ".netrc", "_netrc", ".git-credentials", ".npmrc", ".pypirc", ".env", ".env.*", ".envrc", "*_rsa", "*_dsa",
    "*_ecdsa", "*_ed25519",
)  # fmt: skip
HARMLESS = ("*.example", "*.sample", "*.template", "*.pub")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the core is told about where and for whom it works.

    Args:
        root: real path of the workspace folder.
        allow: real paths of further folders that tools may touch.
        within: real paths that what is allowed is narrowed to (an MCP client's roots); None: not narrowed.
        home: agenvoy's home; the store is `<home>/.store`.
        user_home: what `~` means.
        search_index: whether searches use the workspace's index where there is one.
        search_watch: whether the kernel's word is taken for what has changed since it was built.
        config_home: `$XDG_CONFIG_HOME`, where git's settings may lie; empty: `~/.config`.
        actor: who is calling.
        task: id (or unique prefix) of the task that calls belong to; None: the running one of workspace and actor.
        assume_yes: confirmations are answered beforehand, but for sensitive reads.
        allow_sensitive: those too.
        subagent: whatever removes or puts back is refused.
        busy_s: how long to wait for a lock before `store_busy`, in seconds.
        idle_task_s: a task that was not used so long has ended (contract: 12 hours).
        inline_blob: contents up to this many bytes live in history.db (see tests/benchmarks).
        read_rows, read_bytes: most rows and bytes of text of one file and call (contract: 2,048 and 1 MiB).
        patch_bytes: largest file that can be patched (contract: 1 MiB).
        track_bytes: largest file, in bytes, whose content a baseline or scan keeps; larger ones are told as left out.
        list_bytes: cap of list and glob output (contract: 128 KiB).
        history_page: most rows of a history page (contract: 24).
        output_dir: where files made for the user go when no place was named; empty: not configured.
        sensitive: name patterns of sensitive files, matched without case.
        keep_sensitive: `recorded`; `encrypted`: contents of sensitive files are encrypted in the store; or
            `not recorded`: they do not stay in it, so that a change of one cannot be undone.
        keep_days, keep_bytes: what `gc` keeps where it is not told (0: no limit).
        audio_model: speech model, by name or folder; empty: `base`, or what an installed package ships.
        audio_device, audio_compute_type: as faster-whisper takes them (`cuda`, `int8` …); empty: its own choice.
        decision_model: model that judges whether a text is of use; empty: no text is judged.
        decision_url: base address of its OpenAI-compatible interface (`http://localhost:11434/v1`).
        decision_key: its key; empty where it needs none.
    """

    root: str
    home: str
    user_home: str = ""
    allow: tuple[str, ...] = ()
    actor: str = "cli"
    task: str | None = None
    assume_yes: bool = False
    allow_sensitive: bool = False
    subagent: bool = False
    busy_s: float = 20.0
    idle_task_s: int = 12 * 3600
    inline_blob: int = 128 * 1024
    read_rows: int = 2048
    read_bytes: int = 1024 * 1024
    patch_bytes: int = 1024 * 1024
    list_bytes: int = 128 * 1024
    track_bytes: int = 256 * 1024 * 1024
    history_page: int = 24
    output_dir: str = ""
    sensitive: tuple[str, ...] = SENSITIVE
    within: tuple[str, ...] | None = None
    keep_sensitive: str = "recorded"
    keep_days: int = 0
    keep_bytes: int = 0
    audio_model: str = ""
    audio_device: str = ""
    audio_compute_type: str = ""
    decision_model: str = ""
    decision_url: str = ""
    decision_key: str = field(default="", repr=False)
    search_index: bool = True
    search_watch: bool = False
    config_home: str = ""

    @property
    def store(self) -> str:
        """The store's folder."""
        return os.path.join(self.home, ".store")

    @property
    def key_file(self) -> str:
        """The key of contents that are kept encrypted, beside config.toml."""
        return os.path.join(self.home, "sensitive.key")

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that may be touched, as real paths: the root and the allowed ones, narrowed where asked for."""
        return (self.root, *self.allow) if self.within is None else self.within

    def is_sensitive(self, *paths: str) -> bool:
        """Whether any of these spellings names a sensitive file (judged by the last component, ignoring case)."""
        for path in paths:
            name = os.path.basename(path.rstrip("/")).casefold()
            if _any_of(tuple(self.sensitive)).match(name) and not _any_of(HARMLESS).match(name):
                return True
        return False


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all of these patterns of file names."""
    return re.compile("|".join(fnmatch.translate(p.casefold()) for p in patterns) or r"(?!)")


def find_root(cwd: str) -> str:
    """The nearest folder from `cwd` upwards that holds `.git` or `.agenvoy`, else `cwd`."""
    here = os.path.realpath(cwd)
    folder = here
    while True:
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in (".git", ".agenvoy")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent


def _on(text: str | None) -> bool:
    return (text or "").strip().lower() not in ("", "0", "false", "no", "off")


def _seconds(text: str) -> float:
    """`AGENVOY_BUSY_S` as a number of seconds, 20 where it is not set."""
    if not text.strip():
        return 20.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise ValueError(f"AGENVOY_BUSY_S is {text!r}, not seconds from 0 to 3600")
    return seconds


def load(
    env: Mapping[str, str],
    cwd: str,
    *,
    root: str | None = None,
    home: str | None = None,
    allow: Sequence[str] = (),
    actor: str | None = None,
    task: str | None = None,
    yes: bool = False,
    allow_sensitive: bool = False,
    subagent: bool = False,
) -> Settings:
    """Settings from flags (the keyword arguments) and `AGENVOY_*` of `env`; flags win.

    Args:
        env: an environment; `AGENVOY_ROOT`, `_HOME`, `_ALLOW` (separated as PATH is), `_ACTOR`, `_TASK`,
            `_SUBAGENT`, `_BUSY_S`, `_OUTPUT_DIR`, `_AUDIO_MODEL`, `_AUDIO_DEVICE`, `_AUDIO_COMPUTE_TYPE`,
            `_DECISION_MODEL`, `_DECISION_URL`, `_DECISION_KEY`, `HOME` and `XDG_CONFIG_HOME` are looked at.
        cwd: the working directory, from which the workspace is found where none is named.

    Raises:
        ValueError: for a number that is none.
    """
    user_home = env.get("HOME", "") or os.path.expanduser("~")
    named = root or env.get("AGENVOY_ROOT")
    top = os.path.realpath(os.path.join(cwd, named)) if named else find_root(cwd)
    folder = home or env.get("AGENVOY_HOME") or os.path.join(user_home, ".config", "agenvoy")
    allowed = [*(p for p in env.get("AGENVOY_ALLOW", "").split(os.pathsep) if p), *allow]
    return Settings(
        root=top,
        home=os.path.realpath(os.path.join(cwd, folder)),
        user_home=user_home,
        allow=tuple(os.path.realpath(os.path.join(cwd, p)) for p in allowed),
        actor=actor or env.get("AGENVOY_ACTOR") or "cli",
        task=task or env.get("AGENVOY_TASK") or None,
        assume_yes=yes,
        allow_sensitive=allow_sensitive,
        subagent=subagent or _on(env.get("AGENVOY_SUBAGENT")),
        busy_s=_seconds(env.get("AGENVOY_BUSY_S", "")),
        output_dir=env.get("AGENVOY_OUTPUT_DIR", ""),
        audio_model=env.get("AGENVOY_AUDIO_MODEL", ""),
        audio_device=env.get("AGENVOY_AUDIO_DEVICE", ""),
        audio_compute_type=env.get("AGENVOY_AUDIO_COMPUTE_TYPE", ""),
        decision_model=env.get("AGENVOY_DECISION_MODEL", ""),
        decision_url=env.get("AGENVOY_DECISION_URL", ""),
        decision_key=env.get("AGENVOY_DECISION_KEY", ""),
        config_home=env.get("XDG_CONFIG_HOME", ""),
    )
