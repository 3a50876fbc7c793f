"""Git's ignore rules, judged folder by folder: which entries of a listing the ignore files rule out.

The `ignore` crate (through rignore) is the measure: a test compares the two over generated trees. It walks in one
thread and hands over every path, which takes five times as long as the whole search may; here most folders are judged
by a few set operations over all their names at once, and only names that some pattern might mean are looked at singly.

A pattern that this module does not read for certain raises `Unsure`; the walk then asks rignore.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

FILES = (".ignore", ".gitignore")
MOST_BYTES = 1 << 20  # a longer ignore file is no ignore file that anybody wrote
_WILD = re.compile(r"[*?\[\]{}\\]")
_BRACKET = re.compile(r"\[([!^]?)([^\]\[\\!^-](?:[^\]\[\\]*[^\]\[\\-])?)\]")
_EXCLUDES = re.compile(r"""(?im)^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$""")


class Unsure(Exception):
    """An ignore file holds something that only rignore is trusted with."""


@dataclass(slots=True)
class _Pattern:
    """One line: matched in full against the name alone (`by_name`) or the path from the ignore file's folder on.

    `regex` is compiled when it is first needed: most patterns of a large tree never are.
    """

    source: str
    by_name: bool
    keeps: bool
    only_dir: bool
    regex: re.Pattern[str] | None = None

    def matches(self, text: str) -> bool:
        """Whether it means a name or path."""
        if self.regex is None:
            self.regex = re.compile(self.source, re.DOTALL)
        return self.regex.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Triggers:
    """What a name must look like for any pattern to mean it; cheap, and never too narrow.

    Args:
        exact: whole names.
        endings: what stands behind a name's last dot.
        pieces: texts within a name that has a line feed at either end.
        always: whether some pattern may mean any name.
    """

    exact: frozenset[str] = frozenset()
    endings: frozenset[str] = frozenset()
    pieces: frozenset[str] = frozenset()
    always: bool = False

    def joined(self, other: Triggers) -> Triggers:
        """What triggers one of both."""
        return Triggers(
            self.exact | other.exact, self.endings | other.endings, self.pieces | other.pieces,
            self.always or other.always,
        )  # fmt: skip

    def pick(self, names: Sequence[str]) -> Iterable[str]:
        """Those of a folder's names that a pattern may mean."""
        if self.always:
            return names
        found: set[str] = set()
        if not self.exact.isdisjoint(names):
            found.update(self.exact.intersection(names))
        if self.endings:
            found.update(n for n in names if n.rpartition(".")[2] in self.endings)
        if self.pieces:
            blob = "\n\n".join(("", *names, ""))
            for piece in self.pieces:
                if piece in blob:
                    found.update(n for n in names if piece in f"\n{n}\n")
        return found


def triggers(patterns: Iterable[str]) -> Triggers:
    """The triggers of glob patterns (`*`, `?`, sets; the part behind the last slash counts)."""
    exact, endings, pieces, always = set(), set(), set(), False
    for pattern in patterns:
        last = pattern.rpartition("/")[2]
        runs = _WILD.split(re.sub(r"\\.|\[[^\]]*\]|\{.*\}", "*", last))
        if len(runs) == 1:
            exact.add(last)
        elif runs == ["", last[1:]] and last[1:2] == "." and "." not in last[2:]:
            endings.add(last[2:])
        else:
            runs[0], runs[-1] = runs[0] and "\n" + runs[0], runs[-1] and runs[-1] + "\n"
            best = max(runs, key=len)
            always = always or not best
            pieces.add(best)
    return Triggers(frozenset(exact), frozenset(endings), frozenset(pieces), always)


class Patterns:
    """The patterns of one ignore file.

    Args:
        folder: what its patterns with a slash are relative to.
        text: the file.
    """

    def __init__(self, folder: str, text: str) -> None:
        self.cut = len(folder.rstrip("/")) + 1
        lines = [found for line in text.split("\n") if (found := _line(line)) is not None]
        self._patterns = [pattern for pattern, _ in reversed(lines)]
        self.triggers = triggers(glob for _, glob in lines)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, path: str, name: str, is_dir: bool) -> bool | None:
        """Whether the last pattern that matches rules a path out; None where none matches."""
        relative = path[self.cut :]
        for pattern in self._patterns:
            if (is_dir or not pattern.only_dir) and pattern.matches(name if pattern.by_name else relative):
                return not pattern.keeps
        return None


def _line(line: str) -> tuple[_Pattern, str] | None:
    """A line as a pattern, with its glob for the triggers; None for a comment or a blank line."""
    if line.startswith("#"):
        return None
    if not line.endswith("\\ "):
        line = line.rstrip()
    keeps = line.startswith("!")
    escaped = line.startswith(("\\!", "\\#"))
    text = line[1:] if keeps or escaped else line
    rooted = text.startswith("/")
    if rooted and not escaped:
        text = text[1:]
    only_dir = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        if line:
            raise Unsure(line)
        return None
    if "//" in line:  # an empty part of a path: git and the crate differ over it
        raise Unsure(line)
    if text.startswith("**/") and "/" not in text[3:] and not rooted:
        text = text[3:]
    by_name = not rooted and "/" not in text
    if text.endswith("/**"):
        text += "/*"
    return _Pattern(_translated(text), by_name, keeps, only_dir), text


def _translated(glob: str) -> str:
    """A glob as a regular expression."""
    out, at = "", 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            end = at
            while glob[end : end + 1] == "*":
                end += 1
            whole = end - at == 2 and (at == 0 or glob[at - 1] == "/") and glob[end : end + 1] in ("", "/")
            if whole and glob[end : end + 1] == "/":
                out, end = out + "(?:.*/)?", end + 1
            else:
                out += ".*" if whole else "[^/]*"
            at = end
            continue
        if char == "?":
            out += "[^/]"
        elif char == "[":
            found = _BRACKET.match(glob, at)
            if found is None:
                raise Unsure(glob)
            out += _set(found[1], found[2], glob)
            at = found.end()
            continue
        elif char in "{}]":
            raise Unsure(glob)
        elif char == "\\":
            at += 1
            if at == len(glob):
                raise Unsure(glob)
            out += re.escape(glob[at])
        else:
            out += re.escape(char)
        at += 1
    return out


def _set(sign: str, members: str, glob: str) -> str:
    """A bracket; only plain members and ranges of letters or digits."""
    if not re.fullmatch(r"(?:\w-\w|[\w.~+@ ,=-])*", members, re.ASCII):
        raise Unsure(glob)
    try:
        return "(?!/)" + re.compile(f"[{'^' if sign else ''}{members}]").pattern
    except re.error:
        raise Unsure(glob) from None


@dataclass(frozen=True, slots=True)
class Scope:
    """The ignore files that hold in a folder: its own and, through `above`, those of the folders it lies in.

    Args:
        above: the next folder upwards that has any.
        ignore, git, exclude: `.ignore`, `.gitignore`, `.git/info/exclude` of this folder.
        excludes: the user's own for all repositories.
        triggers: of all of them.
    """

    above: Scope | None = None
    ignore: Patterns | None = None
    git: Patterns | None = None
    exclude: Patterns | None = None
    excludes: Patterns | None = None
    triggers: Triggers = field(default_factory=Triggers)

    def ignored(self, path: str, name: str, is_dir: bool) -> bool:
        """Whether a path is ruled out: `.ignore` is stronger than `.gitignore`, the nearer file than the farther."""
        by_ignore = by_git = by_exclude = None
        scope: Scope | None = self
        excludes = None
        while scope is not None:
            if by_ignore is None and scope.ignore is not None:
                by_ignore = scope.ignore.verdict(path, name, is_dir)
            if by_git is None and scope.git is not None:
                by_git = scope.git.verdict(path, name, is_dir)
            if by_exclude is None and scope.exclude is not None:
                by_exclude = scope.exclude.verdict(path, name, is_dir)
            excludes = scope.excludes or excludes
            scope = scope.above
        for verdict in (by_ignore, by_git, by_exclude):
            if verdict is not None:
                return verdict
        return bool(excludes.verdict(path, name, is_dir)) if excludes is not None else False


def entered(above: Scope | None, folder: str, names: frozenset[str] | set[str]) -> Scope | None:
    """The scope of a folder.

    Args:
        above: the scope of the folder that holds it.
        folder: its path.
        names: what is in it.

    Raises:
        Unsure: see there.
    """
    ignore = _read(folder, ".ignore") if ".ignore" in names else None
    git = _read(folder, ".gitignore") if ".gitignore" in names else None
    exclude = None
    if ".git" in names:
        if os.path.isfile(os.path.join(folder, ".git")):
            raise Unsure(".git is a file")  # a worktree or submodule: its exclude file lies elsewhere
        exclude = _read(folder, ".git/info/exclude")
    if not (ignore or git or exclude):
        return above
    found = above.triggers if above is not None else Triggers()
    for patterns in (ignore, git, exclude):
        if patterns:
            found = found.joined(patterns.triggers)
    return Scope(above, ignore or None, git or None, exclude or None, None, found)


def outermost(excludes: str) -> Scope | None:
    """The scope above all folders.

    Args:
        excludes: path of the user's own ignore file for all repositories; empty: none.

    Raises:
        Unsure: see there; also where one of its patterns is bound to a folder.
    """
    patterns = _read("", excludes) if excludes else None
    if not patterns:
        return None
    if not all(pattern.by_name for pattern in patterns._patterns):
        raise Unsure(excludes)
    return Scope(excludes=patterns, triggers=patterns.triggers)


def global_excludes(user_home: str, config_home: str) -> str:
    """Path of the user's own ignore file, as git's configuration names it or where git looks by default.

    Args:
        user_home: what `~` means; empty: nothing is looked for.
        config_home: `$XDG_CONFIG_HOME`; empty: `~/.config`.
    """
    if not user_home:
        return ""
    configured = config_home or os.path.join(user_home, ".config")
    for path in (os.path.join(user_home, ".gitconfig"), os.path.join(configured, "git", "config")):
        found = _EXCLUDES.search(_text(path) or "")
        if found:
            named = found[1]
            return user_home + named[1:] if named.startswith("~/") else named
    return os.path.join(configured, "git", "ignore")


def _read(folder: str, name: str) -> Patterns | None:
    text = _text(os.path.join(folder, name))
    return None if text is None else Patterns(folder, text)


def _text(path: str) -> str | None:
    """A small text; None where there is none that can be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # absent, or not to be read: then it rules nothing out, as for git
        return None
    try:
        data = os.read(fd, MOST_BYTES)
    except OSError:  # a folder of that name
        return None
    finally:
        os.close(fd)
    if len(data) == MOST_BYTES or data.startswith(b"\xef\xbb\xbf"):
        raise Unsure(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unsure(path) from None
