"""What every format's reader must do, run over the sample files of `fixtures`."""

import pytest
from reading import FIXTURES, extract, read

from agenvoy.errors import CODES, AgenvoyError
from agenvoy.readers import READERS

# file: kind, unit, total, texts that must be found, in this order
SOUND = {
    "csv/orders.csv": ("csv", "row", 3, ["id;fruit;price", "pear;4,20", '"two\nlines"']),
    "csv/towns.tsv": ("csv", "row", 3, ["town\tpeople", "Zürich\t420000", "Aarhus"]),
    "pdf/report.pdf": ("pdf", "page", 4, ["page 1", "page 2", "page 3", "[page 4 of 4: no text]"]),
    "pdf/note.pdf": ("pdf", "page", 1, ["A page with a note", "[annotation] Check the pear prices"]),
    "docx/minutes.docx": (
        "docx",
        "line",
        13,
        [
            "[header] Orchard society",
            "We planted ten trees.",
            "[footnote] Counted in March.",
            "[comment by Ada] Are we sure?",
            "Chosen: pear (linked)",
            "梨(なし)",
            "Text in a box",
            "wide cell",
            "left | nested cell",
            "a) first step",
            "b) second step",
        ],
    ),
    "docx/strict.docx": ("docx", "line", 1, ["In the strict form"]),
    "pptx/talk.pptx": (
        "pptx",
        "slide",
        3,
        [
            "Pears in winter",
            "A short talk",
            "[notes] Smile at the audience",
            "[slide 2 of 3, hidden]",
            "Kind | Price",
            "Conference | 4.20",
            "Inside a group",
            "Crates: March: 3, April: 5",
        ],
    ),
    "pptx/title.pptx": ("pptx", "slide", 1, ["Only a title"]),
    "xlsx/stock.xlsx": (
        "xlsx",
        "row",
        5,
        ["[sheet Stock]", "pear\t12\t2026-03-01", "24", "[comment A2] The hard ones", "hidden", "secret price"],
    ),
    "xlsx/one.xlsx": ("xlsx", "row", 1, ["lonely cell"]),
    "ods/stock.ods": ("ods", "row", 2, ["fruit", "medlar"]),
    "ods/one.ods": ("ods", "row", 1, ["single"]),
    "odt/letter.odt": (
        "odt",
        "line",
        5,
        ["Dear grower", "The pears arrived.", "[footnote] Picked by hand.", "• water", "medlar | 3 kg"],
    ),
    "odt/short.odt": ("odt", "line", 1, ["One line only"]),
    "odp/talk.odp": ("odp", "slide", 2, ["Grafting", "[notes] Speak slowly", "Thank you"]),
    "odp/one.odp": ("odp", "slide", 1, ["A single slide"]),
    "epub/book.epub": ("epub", "chapter", 2, ["The garden", "It was late.", "The gate & the wall"]),
    "epub/leaf.epub": ("epub", "chapter", 1, ["One chapter"]),
    "rtf/letter.rtf": ("rtf", "line", 3, ["Dear grower,", "the pears are ripe: 3 €.", "梨"]),
    "rtf/one.rtf": ("rtf", "line", 1, ["One line only"]),
    "ipynb/count.ipynb": ("ipynb", "cell", 2, ["# Pears", "print(6 * 7)", "[output]", "42"]),
    "ipynb/one.ipynb": ("ipynb", "cell", 1, ["counted"]),
    **{
        f"image/pear.{suffix}": ("image", "image", 1, [f"[{suffix.upper()} image"])
        for suffix in ("png", "gif", "webp", "bmp", "tiff", "ico")
    },
    "image/turned.jpg": ("image", "image", 1, ["[JPEG image, 40 × 60 pixels, turned upright]"]),
}
REFUSED = {
    "pdf/broken.pdf": "corrupt_document",
    "pdf/scan.pdf": "no_text",
    "pdf/locked.pdf": "encrypted_document",
    "image/broken.jpg": "corrupt_document",
    "image/bomb.png": "too_large",
    "rtf/broken.rtf": "no_text",
    "ipynb/broken.ipynb": "corrupt_document",
    **{f"{kind}/broken.{kind}": "corrupt_document" for kind in ("docx", "pptx", "xlsx", "ods", "odt", "odp", "epub")},
    "ole/locked.pptx": "encrypted_document",
    "ole/locked.xlsx": "encrypted_document",
    "ole/broken.pptx": "corrupt_document",
    "media/broken.mp3": "corrupt_document",
    "media/broken.mp4": "corrupt_document",
    "media/mute.mp4": "no_audio",
    "media/silence.wav": "no_text",
}
PAGED = [name for name, (_, _, total, _) in SOUND.items() if total > 1]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_file_gives_its_text_in_order(name):
    kind, unit, total, texts = SOUND[name]
    got = read(FIXTURES / name)
    assert (got.kind, got.unit, got.total, got.first, got.last, got.next_offset) == (kind, unit, total, 1, total, None)
    places = [got.text.find(text) for text in texts]
    assert -1 not in places, got.text
    assert places == sorted(places), got.text


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_file_is_refused_with_its_path_and_a_hint(name):
    with pytest.raises(AgenvoyError) as error:
        read(FIXTURES / name)
    assert error.value.code == REFUSED[name] and error.value.code in CODES
    assert name.rpartition("/")[2] in error.value.message and error.value.hint


@pytest.mark.parametrize("name", PAGED)
def test_pages_follow_each_other_without_gap_or_repetition(name):
    whole, at, seen = read(FIXTURES / name), 1, []
    while at is not None:
        got = read(FIXTURES / name, offset=at, limit=1)
        assert (got.first, got.last, got.total) == (at, at, whole.total)
        assert got.next_offset is None or f"offset={got.next_offset}" in got.text
        seen.append(at)
        at = got.next_offset
    assert seen == list(range(1, whole.total + 1))


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("wish", [{"offset": 0}, {"offset": 99}])
def test_an_offset_that_the_file_does_not_have_is_refused_with_the_total(name, wish):
    with pytest.raises(AgenvoyError) as error:
        read(FIXTURES / name, **wish)
    assert error.value.code == "invalid_arguments" and error.value.details["total"] == SOUND[name][2]


@pytest.mark.parametrize("name", [n for n in SOUND if not n.startswith("image/")])
def test_the_whole_text_has_the_units_that_pages_have(name):
    got = extract(FIXTURES / name)
    assert len(got.units) == SOUND[name][2]
    for number, text in enumerate(got.units, 1):
        assert text.rstrip("\n") in read(FIXTURES / name, offset=number, limit=1).text


def test_every_format_has_two_sound_files_and_a_broken_one():
    folders = {name.partition("/")[0] for name in SOUND} | {"media"}
    assert folders >= {kind for kind in READERS if kind not in ("text", "ole")}
    for folder in folders - {"csv", "media"}:
        assert sum(name.startswith(folder + "/") for name in SOUND) >= 2
        assert sum(name.startswith(folder + "/") for name in REFUSED) >= 1


@pytest.mark.parametrize(
    ("name", "kind", "text"), [("ole/locked.pptx", "pptx", "Only a title"), ("ole/locked.xlsx", "xlsx", "lonely")]
)
def test_the_password_opens_an_encrypted_office_document(name, kind, text):
    got = read(FIXTURES / name, password="quince")
    assert got.kind == kind and text in got.text
    with pytest.raises(AgenvoyError) as error:
        read(FIXTURES / name, password="pear")
    assert error.value.code == "encrypted_document"
