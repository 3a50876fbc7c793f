"""The words that all rooms share: states of a path, records of the log, what a call gives back.

Paths inside agenvoy are absolute `str` as `os.fsdecode` makes them (names that are not UTF-8 carry surrogates);
how callers spell them is `disk.names`' business. Times are epoch nanoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal["absent", "file", "link", "dir"]
Action = Literal["observed", "create", "modify", "delete", "restore", "external", "move"]
Answer = Literal["yes", "task", "no"]

Clock = Callable[[], int]  # epoch nanoseconds
NewId = Callable[[], str]  # a fresh task id


@dataclass(frozen=True, slots=True)
class State:
    """What is (or was) at a path.

    Args:
        kind: absent, a regular file, a symbolic link or a folder.
        mode: permission bits (0o7777) of a file or folder; 0 otherwise.
        size: bytes of a file; length of a link's target.
        hash: name of the content's blob (hex); empty for absent and folders. A link's blob is its target.
        extra: further facts, JSON text: extended attributes, owner, hard-link identity. Empty when there are none.
    """

    kind: Kind
    mode: int = 0
    size: int = 0
    hash: str = ""
    extra: str = ""

    def attributes(self) -> dict[str, str]:
        """Extended attributes by name, their values in base64."""
        if '"x":' not in self.extra:
            return {}
        found: dict[str, str] = json.loads(self.extra)["x"]
        return found

    def alike(self, other: State) -> bool:
        """Whether both have the same extended attributes."""
        if self.extra == other.extra or '"x":' not in self.extra + other.extra:
            return True
        return self.attributes() == other.attributes()

    def dressed(self, attributes: Mapping[str, str]) -> State:
        """The same state with these extended attributes."""
        facts = json.loads(self.extra) if self.extra else {}
        facts = {**{k: v for k, v in facts.items() if k != "x"}, **({"x": dict(attributes)} if attributes else {})}
        return replace(self, extra=json.dumps(facts, separators=(",", ":"), sort_keys=True) if facts else "")

    def of_inode(self, device: int, number: int) -> State:
        """The same state, known to be that of a file with other names."""
        facts = json.loads(self.extra) if self.extra else {}
        facts["l"] = [device, number]
        return replace(self, extra=json.dumps(facts, separators=(",", ":"), sort_keys=True))

    def same(self, other: State) -> bool:
        """Whether both are the same to a user: of `extra` only the extended attributes of files count."""
        if (self.kind, self.mode) != (other.kind, other.mode) or (self.kind == "file" and not self.alike(other)):
            return False
        if self.kind == "file" and not (self.hash and other.hash):  # a content that was too large to be read
            return self.size == other.size
        return self.hash == other.hash


ABSENT = State("absent")


@dataclass(frozen=True, slots=True)
class Version:
    """One row of the log: the state of one path after an action."""

    id: int
    path: str
    action: Action
    state: State
    operation: int
    task: str | None
    actor: str
    tool: str
    at: int
    moved: str | None = None  # the other path of a move


@dataclass(frozen=True, slots=True)
class TaskRef:
    """A task as answers name it."""

    id: str
    objective: str


@dataclass(frozen=True, slots=True)
class ConfirmRequest:
    """What is asked before something is removed, put back, opened or a secret is read.

    Args:
        tool: the tool that asks.
        label: its one-line label, such as `Remove(notes.txt)`.
        question: a sentence for a person.
        sensitive: a sensitive file is to be read; never covered by `--yes` or "all in this task".
    """

    tool: str
    label: str
    question: str
    sensitive: bool = False


Confirm = Callable[[ConfirmRequest], Answer | None]  # None: nobody can be asked


@dataclass(frozen=True, slots=True)
class Image:
    """An image for a model: MIME type and raw bytes."""

    mime: str
    data: bytes


@dataclass(slots=True)
class Outcome:
    """What a verb gives back: `result` is JSON-ready, `text` is what a model is shown."""

    tool: str
    label: str
    result: dict[str, Any]
    text: str
    task: TaskRef | None = None
    notices: list[str] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
