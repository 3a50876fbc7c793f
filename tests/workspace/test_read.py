import os

import pytest

from agenvoy.blobs.hashing import hash_bytes
from agenvoy.config import Settings
from agenvoy.disk.jail import Jail
from agenvoy.errors import AgenvoyError
from agenvoy.render.read import read_text
from agenvoy.workspace.read import read_files, read_one


@pytest.fixture
def root(tmp_path):
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def jail(root):
    return Jail(Settings(root=str(root), home=str(root.parent / "home")))


def one(jail, path, **request):
    return read_one(jail, {"path": str(path), **request}, confirm_sensitive=lambda place: None)


def refuse(place):
    raise AgenvoyError("confirmation_required", f"{place.shown} is sensitive")


def test_an_entry_tells_what_the_contract_says(root, jail):
    (root / "a").write_bytes(b"A\n")
    got = one(jail, "a")
    assert got.entry == {
        "path": "a", "kind": "text", "unit": "line", "total": 1, "from": 1, "to": 1, "next_offset": None,
        "text": "1\tA", "encoding": "utf-8", "newline": "lf", "size": 2, "error": None,
    }  # fmt: skip
    assert (got.hash, got.data, got.sensitive) == (hash_bytes(b"A\n"), b"A\n", False)


def test_the_hash_is_of_the_whole_file_whatever_part_was_asked_for(root, jail):
    data = b"row\n" * 600_000
    (root / "big").write_bytes(data)
    got = one(jail, "big", offset=500_000, limit=1)
    assert (got.hash, got.data, got.entry["total"]) == (hash_bytes(data), None, 600_000)


def test_special_files_are_never_opened(root, jail):
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(AgenvoyError) as caught:
            one(jail, name)
        assert caught.value.code == "not_a_file"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("d", "is_directory"),
        (".", "is_directory"),
        ("none", "not_found"),
        ("d/none", "not_found"),
        ("a/x", "not_found"),
        ("../up", "outside_workspace"),
    ],
)
def test_what_is_no_file_is_refused_by_name(root, jail, path, code):
    (root / "d").mkdir()
    (root / "a").write_bytes(b"A\n")
    with pytest.raises(AgenvoyError) as caught:
        one(jail, path)
    assert caught.value.code == code


def test_a_file_without_permission_is_refused(root, jail):
    (root / "a").write_bytes(b"A\n")
    (root / "a").chmod(0)
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    with pytest.raises(AgenvoyError) as caught:
        one(jail, "a")
    assert caught.value.code == "permission_denied"


def test_a_sensitive_file_is_asked_for_by_any_of_its_names_and_never_kept(root, jail):
    (root / ".env").write_bytes(b"KEY=1\n")
    (root / "plain").symlink_to(".env")
    for name in (".env", "plain"):
        with pytest.raises(AgenvoyError) as caught:
            read_one(jail, {"path": name}, confirm_sensitive=refuse)
        assert caught.value.code == "confirmation_required"
        allowed = one(jail, name)
        assert (allowed.sensitive, allowed.data) == (True, None)


def test_binary_tells_its_size_and_what_it_seems_to_be(root, jail):
    (root / "prog").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)))
    with pytest.raises(AgenvoyError) as caught:
        one(jail, "prog")
    assert caught.value.code == "binary_file"
    assert "263 bytes" in caught.value.message
    assert "ELF" in caught.value.message


def test_bytes_decide_what_a_file_is_not_its_suffix(root, jail):
    (root / "shot.png").write_bytes(b'{"a": 1}\n')
    with pytest.raises(AgenvoyError) as error:
        one(jail, "shot.png")
    assert error.value.code == "unsupported_type" and '{"a": 1}' in error.value.message
    (root / "note.pdf").write_bytes(b"only text\n")
    assert one(jail, "note.pdf").entry["text"] == "1\tonly text"


def test_one_bad_file_does_not_spoil_the_others(root, jail):
    (root / "a").write_bytes(b"A\n")
    remembered = []
    files = [{"path": "a"}, {"path": "gone"}, {"path": "a"}]
    result = read_files(
        jail,
        files,
        confirm_sensitive=refuse,
        remember=lambda request, entry: remembered.append((entry.place.shown, entry.hash)),
    )
    assert [e["path"] for e in result["files"]] == ["a", "gone", "a"]
    assert [e["error"] and e["error"]["code"] for e in result["files"]] == [None, "not_found", None]
    assert remembered == [("a", hash_bytes(b"A\n"))] * 2
    shown = read_text(result)
    assert "== a (lines 1-1 of 1) ==\n1\tA" in shown
    assert "== gone ==\nnot_found: " in shown


def test_a_call_fails_where_every_file_fails(root, jail):
    with pytest.raises(AgenvoyError) as caught:
        read_files(jail, [{"path": "x"}, {"path": "."}], confirm_sensitive=refuse, remember=lambda place, entry: None)
    assert caught.value.code == "not_found"
    assert [e["error"]["code"] for e in caught.value.document()["files"]] == ["not_found", "is_directory"]


def test_one_file_is_shown_as_its_own_text(root, jail):
    (root / "a").write_bytes(b"A\nB\n")
    result = read_files(jail, [{"path": "a", "limit": 1}], confirm_sensitive=refuse, remember=lambda place, entry: None)
    assert read_text(result) == "1\tA\n[lines 1-1 of 2; call again with offset=2 for more]"
