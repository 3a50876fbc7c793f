"""The search index saves reading, and never changes an answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenvoy.catalog import grams
from agenvoy.config import Settings
from agenvoy.disk.jail import Jail
from agenvoy.workspace.find import find_files, rules_of
from agenvoy.workspace.indexing import Known, build, index_path
from agenvoy.workspace.service import Service

OLD = 1_600_000_000  # a time that no racing write shares


@pytest.fixture
def conf(tmp_path: Path) -> Settings:
    (tmp_path / "root").mkdir()
    return Settings(root=str(tmp_path / "root"), home=str(tmp_path / "home"))


def write(conf: Settings, name: str, text: str | bytes, when: int = OLD) -> Path:
    path = Path(conf.root) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (when, when))
    return path


def age(conf: Settings) -> None:
    """Wait until what was written is no longer too young: the change time cannot be set back."""
    probe = Path(conf.root) / ".probe"
    newest = max(os.lstat(p).st_ctime_ns for p in Path(conf.root).rglob("*"))
    while not probe.exists() or os.lstat(probe).st_ctime_ns <= newest + 100_000_000:
        probe.write_text("x")
    probe.unlink()


def made(conf: Settings) -> dict[str, Any]:
    jail = Jail(conf)
    return build(jail, rules_of(jail, lambda: False), lambda done: None)


def found(conf: Settings, pattern: str, **options: Any) -> list[tuple[str, int]]:
    asked = {"mode": "search", "queries": [{"pattern": pattern}], "limit": 10_000, **options}
    answers = [find_files(Jail(conf), **asked, index=index) for index in ("", index_path(conf))]
    assert answers[0] == answers[1]
    return [(row["path"], row["count"]) for row in answers[1]["rows"]]


def test_an_indexed_file_without_the_text_is_not_read_again(conf: Settings) -> None:
    write(conf, "a", "needle\n")
    write(conf, "b", "hay\n")
    age(conf)
    assert made(conf)["indexed"] == 2
    fd = os.open(conf.root, os.O_RDONLY)
    known = Known(index_path(conf), ["needle"])
    assert known.unknown(conf.root, fd, ["a", "b", "c"]) == ["a", "c"]
    known.close()
    os.close(fd)


def test_changes_since_the_building_are_found(conf: Settings) -> None:
    for name in ("changed", "touched", "gone", "kept"):
        write(conf, name, "hay\n")
    age(conf)
    made(conf)
    write(conf, "changed", "now\n")  # of the same length, and its time set back
    write(conf, "touched", "hay\n", OLD + 1)
    write(conf, "d/new", "now\n")
    os.unlink(Path(conf.root) / "gone")
    assert found(conf, "now") == [("changed", 1), ("d/new", 1)]


def test_case_is_folded_as_far_as_ascii_goes(conf: Settings) -> None:
    write(conf, "a", "NEEDLE\n")
    write(conf, "b", "\u212aELVIN de\u017fk\n")
    age(conf)
    made(conf)
    assert found(conf, "(?i)needle") == [("a", 1)]
    assert found(conf, "needle", case_sensitive=False) == [("a", 1)]
    assert found(conf, "(?i)kelvin") == [("b", 1)]
    assert found(conf, "(?i)desk") == [("b", 1)]


def test_a_file_in_another_encoding_is_found_with_the_index_too(conf: Settings) -> None:
    write(conf, "wide", "needle\n".encode("utf-16"))
    write(conf, "latin", "caf\xe9 needle\n".encode("latin-1"))
    write(conf, "binary", b"\0needle")
    age(conf)
    made(conf)
    assert found(conf, "needle") == [("latin", 1), ("wide", 1)]


def test_sensitive_files_never_enter_the_index(conf: Settings) -> None:
    secret = write(conf, ".env", "SECRETWORD=1\n")
    os.link(secret, Path(conf.root) / "innocent")
    write(conf, "a", "hay\n")
    age(conf)
    made(conf)
    with grams.reading(index_path(conf)) as index:
        assert index is not None
        assert index.holding(["secretword"]) == set()
        assert len(index.holding(["hay"])) == 1


def test_what_becomes_sensitive_leaves_the_index(conf: Settings) -> None:
    write(conf, "my.vault", "SECRETWORD=1\n")
    age(conf)
    made(conf)
    stricter = Settings(root=conf.root, home=conf.home, sensitive=(*conf.sensitive, "*.vault"))
    made(stricter)
    with grams.reading(index_path(conf)) as index:
        assert index is not None
        assert index.holding(["secretword"]) == set()


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "unsealed"])
def test_a_damaged_index_is_not_used_and_made_anew(conf: Settings, damage: str) -> None:
    write(conf, "a", "needle\n")
    age(conf)
    made(conf)
    path = Path(index_path(conf))
    if damage == "cut":
        os.truncate(path, 5000)
    elif damage == "changed":
        path.write_bytes(path.read_bytes().replace(b"nee", b"xee"))
    else:
        (path if damage == "gone" else Path(f"{path}.seal")).unlink()
    assert found(conf, "needle") == [("a", 1)]
    assert not Known(str(path), ["needle"]).there
    assert made(conf)["indexed"] == 1
    assert found(conf, "needle") == [("a", 1)]


def test_an_index_that_is_mostly_waste_is_built_from_nothing(conf: Settings) -> None:
    for n in range(4):
        write(conf, "a", f"text {n}\n", OLD + n)
        age(conf)
        made(conf)
    with grams.reading(index_path(conf)) as index:
        assert index is not None
        assert int(index.fact("last")) < 3
    assert found(conf, "text 3") == [("a", 1)]


def test_the_service_builds_measures_and_removes_it(conf: Settings) -> None:
    write(conf, "a", "needle\n")
    age(conf)
    with Service(conf) as service:
        told = service.index().result
        assert (told["files"], told["indexed"]) == (1, 1)
        assert service.du().result["index_bytes"] > told["size"] > 0
        assert service.find_files([{"pattern": "needle"}], mode="search").result["total"] == 1
        assert service.index(remove=True).result["removed"] > told["size"]
        assert service.du().result["index_bytes"] == 0


def test_gc_takes_away_the_index_of_a_workspace_that_is_gone(conf: Settings) -> None:
    write(conf, "a", "needle\n")
    stray = Path(conf.store) / "search" / "0123.db"
    stray.parent.mkdir(parents=True)
    stray.write_text("x")
    told = Settings(root=conf.root, home=conf.home, assume_yes=True)
    with Service(told) as service:
        service.index()
        assert service.gc(dry_run=True).result["bytes"] == 1
        service.gc()
    assert not stray.exists()
    assert Path(index_path(conf)).exists()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 9), st.sampled_from(["files", "content"]))
def test_the_pages_together_are_the_whole_while_times_are_touched(conf: Settings, limit: int, output: str) -> None:
    for n in range(12):
        write(conf, f"d{n % 3}/f{n}", "hit\nmiss\n" * (n % 4))
    whole = find_files(Jail(conf), mode="search", queries=[{"pattern": "hit"}], output=output, limit=10_000)["rows"]
    rows: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        page = find_files(
            Jail(conf), mode="search", queries=[{"pattern": "hit"}], output=output, offset=offset, limit=limit
        )
        rows += page["rows"]
        offset = page["next_offset"]
        os.utime(Path(conf.root) / "d1" / "f4")
    assert rows == whole
