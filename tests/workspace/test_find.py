"""find_files: what is listed, found by name and found by content."""

from __future__ import annotations

import itertools
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from agenvoy.config import Settings
from agenvoy.disk.jail import Jail
from agenvoy.errors import AgenvoyError
from agenvoy.render.find import find_text
from agenvoy.workspace.find import find_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def make(root: Path, files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def find(root: Path, *queries: dict[str, Any], **options: Any) -> dict[str, Any]:
    settings = Settings(root=str(root), home=str(root.parent / "home"))
    return find_files(Jail(settings), queries=list(queries) or [{}], **options)


def search(root: Path, pattern: str, **options: Any) -> dict[str, Any]:
    query = {"pattern": pattern, **{k: options.pop(k) for k in ("dir", "file_pattern") if k in options}}
    return find(root, query, mode="search", **options)


def paths(result: dict[str, Any]) -> list[str]:
    return [row["path"] for row in result["rows"]]


def hits(result: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(r["path"], r["line"], r["text"]) for r in result["rows"] if not r.get("context")]


def refused(root: Path, *queries: dict[str, Any], **options: Any) -> str:
    with pytest.raises(AgenvoyError) as caught:
        find(root, *queries, **options)
    assert caught.value.hint
    return caught.value.code


def test_the_mode_follows_from_the_queries(root: Path) -> None:
    make(root, {"a.py": "x\n", "z.txt": "x\n", "d/e": ""})
    assert paths(find(root, {"dir": "."})) == ["a.py", "d", "z.txt"]
    assert paths(find(root, {"pattern": "*.py"})) == ["a.py"]
    assert find(root, {"pattern": "x", "file_pattern": "*.py"})["rows"] == [{"path": "a.py", "count": 1, "lines": [1]}]


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "list", "queries": [{"pattern": "*.py"}]},
        {"mode": "glob", "queries": [{"pattern": "*.py", "file_pattern": "*.py"}]},
        {"mode": "search", "queries": [{"dir": "."}]},
        {"queries": []},
        {"queries": [{"file_pattern": "*.py"}]},
        {"queries": [{"dir": " "}]},
        {"mode": "search", "queries": [{"pattern": ""}]},
        {"mode": "glob", "queries": [{"pattern": "**/*"}]},
        {"mode": "search", "queries": [{"pattern": "x"}], "limit": 0},
        {"mode": "search", "queries": [{"pattern": "x"}], "offset": -1},
        {"mode": "search", "queries": [{"pattern": "x"}], "context": -1},
        {"mode": "search", "queries": [{"pattern": "x"}], "timeout_s": 0},
    ],
)
def test_arguments_that_contradict_each_other_are_refused(root: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(AgenvoyError) as caught:
        find_files(Jail(Settings(root=str(root), home=str(root.parent / "home"))), **arguments)
    assert (caught.value.code, bool(caught.value.hint)) == ("invalid_arguments", True)


def test_a_folder_outside_or_absent_is_refused(root: Path) -> None:
    assert refused(root, {"dir": "/"}) == "outside_workspace"
    assert refused(root, {"dir": "no"}) == "not_found"


def test_a_list_tells_kind_size_and_time(root: Path) -> None:
    make(root, {"f": "abc"})
    os.symlink("f", root / "l")
    os.utime(root / "f", (1_000_000_000, 1_000_000_000))
    first, second = find(root)["rows"]
    assert (first["kind"], first["size"]) == ("file", 3)
    assert first["modified_at"].startswith("2001-09-")
    assert second["kind"] == "link"


def test_a_glob_lists_the_newest_first_and_ties_by_path(root: Path) -> None:
    make(root, {"b.py": "", "a.py": "", "d/c.py": "", ".h.py": ""})
    for name, stamp in (("a.py", 5), ("b.py", 5), ("d/c.py", 9)):
        os.utime(root / name, (stamp, stamp))
    assert paths(find(root, {"pattern": "*.py"})) == ["d/c.py", "a.py", "b.py"]
    assert ".h.py" in paths(find(root, {"pattern": "*.py"}, hidden=True))


def test_queries_are_merged_without_doubles(root: Path) -> None:
    make(root, {"a.py": "one\ntwo\n", "d/b.py": "one\ntwo\n"})
    globbed = find(root, {"pattern": "*.py"}, {"dir": "d", "pattern": "*.py"})
    assert sorted(paths(globbed)) == ["a.py", "d/b.py"]
    found = find(root, {"pattern": "one"}, {"dir": "d", "pattern": "one|two"}, mode="search", output="content")
    assert hits(found) == [("a.py", 1, "one"), ("d/b.py", 1, "one"), ("d/b.py", 2, "two")]


def test_lists_stop_at_their_cap_and_say_what_was_dropped(root: Path) -> None:
    make(root, {f"{'d' * 200}/{i:03d}{'f' * 200}": "" for i in range(600)})
    result = find(root, {"recursive": True})
    assert len(result["rows"]) + result["dropped"] == 601
    text = find_text(result, {})
    assert len(text.encode()) <= 128 * 1024 + 400
    assert str(result["dropped"]) in text.splitlines()[-1]


def test_ignored_hidden_and_binary_files_are_counted_and_not_searched(root: Path) -> None:
    make(root, {".gitignore": "*.log\n", "a.log": "hit", ".h": "hit", "bin": b"hit\0", "f": "hit", ".git/x": "hit"})
    result = search(root, "hit")
    assert paths(result) == ["f"]
    assert result["skipped"] == {"binary": 1, "git": 1, "hidden": 2, "ignored": 1}
    assert paths(search(root, "hit", hidden=True, ignored=True)) == [".h", "a.log", "f"]


@pytest.mark.parametrize(
    "query", [{"dir": "out/x.log"}, {"file_pattern": "out/x.log"}, {"dir": "out", "file_pattern": "x.log"}]
)
def test_a_file_named_outright_is_searched_though_ignored(root: Path, query: dict[str, str]) -> None:
    make(root, {".gitignore": "out/\n*.log\n", "out/x.log": "hit\n", "y.log": "hit\n"})
    assert paths(search(root, "hit", **query)) == ["out/x.log"]


def test_sensitive_files_are_never_searched_under_any_name(root: Path) -> None:
    make(root, {".env": "K=hidden\n", "id_rsa.pub": "hidden\n", "id_rsa": "hidden"})
    os.symlink(".env", root / "notes.txt")
    os.link(root / ".env", root / "plain.txt")
    assert paths(search(root, "hidden")) == ["id_rsa.pub"]
    for named in (".env", "notes.txt", "plain.txt"):
        assert search(root, "hidden", file_pattern=named)["rows"] == []
        assert search(root, "hidden", dir=named)["skipped"]["sensitive"] == 1


def test_links_and_devices_are_not_opened(root: Path) -> None:
    make(root, {"run/a": "needle\n"})
    os.mkfifo(root / "run" / "fifo")
    os.symlink("/dev/zero", root / "z")
    os.symlink("run", root / "again")
    result = search(root, "needle")
    assert paths(result) == ["run/a"]
    assert (result["skipped"]["link"], result["skipped"]["special"]) == (2, 1)


@pytest.mark.parametrize(
    ("data", "line", "text"),
    [
        (b"x\r\nhit\r\n", 2, "hit"),
        (b"x\rhit\rz", 2, "hit"),
        (b"x\x0c\xe2\x80\xa8\x0by\nhit\n", 2, "hit"),
        (b"50%\r100%\nhit\n", 2, "hit"),
        ("ж\r\nhit\r\n".encode("utf-16"), 2, "hit"),
        ("ж\nhit\n".encode("utf-16-be"), 2, "hit"),
        ("漢字テスト\nhit\n".encode("shift-jis"), 2, "hit"),
        (b"\xef\xbb\xbfhit\n", 1, "hit"),
    ],
)
def test_rows_are_numbered_as_the_reader_numbers_them(root: Path, data: bytes, line: int, text: str) -> None:
    make(root, {"f": data})
    assert hits(search(root, "^hit$", output="content")) == [("f", line, text)]


def test_pages_are_stable_and_end_with_their_footer(root: Path) -> None:
    make(root, {f"{d}/{i}.txt": "hit\nx\n" * 7 for d in ("b", "a", "Z", "é") for i in range(4)} | {"a.txt": "hit"})
    got: list[str] = []
    for offset in (0, 7, 14):
        result = search(root, "hit", limit=7, offset=offset)
        got += paths(result)
        end = "last page]" if offset == 14 else f"call again with offset={offset + 7} for more]"
        assert find_text(result, {}).endswith(f"{offset + len(result['rows'])} of 17; {end}")
    assert got == sorted(got, key=os.fsencode)
    assert len(set(got)) == 17


def test_context_counts_neither_for_offset_nor_for_limit(root: Path) -> None:
    make(root, {"f": "".join("hit\n" if i in (10, 12, 50) else f"{i}\n" for i in range(1, 101))})
    first = search(root, "hit", output="content", context=2, limit=2)
    assert [(r["line"], bool(r.get("context"))) for r in first["rows"]] == [
        (8, True), (9, True), (10, False), (11, True), (12, False), (13, True), (14, True),
    ]  # fmt: skip
    assert (first["total"], first["next_offset"]) == (3, 2)
    assert [h[1] for h in hits(search(root, "hit", output="content", context=2, limit=2, offset=2))] == [50]


def test_a_search_without_time_says_where_it_stopped_and_skips_nothing(root: Path) -> None:
    make(root, {f"{i:03d}": "hit\n" for i in range(600)})
    ticks = itertools.count()
    result = search(root, "hit", now=lambda: float(next(ticks)), timeout_s=12, limit=1000)
    assert not result["complete"]
    assert 0 < len(result["rows"]) < 600
    assert result["next_offset"] == len(result["rows"])
    assert result["stopped_at"] == f"{len(result['rows']):03d}"
    assert paths(search(root, "hit", offset=result["next_offset"]))[0] == result["stopped_at"]
    assert "timeout_s" in find_text(result, {})


def test_a_large_file_is_searched_in_pieces(root: Path) -> None:
    with open(root / "f", "w", newline="") as file:
        file.writelines(f"{i} ".ljust(98, "x") + "\r\n" for i in range(300_000))
    result = search(root, "^(0|150000|299999) x+$", output="content")
    assert [h[1] for h in hits(result)] == [1, 150_001, 300_000]
    assert search(root, "99999 x*\\n1000", multiline=True)["rows"][0]["lines"] == [100_000, 100_001]


def test_a_huge_single_line_is_searched_in_bounded_memory(root: Path) -> None:
    with open(root / "f", "wb") as file:
        file.write(b"first\n")
        file.writelines(itertools.repeat(b"x" * 1_000_000, 100))
        file.write(b"needle" + b"y" * 100 + b"\nlast\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = search(root, "needley+$|^last", output="content")
    assert [h[1] for h in hits(result)] == [2, 3]
    assert len(result["rows"][0]["text"].encode()) <= 520
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_one_line_file_that_is_large_shows_only_the_match(root: Path) -> None:
    make(root, {"min.json": '{"p":"' + "x" * 60_000 + '","UNIQUE":"' + "y" * 60_000 + '"}'})
    ((path, line, text),) = hits(search(root, "UNIQUE", output="content"))
    assert (path, line) == ("min.json", 1)
    assert "UNIQUE" in text and len(text.encode()) <= 600


def test_the_text_never_breaks_lines_on_odd_names_or_controls(root: Path) -> None:
    make(root, {"new\nline": "a\x1b[31mhit\rb\n", "dir:name/f": "a:1:hit\n"})
    content = find_text(search(root, "hit", output="content"), {"output": "content"})
    assert content.splitlines() == [
        "dir:name/f", "1:a:1:hit", '"new\\nline"', "1:a\\x1b[31mhit\\rb", "[lines 1-2 of 2; last page]",
    ]  # fmt: skip
    assert find_text(search(root, "hit"), {}).splitlines()[1] == '"new\\nline"\t1 line: 1'


def test_a_name_that_is_not_utf8_is_spelled_so_that_it_can_be_read(root: Path) -> None:
    Path(os.fsdecode(os.path.join(os.fsencode(root), b"caf\xe9.txt"))).write_text("hit\n")
    assert paths(search(root, "hit")) == ["bytes:caf%E9.txt"]
    assert paths(search(root, "hit", dir="bytes:caf%E9.txt")) == ["bytes:caf%E9.txt"]
    assert paths(find(root, {"pattern": "*.txt"})) == ["bytes:caf%E9.txt"]


def test_the_store_is_never_looked_into(root: Path) -> None:
    make(root, {"home/.store/history.db": "hit\n", "f": "hit\n"})
    jail = Jail(Settings(root=str(root), home=str(root / "home")))
    result = find_files(jail, mode="search", queries=[{"pattern": "hit"}], hidden=True, ignored=True)
    assert (paths(result), result["skipped"]) == (["f"], {"store": 1})


def test_a_file_in_an_allowed_folder_is_shown_absolute(root: Path) -> None:
    other = root.parent / "other"
    make(other, {"g": "hit\n"})
    jail = Jail(Settings(root=str(root), home=str(root.parent / "home"), allow=(str(other),)))
    result = find_files(jail, mode="search", queries=[{"pattern": "hit", "dir": str(other)}])
    assert paths(result) == [str(other / "g")]


def test_a_document_is_searched_by_its_units_where_asked(root: Path) -> None:
    make(root, {"d.pdf": b"%PDF-1.7 \0", "f": "hit\n"})
    pages = [(1, "none\nhit"), (2, ""), (3, "hit here")]
    jail = Jail(Settings(root=str(root), home=str(root.parent / "home")))
    query = [{"pattern": "hit"}]

    def units(fd, shown, expired):
        return "page", pages

    found = find_files(jail, mode="search", queries=query, output="content", documents=True, units=units)
    assert hits(found) == [("d.pdf", 1, "hit"), ("d.pdf", 3, "hit here"), ("f", 1, "hit")]
    without = find_files(jail, mode="search", queries=query, units=units)
    assert (paths(without), without["skipped"]) == (["f"], {"document": 1})


def test_a_document_that_its_reader_refuses_is_counted_by_that_reason(root: Path) -> None:
    make(root, {"d.pdf": b"%PDF-1.7 \0"})

    def locked(fd: int, shown: str, expired: object) -> tuple[str, list[tuple[int, str]]]:
        raise AgenvoyError("encrypted_document", f"{shown} is encrypted")

    jail = Jail(Settings(root=str(root), home=str(root.parent / "home")))
    result = find_files(jail, mode="search", queries=[{"pattern": "x"}], documents=True, units=locked)
    assert result["skipped"] == {"encrypted_document": 1}
    assert "1 encrypted document" in find_text(result, {})


def test_a_folder_named_outright_is_looked_into_though_ignored(root: Path) -> None:
    make(root, {".gitignore": "out/\n", "out/deep/x": "hit\n", ".h/y": "hit\n"})
    assert paths(find(root, {"dir": "out"})) == ["out/deep"]
    assert paths(search(root, "hit", dir="out")) == ["out/deep/x"]
    assert paths(search(root, "hit", dir=".h")) == [".h/y"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_counted(root: Path) -> None:
    make(root, {"shut/x": "hit\n", "f": "hit\n"})
    (root / "shut").chmod(0)
    (root / "f").chmod(0)
    result = search(root, "hit")
    (root / "shut").chmod(0o700)
    assert (result["rows"], result["skipped"]) == ([], {"unreadable": 2})


def test_a_link_that_came_into_the_way_is_not_followed(root: Path) -> None:
    make(root.parent, {"outside/f": "hit\n"})
    make(root, {"d/f": "hit\n"})
    ticks = itertools.count()

    def swap() -> float:  # the clock is looked at between the listing of the root and the opening of the folder
        if next(ticks) == 3 and not (root / "d").is_symlink():
            (root / "d").rename(root / "gone")
            (root / "d").symlink_to(root.parent / "outside")
        return 0.0

    result = search(root, "hit", now=swap)
    assert (root / "d").is_symlink()
    assert (result["rows"], result["skipped"]) == ([], {"unreadable": 1})
