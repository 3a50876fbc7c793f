"""The main job on one screen: a task on a copy of a real folder, undone, and proved undone by checksums."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agenvoy.config import load
from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.dispatch import call
from agenvoy.workspace.service import Service

EDITED = 4  # files that the demo patches at most
_WORD = re.compile(r"\b[A-Za-z]{5,20}\b")


@dataclass(slots=True)
class Demo:
    """One demonstration in a folder of its own.

    Args:
        source: the folder to copy.
        scratch: an empty folder for the copy and the store.
        say: prints a line.
    """

    source: str
    scratch: str
    say: Callable[[str], None]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The copy, which is the workspace."""
        return os.path.join(self.scratch, os.path.basename(self.source.rstrip("/")) or "copy")

    def run(self) -> bool:
        """Show everything; whether the copy is at the end what it was at the beginning.

        Raises:
            AgenvoyError: invalid_arguments where the folder holds no text to work on; what a call refused.
        """
        count = copy_tree(self.source, self.root)
        before = checksums(self.root)
        self.say(f"A copy of {self.source} ({count:,} files) is the workspace; the store is a temporary one.")
        home = os.path.join(self.scratch, "home")
        env = {"HOME": self.scratch}
        settings = load(env, self.root, root=self.root, home=home, actor="demo", yes=True)
        with Service(settings) as service:
            self._show(service)
        after = checksums(self.root)
        same = before == after
        total = hashlib.sha256(repr(sorted(after.items())).encode("utf-8", "surrogateescape")).hexdigest()
        self.facts |= {"files": count, "identical": same, "checksum": total}
        verdict = "as before, byte for byte, modes and links too" if same else "NOT AS BEFORE"
        self.say(f"\nChecksums of all {len(after):,} entries: {verdict} (sha256 {total[:16]}…).")
        return same

    def _show(self, service: Service) -> None:
        paths, word = self._choose(service)
        new = f"{word}New"
        self._call(service, "begin_task", {"objective": f"rename {word} to {new}"})
        query = {"pattern": rf"\b{word}\b"}
        self._call(service, "find_files", {"mode": "search", "queries": [query]}, rows=4)
        edited = paths[:EDITED]
        self._call(service, "read_files", {"files": [{"path": path} for path in paths]}, rows=3)
        for path in edited:
            target = {"old_string": word, "new_string": new, "replace_all": True}
            self._call(service, "edit_file", {"path": path, "targets": [target]}, rows=1)
        note = {"path": "agenvoy-demo/NOTES.md", "content": f"# Renamed {word} to {new}\n"}
        self._call(service, "edit_file", note, rows=1)
        self._call(service, "remove_file", {"path": paths[-1]}, rows=1)
        self._call(service, "file_history", {"task_id": "current"}, rows=8)
        changed = self._call(service, "file_history", {"path": edited[0], "limit": 2}, rows=0)["rows"]
        versions = [row["version"] for row in reversed(changed)]
        self._call(service, "file_history", {"mode": "read", "path": edited[0], "versions": versions}, rows=10)
        restored = self._call(service, "restore_file", {"task_id": "current"}, rows=9)
        self.facts["changes"] = len(restored["changes"])
        self.facts["word"] = word

    def _choose(self, service: Service) -> tuple[list[str], str]:
        """Text files of moderate size, and a word that most of them hold."""
        query = {"pattern": "[A-Za-z]{5}"}
        found = self._call(service, "find_files", {"mode": "search", "queries": [query], "limit": 40}, rows=-1)
        paths = [row["path"] for row in found["rows"]]
        small = [path for path in paths if os.path.getsize(os.path.join(self.root, path)) < 100_000]
        words: Counter[str] = Counter()
        texts: dict[str, set[str]] = {}
        for path in small:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="ignore") as file:
                texts[path] = set(_WORD.findall(file.read()))
            words.update(texts[path])
        if not words:
            raise AgenvoyError("invalid_arguments", f"{self.source} holds no text to work on", "name another folder")
        # Of the words that enough files hold, the longest: it tells more than `return` or `import`.
        word = max(words, key=lambda w: (min(words[w], EDITED + 1), len(w), w))
        return [path for path in small if word in texts[path]][: EDITED + 1], word

    def _call(self, service: Service, tool: str, arguments: Mapping[str, Any], *, rows: int = 2) -> dict[str, Any]:
        """One call, shown as its label and the first rows of its text (-1: not shown at all)."""
        document = call(service, tool, arguments)
        if not document["ok"]:
            error = document["error"]
            raise AgenvoyError(error["code"], error["message"], error["hint"])
        if rows > 0:
            self.say(f"\n> {document['label']}")
            lines = document["text"].splitlines()
            for line in lines[:rows]:
                self.say("  " + line[:110])
            if len(lines) > rows > 1:
                self.say(f"  … {len(lines) - rows} more rows")
        result: dict[str, Any] = document["result"]
        return result


def copy_tree(source: str, target: str) -> int:
    """Copy a folder without .git and caches; special and unreadable files are left out. Gives back how many files.

    Raises:
        AgenvoyError: invalid_arguments where the source is no folder.
    """
    if not os.path.isdir(source):
        raise AgenvoyError("invalid_arguments", f"{source} is not a folder", "name a folder, or none")

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name in (".git", "__pycache__") or not _plain(os.path.join(folder, name))}

    shutil.copytree(source, target, symlinks=True, ignore=left_out)
    return sum(len(files) for _, _, files in os.walk(target))


def _plain(path: str) -> bool:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return True
    return (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and os.access(path, os.R_OK)


def checksums(root: str) -> dict[str, str]:
    """Path -> what it is, for everything below a folder: kind, permission bits, SHA-256 or link target."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                state = "link " + os.readlink(path)
            elif stat.S_ISDIR(mode):
                state = f"folder {stat.S_IMODE(mode):o}"
            else:
                with open(path, "rb") as file:
                    state = f"file {stat.S_IMODE(mode):o} {hashlib.file_digest(file, 'sha256').hexdigest()}"
            found[os.path.relpath(path, root)] = state
    return found
