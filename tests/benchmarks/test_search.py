"""Searches against ripgrep, in pairs in one run, on a large real tree.

The tree is AGENVOY_BENCH_TREE, else Debian's unpacked linux-source below /usr/src; without it or without rg: skipped.
The aims are ratios to `rg --no-require-git` (the same ignore rules). What is asserted leaves room for a busy machine;
the README tells the figures and what limits them.
"""

from __future__ import annotations

import glob
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agenvoy.config import Settings
from agenvoy.workspace import sweep
from agenvoy.workspace.service import Service

ROUNDS = 5
RG = shutil.which("rg")
FOUND = [p for p in sorted(glob.glob("/usr/src/linux-source-*")) if os.path.isdir(p)]
TREE = os.environ.get("AGENVOY_BENCH_TREE") or (FOUND[-1] if FOUND else "")
PATTERNS = {
    "rare literal": "xyzzy_rare_literal",
    "common literal": "kmalloc",
    "class-heavy": "[A-Z]{3,}_[a-z]+[0-9]",
    "any case": "(?i)deprecated",
}
Report = Callable[[str], None]

pytestmark = [
    pytest.mark.skipif(RG is None or not os.path.isdir(TREE), reason="needs rg and a large tree"),
    pytest.mark.timeout(1200),
]


def timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def command(*argv: str) -> None:
    subprocess.run(argv, cwd=TREE, stdout=subprocess.DEVNULL, check=False)


def against(act: Callable[[], object], *rg: str) -> float:
    """The median of pairs."""
    other = [str(RG), "--no-config", "--no-require-git", *rg]
    act()
    command(*other)
    return statistics.median(timed(act) / timed(lambda: command(*other)) for _ in range(ROUNDS))


def ours(home: Path, *argv: str) -> Callable[[], None]:
    words = [sys.executable, "-m", "agenvoy", *argv, "--root", TREE]
    environment = {**os.environ, "AGENVOY_HOME": str(home)}
    return lambda: subprocess.run(words, cwd=TREE, env=environment, stdout=subprocess.DEVNULL, check=True) and None


@pytest.mark.parametrize("name", PATTERNS)
def test_a_cold_search_in_a_new_process(tmp_path: Path, report: Report, name: str) -> None:
    ratio = against(ours(tmp_path, "search", "-l", PATTERNS[name]), "-c", PATTERNS[name], ".")
    report(f"cold search, {name}: {ratio:.2f} of rg (aim 1.5)")
    assert ratio < 8


@pytest.mark.parametrize("words", [("list", "--recursive", "."), ("glob", "*.rst")])
def test_names_in_a_new_process(tmp_path: Path, report: Report, words: tuple[str, ...]) -> None:
    ratio = against(ours(tmp_path, *words), "--files")
    report(f"{words[0]}: {ratio:.2f} of rg --files (aim 1.5)")
    assert ratio < 12


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(Settings(root=os.path.realpath(TREE), home=str(tmp_path_factory.mktemp("home")))) as service:
        service.told = service.index().result  # type: ignore[attr-defined]
        yield service


@pytest.mark.parametrize("name", PATTERNS)
def test_a_search_with_an_index_in_a_warm_process(warm: Service, report: Report, name: str) -> None:
    queries = [{"pattern": PATTERNS[name]}]
    ratio = against(lambda: warm.find_files(queries, mode="search"), "-c", PATTERNS[name], ".")
    report(f"warm search with an index, {name}: {ratio:.2f} of rg (aim 0.8 for a rare, 1.2 for a common literal)")
    assert ratio < 6


@pytest.mark.parametrize("name", PATTERNS)
def test_a_search_of_a_watched_workspace(warm: Service, report: Report, name: str) -> None:
    queries = [{"pattern": PATTERNS[name]}]
    with Service(replace(warm.settings, search_watch=True)) as watched:
        for _ in range(2):
            watched.find_files(queries, mode="search")
        sweep.trees.settle()
        ratio = against(lambda: watched.find_files(queries, mode="search"), "-c", PATTERNS[name], ".")
    report(f"watched search with an index, {name}: {ratio:.2f} of rg (aim 0.3 for a rare, 1.2 for a common literal)")
    assert ratio < 3


def test_the_index_and_the_memory_of_all_processes(warm: Service, report: Report) -> None:
    told = warm.told  # type: ignore[attr-defined]
    report(f"index: {told['bytes'] >> 20} MiB of text, {told['size'] >> 20} MiB, built in {told['seconds']} s")
    peaks = []
    for pid in (os.getpid(), *sweep._crew.pids()):
        with open(f"/proc/{pid}/status") as status:
            peaks.append(next(int(row.split()[1]) for row in status if row.startswith("VmHWM")))
    report(f"peak memory of {len(peaks)} processes: {sum(peaks) >> 10} MiB (aim 300)")
    assert sum(peaks) < 400 * 1024
