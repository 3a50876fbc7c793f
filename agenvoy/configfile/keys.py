"""Every key of config.toml, as data: validation, `agenvoy config show` and the README's table come from here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["whole", "number", "flag", "text", "texts", "folder", "folders", "keep"]
Value = int | float | bool | str | tuple[str, ...]

KEEP = ("recorded", "encrypted", "not recorded")
"""What happens to the contents of sensitive files that a tool changes, from lax to strict."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Args:
        name: as it is written, `table.key`.
        field: the member of `Settings` that it sets; empty: looked at while loading only.
        kind: what it takes.
        help: one sentence.
        tighten: what an untrusted workspace file makes of (the value so far, its own): the stricter one; None: such a
            file may not set it at all.
        least, most: bounds of a number; None: none.
        env: the environment variable of the same setting.
    """

    name: str
    field: str
    kind: Kind
    help: str
    tighten: Callable[[Any, Any], Any] | None = None
    least: float | None = None
    most: float | None = None
    env: str = ""

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        least = f" from {self.least:,}" if self.least is not None else ""
        most = f" to {self.most:,}" if self.most is not None else ""
        return _KINDS[self.kind][0] + least + most

    def problem(self, value: object) -> str:
        """Why a value cannot be taken, in a few words; empty where it can."""
        _, fits = _KINDS[self.kind]
        if not fits(value):
            return f"must be {self.takes}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            if self.least is not None and value < self.least:
                return f"must be at least {self.least:,}"
            if self.most is not None and value > self.most:
                return f"must be at most {self.most:,}"
        return ""


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


_KINDS: dict[Kind, tuple[str, Callable[[object], bool]]] = {
    "whole": ("a whole number", _whole),
    "number": ("a number", lambda v: _whole(v) or (isinstance(v, float) and math.isfinite(v))),
    "flag": ("true or false", lambda v: isinstance(v, bool)),
    "text": ("a text", lambda v: isinstance(v, str)),
    "texts": ("a list of texts", _texts),
    "folder": ("a folder", lambda v: isinstance(v, str) and "\0" not in v),
    "folders": ("a list of folders", lambda v: _texts(v) and "\0" not in "".join(v)),  # type: ignore[arg-type]
    "keep": ('"recorded", "encrypted" or "not recorded"', lambda v: isinstance(v, str) and v in KEEP),
}


def _either(former: bool, own: bool) -> bool:
    return former or own


def _both(former: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*former, *own)))


def _stricter(former: str, own: str) -> str:
    return max(former, own, key=KEEP.index)


_MIB = 1024 * 1024

KEYS: tuple[Key, ...] = (
    Key("allow", "allow", "folders", "Further folders that tools may touch.", env="AGENVOY_ALLOW"),
    Key("output_dir", "output_dir", "folder", "Where files made for the user go when no place was named.",
        env="AGENVOY_OUTPUT_DIR"),
    Key("subagent", "subagent", "flag", "Everybody works as a sub-agent: nothing is removed or put back.", _either,
        env="AGENVOY_SUBAGENT"),
    Key("busy_s", "busy_s", "number", "Seconds to wait for another process before `store_busy`.", None, 0, 3600,
        "AGENVOY_BUSY_S"),
    Key("idle_task_s", "idle_task_s", "whole", "Seconds after which an unused task has ended.", None, 60),
    Key("limits.read_rows", "read_rows", "whole", "Most rows of one file and read call.", min, 1, 2048),
    Key("limits.read_bytes", "read_bytes", "whole", "Most bytes of text of one file and read call.", min, 1, _MIB),
    Key("limits.patch_bytes", "patch_bytes", "whole", "Largest file that can be patched.", min, 1, _MIB),
    Key("limits.list_bytes", "list_bytes", "whole", "Cap of list and glob output.", min, 1024, 128 * 1024),
    Key("limits.history_page", "history_page", "whole", "Most rows of a history page.", min, 1, 24),
    Key("limits.track_bytes", "track_bytes", "whole", "Largest file whose content `run` keeps unasked.", min, 0),
    Key("sensitive.patterns", "sensitive", "texts", "File names that are sensitive besides the built-in ones.", _both),
    Key("sensitive.keep", "keep_sensitive", "keep", "How contents of sensitive files are recorded.", _stricter),
    Key("retention.keep_days", "keep_days", "whole", "`gc` drops contents older than this; 0 keeps all.", None, 0),
    Key("retention.max_bytes", "keep_bytes", "whole", "`gc` keeps the store below this; 0 is no limit.", None, 0),
    Key("search.index", "search_index", "flag", "Whether searches use the index that `agenvoy index` builds."),
    Key("search.watch", "search_watch", "flag", "Whether a server watches folders instead of looking at each file."),
    Key("decision.model", "decision_model", "text", "Model that judges whether a text is of use.",
        env="AGENVOY_DECISION_MODEL"),
    Key("decision.url", "decision_url", "text", "Base address of its OpenAI-compatible interface.",
        env="AGENVOY_DECISION_URL"),
    Key("decision.key_env", "", "text", "Name of the environment variable that holds its key.",
        env="AGENVOY_DECISION_KEY"),
    Key("audio.model", "audio_model", "text", "Speech model, by name or folder.", env="AGENVOY_AUDIO_MODEL"),
    Key("audio.device", "audio_device", "text", "Device for it, such as cpu or cuda.", env="AGENVOY_AUDIO_DEVICE"),
    Key("audio.compute_type", "audio_compute_type", "text", "Its arithmetic, such as int8.",
        env="AGENVOY_AUDIO_COMPUTE_TYPE"),
)  # fmt: skip
BY_NAME = {key.name: key for key in KEYS}
TABLES = frozenset(key.name.partition(".")[0] for key in KEYS if "." in key.name)
