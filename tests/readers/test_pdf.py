import os

import pytest
from reading import FIXTURES, read

from agenvoy.readers import remote
from agenvoy.readers.pdf import plain


def test_ligatures_and_wide_letters_are_read_as_what_they_stand_for():
    assert plain("\ufb01eld o\ufb03ce \uff21\uff22\uff23 \ufefb") == "field office ABC \u0644\u0627"


def test_the_text_of_an_author_stays_as_it_is():
    assert plain("½ ² café ™ 東京") == "½ ² café ™ 東京"


def test_a_page_is_read_without_reading_the_others(tmp_path):
    data = (FIXTURES / "pdf/report.pdf").read_bytes()
    path = tmp_path / "r.pdf"
    path.write_bytes(data.replace(b"/Contents 5 0 R", b"/Contents 9 0 R"))  # page 1 shows what page 3 shows
    assert "page 3" in read(path, limit=1).text and "page 2" in read(path, offset=2, limit=1).text


@pytest.mark.parametrize("aged", [True, False])
def test_a_changed_file_is_opened_anew(tmp_path, aged):
    path = tmp_path / "r.pdf"
    path.write_bytes((FIXTURES / "pdf/report.pdf").read_bytes())
    if aged:
        os.utime(path, (1, 1))
    assert "page 1" in read(path, limit=1).text
    path.write_bytes((FIXTURES / "pdf/note.pdf").read_bytes())
    assert "A page with a note" in read(path, limit=1).text


def test_workers_that_read_documents_keep_few_files_open(tmp_path):
    for number in range(12):
        path = tmp_path / f"{number}.pdf"
        path.write_bytes((FIXTURES / "pdf/note.pdf").read_bytes())
        read(path)
    for pid in remote.DOCUMENTS.pids():
        assert len(os.listdir(f"/proc/{pid}/fd")) < 12
