"""`sensitive.keep = "encrypted"`: contents of sensitive files are in the store, but not to be read from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import World, history, read, sound, stored

from agenvoy.blobs import FileBlobs, KeyMissing, Keyring
from agenvoy.errors import AgenvoyError
from agenvoy.history.verify import verify
from agenvoy.workspace.service import Service


@pytest.fixture
def sealed(world: World) -> Service:
    (Path(world.root) / ".env").write_text("KEY=first-secret\n")
    return world.service(keep_sensitive="encrypted", allow_sensitive=True)


def test_a_change_of_a_sensitive_file_is_undone_from_bytes_that_nobody_can_read_in_the_store(
    sealed: Service, world: World
) -> None:
    read(sealed, ".env")
    assert sealed.edit_file(".env", content="KEY=second-secret\n").result["undoable"] is True
    assert [row["restorable"] for row in history(sealed, ".env")] == [True, True]
    assert b"secret" not in stored(sealed)
    sound(sealed)
    sealed.restore_file(task_id="current")
    assert (world.root / ".env").read_text() == "KEY=first-secret\n" and b"secret" not in stored(sealed)


def test_a_removed_secret_leaves_no_plain_copy_in_the_trash_and_comes_back(sealed: Service, world: World) -> None:
    removed = sealed.remove_file(".env").result
    assert removed["undoable"] is True and removed["moved_to"] is None and b"first-secret" not in stored(sealed)
    sealed.undo()
    assert (world.root / ".env").read_text() == "KEY=first-secret\n"
    sound(sealed)


def test_a_large_secret_is_a_sealed_file_of_the_store(sealed: Service, world: World) -> None:
    content = os.urandom(1 << 20) + b"the-secret-end" * 100_000
    (world.root / "big.pem").write_bytes(content)
    sealed.remove_file("big.pem")
    assert b"the-secret-end" not in stored(sealed)
    sealed.undo()
    assert (world.root / "big.pem").read_bytes() == content
    sound(sealed)


def test_a_command_and_its_baseline_keep_secrets_encrypted(sealed: Service, world: World) -> None:
    (world.root / ".npmrc").write_text("token=unchanged-secret")
    sealed.run(["sh", "-c", "echo KEY=other-secret > .env"], dict(os.environ), str(world.root))
    assert b"secret" not in stored(sealed).replace(b"echo KEY=other-secret", b"")  # the command's own text is kept
    sealed.restore_file(task_id="current")
    assert (world.root / ".env").read_text() == "KEY=first-secret\n"
    sound(sealed)


def test_what_was_recorded_plain_before_is_sealed_when_the_file_changes_again(world: World, sealed: Service) -> None:
    plain = world.service(allow_sensitive=True)
    read(plain, ".env")
    plain.edit_file(".env", content="KEY=second-secret\n")
    assert b"first-secret" in stored(plain)
    read(sealed, ".env")
    sealed.edit_file(".env", content="KEY=third-secret\n")
    assert b"secret" not in stored(sealed)


def test_without_the_key_nothing_lies_and_with_it_all_is_there_again(sealed: Service, world: World) -> None:
    sealed.remove_file(".env")
    key = Path(sealed.settings.key_file)
    assert key.stat().st_mode & 0o777 == 0o600
    kept = key.rename(key.with_suffix(".away"))
    other = world.service(allow_sensitive=True)
    with pytest.raises(AgenvoyError) as caught:
        other.undo()
    assert caught.value.code == "not_restorable" and "sensitive.key" in caught.value.message
    assert [f.kind for f in verify(other.session.log)[0]] == ["blob"]
    kept.rename(key)
    other.undo()
    assert (world.root / ".env").read_text() == "KEY=first-secret\n"


def test_a_key_that_cannot_be_used_refuses_changes_before_they_are_made(sealed: Service, world: World) -> None:
    Path(sealed.settings.key_file).parent.mkdir(parents=True, exist_ok=True)
    Path(sealed.settings.key_file).write_bytes(b"short")
    with pytest.raises(AgenvoyError) as caught:
        sealed.remove_file(".env")
    assert caught.value.code == "not_available" and (world.root / ".env").exists()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 3 << 20), st.data())
def test_sealed_bytes_come_back_whole_and_never_altered(tmp_path_factory: pytest.TempPathFactory, size: int,
                                                       data: st.DataObject) -> None:  # fmt: skip
    ring = Keyring(str(tmp_path_factory.mktemp("k") / "key"))
    content = os.urandom(size)
    sealed = b"".join(ring.seal([content[: size // 3], content[size // 3 :]]))
    assert b"".join(ring.unseal([sealed[:5], sealed[5:]])) == content
    at = data.draw(st.integers(0, len(sealed) - 1))
    broken = data.draw(st.sampled_from([sealed[:at], sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]]))
    with pytest.raises(ValueError):
        b"".join(ring.unseal([broken]))


def test_a_blob_that_cannot_be_sealed_stays_as_it_was(tmp_path: Path) -> None:
    blobs = FileBlobs(str(tmp_path / "objects"))
    kept = blobs.put([b"x" * 100_000])
    with pytest.raises(KeyMissing):
        blobs.seal(kept.name)
    assert b"".join(blobs.open(kept.name, kept.codec)) == b"x" * 100_000
