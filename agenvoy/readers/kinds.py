"""What a file is, by its bytes: which reader it belongs to, or why there is none."""

from __future__ import annotations

from agenvoy import textual
from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Source

# Formats that are documents, images, audio or video: a reader may exist. All other binary is just binary.
_DOCUMENTS = {"pdf", "docx", "pptx", "xlsx", "odt", "ods", "odp", "epub", "ole"}
_IMAGES = {"png", "jpeg", "gif", "webp", "bmp", "tiff", "avif", "psd", "ico"}
_SOUND = {"wav", "mp3", "flac", "ogg", "mp4", "matroska", "avi", "asf", "mpeg", "aiff", "flv"}
TABLES = {"csv", "tsv", "tab", "psv"}
_PICTURES = {"png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "heic", "avif", "ico"}
TEXTUAL = frozenset(
    {"text", "csv", "ipynb", "rtf"}
)  # kinds whose bytes are text: kept for later refusals, fit for `around`
_READABLE = _DOCUMENTS | {"heif"}
# A ZIP archive is what its members say; the names stand in clear at the start (local headers) or the end (directory).
_MEMBERS = (
    (b"word/document.xml", "docx", "a Word document"),
    (b"word/document", "docx", "a Word document"),
    (b"ppt/presentation.xml", "pptx", "a PowerPoint presentation"),
    (b"ppt/slides/", "pptx", "a PowerPoint presentation"),
    (b"xl/workbook.", "xlsx", "an Excel workbook"),
    (b"opendocument.text", "odt", "an OpenDocument text"),
    (b"opendocument.spreadsheet", "ods", "an OpenDocument spreadsheet"),
    (b"opendocument.presentation", "odp", "an OpenDocument presentation"),
    (b"application/epub+zip", "epub", "an EPUB book"),
)
_PACKED = {"odt": "an OpenDocument text", "ods": "an OpenDocument spreadsheet",
           "odp": "an OpenDocument presentation", "epub": "an EPUB book"}  # fmt: skip
_TAIL = 65536  # bytes; a directory of some hundred members fits


def kind_of(source: Source) -> tuple[str, str]:
    """Short name of what a file is, and the same in words.

    `text` for text in any encoding (`csv` and `ipynb` where the name says so), `misnamed` for text under a picture's
    name, `binary` for what has no reader by its nature.
    """
    name = textual.known_format(source.head)
    if name == "zip":
        shown = source.head[:_TAIL] + source.tail(_TAIL)
        for mark, kind, words in _MEMBERS:
            if mark in shown:
                return kind, words
        if b"mimetype" in shown and _suffix(source) in _PACKED:  # what it says of itself is packed
            return _suffix(source), _PACKED[_suffix(source)]
    if name in _IMAGES:
        return "image", textual.looks_like(source.head)
    if name in _SOUND:
        return "media", textual.looks_like(source.head)
    if name in _READABLE:
        return name, textual.looks_like(source.head)
    if textual.sniff(source.head, source.whole) is not None:
        return _text_kind(source)
    if _suffix(source) in TABLES and form_of_table(source) is not None:
        return "csv", "a table"
    return "binary", textual.looks_like(source.head)


def _suffix(source: Source) -> str:
    return source.shown.rpartition(".")[2].lower()


def form_of_table(source: Source) -> textual.TextForm | None:
    """The form of a table of text, which may hold NUL: programs that write C strings or empty fields leave some.

    None where it is binary: a known format, or NUL in more than one byte of four.
    """
    head = source.head
    form = textual.sniff(head, source.whole)
    if form is not None or textual.known_format(head):
        return form
    clean = head.replace(b"\0", b"")
    return textual.sniff(clean, source.whole) if clean and (len(head) - len(clean)) * 4 <= len(head) else None


def _text_kind(source: Source) -> tuple[str, str]:
    """Text, or what the name says of it: bytes tell text from the rest, but not a table from prose."""
    if source.head.startswith(b"{\\rtf"):
        return "rtf", "a rich text"
    suffix = _suffix(source)
    if not source.head.strip():
        return "text", "text"
    if suffix in TABLES:
        return "csv", "a table"
    if suffix == "ipynb" and b'"cells"' in source.head and source.head.lstrip()[:1] == b"{":
        return "ipynb", "a Jupyter notebook"
    if suffix in _PICTURES:
        return "misnamed", f"text under a name that ends in .{suffix}"
    return "text", "text"


def no_reader(source: Source, kind: str, words: str) -> AgenvoyError:
    """The refusal of a file that this version cannot show."""
    if kind == "binary":
        return AgenvoyError(
            "binary_file",
            f"{source.shown} is binary ({source.size:,} bytes; it seems to be {words})",
            "read a text or a document; to look into this one use a program made for it",
            size=source.size,
            seems=words,
        )
    if kind == "misnamed":
        begin = source.head[:60].decode("utf-8", "replace").split("\n")[0]
        return AgenvoyError(
            "unsupported_type",
            f"{source.shown} is not an image but {words}; it begins with {begin!r}",
            "copy it to a name that ends in .txt to read it as text",
            size=source.size,
        )
    return AgenvoyError(
        "unsupported_type",
        f"{source.shown} is {words} ({source.size:,} bytes), which this version does not read",
        "convert it to text first, for example with `agenvoy run -- COMMAND`",
        size=source.size,
        seems=words,
    )
