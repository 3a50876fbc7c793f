"""The same files, row numbers and counts as ripgrep, with and without ignore rules; with the index and without it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from patterns import pattern

from agenvoy.config import Settings
from agenvoy.disk.jail import Jail
from agenvoy.workspace.find import find_files, rules_of
from agenvoy.workspace.indexing import build, index_path

RG = shutil.which("rg")
PATTERNS = 200
TREE = ("json", "email", "http", "logging", "asyncio", "encodings", "unittest", "xml", "importlib", "collections")
Answer = dict[str, tuple[int, list[int]]]

pytestmark = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the standard library, with ignore files in it."""
    top = tmp_path_factory.mktemp("tree") / "lib"
    standard = Path(sysconfig.get_paths()["stdlib"])
    for name in TREE:
        shutil.copytree(standard / name, top / name)
    for source in standard.glob("*.py"):
        shutil.copy(source, top)
    (top / ".gitignore").write_text("__pycache__/\n*_codec.py\n/http/cookies.py\nasyncio/s*\n!asyncio/streams.py\n")
    (top / "email" / ".ignore").write_text("m*\n!mime/\n")
    old = 1_600_000_000
    for path in top.rglob("*"):
        os.utime(path, (old, old))
    return top


def by_ripgrep(tree: Path, text: str, ignored: bool) -> Answer:
    command = [
        str(RG),
        "--no-config",
        "--no-require-git",
        "--no-heading",
        "-n",
        "--with-filename",
        "--null",
        "-e",
        text,
    ]
    done = subprocess.run(
        [*command, *(["--no-ignore"] if ignored else []), "."], cwd=tree, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    found: Answer = {}
    for row in done.stdout.splitlines():
        path, _, rest = row.partition(b"\0")
        if not rest:  # what ripgrep says of a binary file
            continue
        name = os.path.normpath(os.fsdecode(path))
        count, lines = found.get(name, (0, []))
        found[name] = (count + 1, [*lines, int(rest.partition(b":")[0])][:5])
    return found


def by_us(tree: Path, text: str, ignored: bool, index: str = "") -> Answer:
    jail = Jail(Settings(root=str(tree), home=str(tree.parent / "home")))
    query = {"pattern": text}
    result = find_files(jail, mode="search", queries=[query], ignored=ignored, limit=100_000, index=index)
    assert result["complete"]
    return {row["path"]: (row["count"], row["lines"]) for row in result["rows"]}


@pytest.mark.parametrize("ignored", [False, True])
def test_two_hundred_patterns_find_what_ripgrep_finds(tree: Path, ignored: bool) -> None:
    chance = random.Random(5)
    for text in [pattern(chance) for _ in range(PATTERNS)]:
        assert by_us(tree, text, ignored) == by_ripgrep(tree, text, ignored), text


def test_with_the_index_the_same_is_found_as_without(tree: Path) -> None:
    settings = Settings(root=str(tree), home=str(tree.parent / "home"))
    jail = Jail(settings)
    made = build(jail, rules_of(jail, lambda: False), lambda done: None)
    assert made["indexed"] > 300
    chance = random.Random(5)
    for text in [pattern(chance) for _ in range(PATTERNS)]:
        assert by_us(tree, text, False, index_path(settings)) == by_us(tree, text, False), text
