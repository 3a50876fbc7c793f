"""Opening folders in one call, and syncing many files beside the writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenvoy.disk import openat
from agenvoy.disk.jail import open_folder
from agenvoy.disk.syncing import AHEAD, Syncer

ANYWHERE = -100


@pytest.mark.parametrize("way", [openat.open_below, openat._step_by_step])
def test_a_folder_is_opened_without_following_a_link_anywhere_on_the_way(tmp_path: Path, way: object) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "file").write_text("x")
    fd = way(ANYWHERE, str(tmp_path / "a/b"))  # type: ignore[operator]
    assert os.path.samestat(os.fstat(fd), os.stat(tmp_path / "a/b"))
    os.close(fd)
    for wrong in ("link/b", "link", "a/b/missing", "file", "file/b"):
        with pytest.raises(OSError):
            way(ANYWHERE, str(tmp_path / wrong))  # type: ignore[operator]


def test_both_ways_leave_no_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    for _ in range(20):
        with open_folder(str(tmp_path)):
            pass
        with pytest.raises(OSError):
            open_folder(str(tmp_path / "missing")).__enter__()
        with pytest.raises(OSError):
            openat._step_by_step(ANYWHERE, str(tmp_path / "missing"))
    assert before is None or len(os.listdir("/proc/self/fd")) == before


def test_more_files_than_wait_at_once_are_all_synced_and_closed(tmp_path: Path) -> None:
    syncer, fds = Syncer(), []
    for number in range(AHEAD * 2):
        fds.append(os.open(tmp_path / str(number), os.O_WRONLY | os.O_CREAT))
        syncer.take(fds[-1], number)
    assert syncer.finish() == []
    for fd in set(fds):
        with pytest.raises(OSError):
            os.fstat(fd)


def test_a_file_that_cannot_be_synced_is_named(tmp_path: Path) -> None:
    syncer, (reading, writing) = Syncer(), os.pipe()
    syncer.take(os.open(tmp_path / "good", os.O_WRONLY | os.O_CREAT), 1)
    syncer.take(reading, 2)  # a pipe cannot be synced
    failed = syncer.finish()
    os.close(writing)
    assert [owner for owner, _ in failed] == [2]
