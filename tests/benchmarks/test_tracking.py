"""Baselines and scans against a shadow git (`git --git-dir`): on the tree of test_search.py, unchanged."""

from __future__ import annotations

import glob
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Report = Callable[[str], None]
FOUND = [p for p in sorted(glob.glob("/usr/src/linux-source-*")) if os.path.isdir(p)]
TREE = os.environ.get("AGENVOY_BENCH_TREE") or (FOUND[-1] if FOUND else "")
TOP = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.skipif(not os.path.isdir(TREE), reason="needs a large tree"),
    pytest.mark.timeout(1200),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]


def size(folder: Path) -> int:
    """Bytes on disk below a folder."""
    return sum(e.stat().st_blocks * 512 for e in folder.rglob("*") if e.is_file())


def seconds(argv: list[str], env: dict[str, str]) -> float:
    """Wall time of a command that has to end well."""
    begun = time.perf_counter()
    subprocess.run(argv, env=env, cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def test_a_baseline_and_the_scans_after_it_against_git(tmp_path: Path, report: Report) -> None:
    own = [sys.executable, "-m", "agenvoy", "--root", TREE]
    home = {**os.environ, "PYTHONPATH": str(TOP), "AGENVOY_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    git = ["git", f"--git-dir={tmp_path / 'git'}", f"--work-tree={TREE}"]
    who = ["-c", "user.name=b", "-c", "user.email=b@b", "-c", "gc.auto=0"]
    seconds(["git", "init", "-q", "--bare", str(tmp_path / "git")], home)
    theirs = seconds([*git, *who, "add", "-A"], home) + seconds([*git, *who, "commit", "-qm", "baseline"], home)
    mine = seconds([*own, "run", "--", "true"], home)
    ratio, bytes_ratio = mine / theirs, size(tmp_path / "home") / size(tmp_path / "git")
    report(f"baseline: {ratio:.2f}x git add + commit ({mine:.1f} / {theirs:.1f} s), {bytes_ratio:.2f}x its bytes")
    pairs = [
        (seconds([*own, "run", "--", "true"], home), seconds([*own, "status"], home), seconds([*git, "status"], home))
        for _ in range(5)
    ]
    run, status, peer = (statistics.median(times) for times in zip(*pairs, strict=True))
    report(f"status of an unchanged tree: {status / peer:.2f}x git status ({status:.2f} / {peer:.2f} s)")
    report(f"run -- true: {run / peer:.2f}x git status ({run:.2f} s)")
    assert bytes_ratio <= 1.2
    assert status <= 2.5 * peer
    assert run <= 2.5 * 2.5 * peer
