"""Which argument a caller probably meant."""

from __future__ import annotations

from collections.abc import Sequence

# Spellings of other tools and habits; the first that the request knows is meant.
_MEANT: dict[str, tuple[str, ...]] = {
    "file": ("files", "path", "target"),
    "filename": ("path", "files", "target"),
    "file_name": ("path", "files", "target"),
    "filepath": ("path", "files", "target"),
    "file_path": ("path", "files", "target"),
    "absolute_path": ("path", "files", "target"),
    "path": ("dir", "target"),
    "url": ("target",),
    "uri": ("target", "path"),
    "source": ("path",),
    "src": ("path",),
    "from_path": ("path",),
    "destination": ("to",),
    "dest": ("to",),
    "dst": ("to",),
    "to_path": ("to",),
    "new_path": ("to",),
    "target": ("to", "targets"),
    "contents": ("content",),
    "text": ("content", "new_string"),
    "body": ("content",),
    "data": ("content",),
    "edits": ("targets",),
    "changes": ("targets",),
    "replacements": ("targets",),
    "patches": ("targets",),
    "old": ("old_string",),
    "old_str": ("old_string",),
    "old_text": ("old_string",),
    "find": ("old_string",),
    "new": ("new_string",),
    "new_str": ("new_string",),
    "new_text": ("new_string",),
    "replace": ("new_string",),
    "replacement": ("new_string",),
    "all": ("replace_all",),
    "query": ("queries", "pattern"),
    "search": ("pattern",),
    "regex": ("pattern",),
    "regexp": ("pattern",),
    "glob": ("file_pattern", "pattern"),
    "include": ("file_pattern",),
    "directory": ("dir",),
    "folder": ("dir",),
    "root": ("dir",),
    "case": ("case_sensitive",),
    "ignore_case": ("case_sensitive",),
    "case_insensitive": ("case_sensitive",),
    "include_hidden": ("hidden",),
    "include_ignored": ("ignored",),
    "no_ignore": ("ignored",),
    "timeout": ("timeout_s",),
    "start": ("offset", "from"),
    "line": ("around", "offset"),
    "lines": ("around", "limit"),
    "start_line": ("offset",),
    "page": ("offset",),
    "cursor": ("offset", "before_version"),
    "next": ("before_version", "offset"),
    "next_offset": ("offset",),
    "max": ("limit",),
    "max_results": ("limit",),
    "count": ("limit",),
    "end_line": ("limit",),
    "task": ("task_id",),
    "id": ("task_id", "version"),
    "task_ids": ("task_id",),
    "version_id": ("version",),
    "revision": ("version",),
    "version": ("versions", "before_version"),
    "since": ("from",),
    "until": ("to",),
    "at": ("time",),
    "when": ("time",),
    "dry": ("dry_run",),
    "preview": ("dry_run",),
    "plan": ("plan_id",),
    "conflict": ("on_conflict",),
    "strategy": ("on_conflict",),
    "goal": ("objective",),
    "title": ("objective",),
    "name": ("objective", "path"),
    "description": ("objective", "summary"),
    "result": ("summary",),
    "why": ("reason",),
}


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known argument name that a misspelt or foreign one most likely means; None where nothing is near."""
    from difflib import get_close_matches

    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    if plain in known:
        return plain
    for joined in known:
        if plain.replace("_", "") == joined.replace("_", ""):
            return joined
    for meant in _MEANT.get(plain, ()):
        if meant in known:
            return meant
    close = get_close_matches(plain[:64], known, n=1, cutoff=0.6)
    return close[0] if close else None
