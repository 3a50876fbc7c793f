"""Bombs and traps: refused, or read without what cannot be read, in bounded time and memory."""

import io
import struct
import time
import zipfile
import zlib

import pytest
from reading import FIXTURES, read

from agenvoy.errors import AgenvoyError
from agenvoy.readers import remote

SECONDS = 5  # the most that a refusal may take
MEMORY = 1_200_000_000  # bytes that no process may exceed


def package(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, body in parts.items():
            with out.open(name, "w") as part:
                for block in body if isinstance(body, list) else [body]:
                    part.write(block if isinstance(block, bytes) else block.encode())
    return path


def document(tmp_path, body):
    head = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    return package(tmp_path / "b.docx", {"word/document.xml": [head, *body, "</w:body></w:document>"]})


def sheet(tmp_path, rows):
    names = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rels = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    return package(
        tmp_path / "b.xlsx",
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": f'<Relationships {rels}><Relationship Id="a" Type="{links}/officeDocument"'
            ' Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook {names} xmlns:r="{links}"><sheets><sheet name="S" sheetId="1" r:id="b"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships {rels}><Relationship Id="b" Type="{links}/worksheet"'
            ' Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": [f"<worksheet {names}><sheetData>", *rows, "</sheetData></worksheet>"],
        },
    )


def refused(path) -> str:
    """The code of the refusal, which must come in time and leave no large worker behind."""
    begun = time.monotonic()
    with pytest.raises(AgenvoyError) as error:
        read(path)
    assert time.monotonic() - begun < SECONDS
    assert all(peak(pid) < MEMORY for pid in remote.DOCUMENTS.pids())
    return error.value.code


def peak(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def test_a_word_document_of_300_mb_of_xml(tmp_path):
    assert refused(document(tmp_path, [b"<w:p/>" * 100_000] * 500)) == "too_large"


def test_a_document_whose_archive_lies_about_its_size(tmp_path):
    path = document(tmp_path, [b"<w:p/>" * 100_000] * 500)
    data = path.read_bytes()
    size = struct.pack("<I", 100_000 * 500 * 6 + len(
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    ) + len("</w:body></w:document>"))  # fmt: skip
    assert size in data
    path.write_bytes(data.replace(size, struct.pack("<I", 1000)))
    assert refused(path) in ("too_large", "corrupt_document")


def test_tables_within_tables_without_end(tmp_path):
    deep = "<w:tbl><w:tr><w:tc>" * 3000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 3000
    assert "damaged" in read(document(tmp_path, [deep])).text


@pytest.mark.parametrize("kind", ["docx", "xlsx"])
def test_entities_are_never_expanded(tmp_path, kind):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    body = bomb + "]><w:document xmlns:w='w'><w:body><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:body></w:document>"
    name = "word/document.xml" if kind == "docx" else "xl/workbook.xml"
    assert refused(package(tmp_path / f"b.{kind}", {name: body})) == "corrupt_document"


def test_an_external_entity_is_never_fetched(tmp_path):
    (tmp_path / "secret.txt").write_text("a secret of the disk")
    body = (
        f'<!DOCTYPE w [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]><w:document xmlns:w="w"><w:body><w:p><w:r>'
        "<w:t>&x;</w:t></w:r></w:p></w:body></w:document>"
    )
    assert refused(package(tmp_path / "b.docx", {"word/document.xml": body})) == "corrupt_document"


def test_a_sheet_of_300_mb_of_xml(tmp_path):
    row = b'<row><c t="inlineStr"><is><t>x</t></is></c></row>' * 10_000
    assert refused(sheet(tmp_path, [row] * 620)) == "too_large"


def test_a_sheet_with_one_cell_in_its_last_corner(tmp_path):
    corner = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    assert refused(sheet(tmp_path, [corner])) in ("too_large", "corrupt_document")


def test_a_picture_of_a_thousand_million_pixels():
    assert refused(FIXTURES / "image/bomb.png") == "too_large"


def test_a_page_that_unpacks_to_300_mb_costs_that_page(tmp_path):
    path = tmp_path / "b.pdf"
    data = (FIXTURES / "pdf/report.pdf").read_bytes()
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(bytes(10_000_000)) for _ in range(30)) + packer.flush()
    at, end = data.index(b"stream\n", data.index(b"7 0 obj")) + 7, data.index(b"\nendstream", data.index(b"7 0 obj"))
    length = data.rindex(b"/Length ", 0, at) + 8
    stop = data.index(b" ", length)
    path.write_bytes(data[:length] + b"%d" % len(bomb) + data[stop:at] + bomb + data[end:])
    begun = time.monotonic()
    got = read(path)
    assert "page 1" in got.text and "page 3" in got.text and "could not be read" in got.text
    assert time.monotonic() - begun < SECONDS and all(peak(pid) < MEMORY for pid in remote.DOCUMENTS.pids())


def test_a_page_tree_that_holds_itself(tmp_path):
    path = tmp_path / "b.pdf"
    path.write_bytes((FIXTURES / "pdf/report.pdf").read_bytes().replace(b"/Kids [4 0 R", b"/Kids [2 0 R"))
    got = read(path)
    assert "page 2" in got.text and got.total == 3


def test_an_image_beyond_ten_mib_is_refused_unread(tmp_path):
    path = tmp_path / "b.png"
    path.write_bytes((FIXTURES / "image/pear.png").read_bytes() + bytes(11 << 20))
    assert refused(path) == "too_large"


def test_a_large_image_is_scaled_down_for_the_model(tmp_path):
    from PIL import Image

    Image.effect_noise((5000, 3000), 90).save(tmp_path / "b.png", compress_level=1)
    if (tmp_path / "b.png").stat().st_size > 10 << 20:
        Image.effect_noise((5000, 3000), 90).convert("L").save(tmp_path / "b.png", "JPEG", quality=40)
    got = read(tmp_path / "b.png")
    with Image.open(io.BytesIO(got.images[0].data)) as shown:
        assert max(shown.size) == 2048
    assert "5,000" in got.text or "5000 × 3000" in got.text


def test_what_is_nested_too_deep_is_told_and_never_a_silent_gap(tmp_path):
    inner = "<w:smartTag>" * 3000 + "x" + "</w:smartTag>" * 3000
    got = read(document(tmp_path, ["<w:p><w:r><w:t>Before</w:t></w:r></w:p><w:p>", inner, "</w:p>"]))
    assert "Before" in got.text and "damaged" in got.text


@pytest.mark.parametrize("cell", ['"x",', "x,", '"x'])
def test_a_table_of_one_line_without_end_is_read_in_time(tmp_path, cell):
    path = tmp_path / "b.csv"
    path.write_text("a,b\n" + cell * (24_000_000 // len(cell)) + '\n1,"two\nlines"\n')
    begun = time.monotonic()
    assert read(path).total == 3
    assert read(path, offset=3).text.endswith('3\t1,"two\nlines"')
    assert time.monotonic() - begun < 2 * SECONDS


@pytest.mark.parametrize("name", ["ods/stock.ods", "odt/letter.odt", "epub/book.epub"])
def test_a_package_whose_kind_is_packed_too_is_still_read(tmp_path, name):
    path = tmp_path / name.rpartition("/")[2]
    with zipfile.ZipFile(FIXTURES / name) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, old.read(member))
    assert read(path).text == read(FIXTURES / name).text
