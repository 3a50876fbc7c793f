"""What every blob backend must do; a new one is tested by its line in `BACKENDS`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.blobs import BACKENDS, BlobDamaged, BlobMissing, BlobStore, FileBlobs, MemoryBlobs
from agenvoy.blobs.codec import RAW, ZSTD, pack, unpack
from agenvoy.blobs.hashing import hash_bytes

CONTENTS = [b"", b"x", b"text\n" * 1000, os.urandom(3000), b"\0" * 5_000_000]


@pytest.fixture(params=sorted(BACKENDS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    made: BlobStore = BACKENDS[request.param](str(tmp_path / "objects"))
    return made


def whole(store: BlobStore, name: str, codec: str) -> bytes:
    return b"".join(store.open(name, codec))


@pytest.mark.parametrize("data", CONTENTS, ids=len)
def test_what_was_put_comes_back(store: BlobStore, data: bytes) -> None:
    kept = store.put([data])
    assert (kept.name, kept.size, kept.proof) == (hash_bytes(data), len(data), hashlib.sha256(data).digest())
    assert whole(store, kept.name, kept.codec) == data


def test_blocks_make_one_content(store: BlobStore) -> None:
    assert store.put([b"ab", b"", b"c"]).name == store.put([b"abc"]).name
    assert [name for name, _ in store.names()] == [hash_bytes(b"abc")]


def test_names_tell_every_blob_and_its_stored_bytes(store: BlobStore) -> None:
    kept = [store.put([data]) for data in CONTENTS]
    assert dict(store.names()) == {k.name: k.stored for k in kept}


def test_a_blob_that_is_not_there_is_missing(store: BlobStore) -> None:
    with pytest.raises(BlobMissing):
        whole(store, "0" * 32, ZSTD)
    assert store.delete("0" * 32) is False


def test_a_deleted_blob_is_gone(store: BlobStore) -> None:
    kept = store.put([b"text\n" * 1000])
    assert store.delete(kept.name) is True
    assert list(store.names()) == []
    with pytest.raises(BlobMissing):
        whole(store, kept.name, kept.codec)


def test_a_source_that_fails_leaves_nothing(store: BlobStore) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"begun"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        store.put(blocks())
    assert list(store.names()) == []


# ---- what only files can suffer
def damaged(folder: Path, change: bytes | None) -> tuple[FileBlobs, str]:
    store = FileBlobs(str(folder))
    name = store.put([b"text\n" * 1000]).name
    path = Path(store.path(name))
    path.write_bytes(path.read_bytes()[:-4] if change is None else change)
    return store, name


@pytest.mark.parametrize("change", [None, b"", b"no zstd at all", pack(b"other text\n" * 100)[1]])
def test_damage_shows_when_read(tmp_path: Path, change: bytes | None) -> None:
    store, name = damaged(tmp_path, change)
    with pytest.raises(BlobDamaged):
        whole(store, name, ZSTD)


def test_putting_a_damaged_blob_again_mends_it(tmp_path: Path) -> None:
    store, name = damaged(tmp_path, b"")
    store.put([b"text\n" * 1000])
    assert whole(store, name, ZSTD) == b"text\n" * 1000


def test_folders_and_files_are_private(tmp_path: Path) -> None:
    store = FileBlobs(str(tmp_path / "objects"))
    path = Path(store.path(store.put([b"secret"]).name))
    assert [p.stat().st_mode & 0o777 for p in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]


def test_what_dead_processes_left_half_written_is_swept(tmp_path: Path) -> None:
    store = FileBlobs(str(tmp_path))
    (tmp_path / "incoming").mkdir()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    for pid in (child, os.getpid()):
        (tmp_path / "incoming" / f"{pid}-x").write_bytes(b"half")
    assert store.sweep() == 1
    assert os.listdir(tmp_path / "incoming") == [f"{os.getpid()}-x"]


def test_memory_damage_shows_too() -> None:
    store = MemoryBlobs()
    kept = store.put([b"text\n" * 1000])
    store.kept[kept.name] = (RAW, kept.size, b"other")
    with pytest.raises(BlobDamaged):
        whole(store, kept.name, kept.codec)


@given(st.binary(max_size=4000))
def test_packing_is_reversible(data: bytes) -> None:
    codec, stored = pack(data)
    assert unpack(codec, stored, len(data)) == data
    assert len(stored) <= max(len(data), 1)


def test_a_damaged_frame_cannot_ask_for_more_memory_than_the_size_on_record() -> None:
    _, bomb = pack(b"\0" * 50_000_000)
    with pytest.raises(ValueError):
        assert len(unpack(ZSTD, bomb, 100)) <= 100
