"""PDF by page: text, annotations and form values, through pypdf (whose own limits keep a stream below 75 MB)."""

from __future__ import annotations

import logging
import re
import signal
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, BinaryIO

from agenvoy.readers.extracting import corrupt, encrypted
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("pdf")

PAGE_S = 15  # seconds for one page; then that page is given up, not the document
OPEN_S = 8  # seconds to find the pages; sound files of 1,200 pages take a tenth of it
# Ligatures, presentation forms and full-width letters are how a page was printed, not what its text says.
_FORMS = re.compile("[\u2f00-\u2fdf\ufb00-\ufdff\ufe70-\ufefe\uff01-\uffef]+")
_MOST_PAGES = 100_000  # a page tree with more is a bomb


class _Late(Exception):
    """A page took too long."""


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """Interrupts Python code by a signal; a C loop is ended by the parent."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class PdfDocument:
    """An opened PDF."""

    kind, unit, style = "pdf", "page", "block"
    silent = "holds no text: it seems to be a scan"

    def __init__(self, pages: list[Any], attachments: list[str]) -> None:
        self._pages = pages
        self.labels: dict[int, str] = {}
        self.sections: list[tuple[int, str]] = []
        self.extra: dict[str, Any] = {"attachments": attachments} if attachments else {}

    @property
    def total(self) -> int:
        """How many pages there are."""
        return len(self._pages)

    def text(self, number: int) -> str:
        """The text of a page; a page that cannot be read says why."""
        try:
            with _within(PAGE_S):
                page = self._pages[number - 1]
                if page is None:
                    return "[this page could not be read: its object is missing or damaged]"
                parts = [plain(page.extract_text()), *_annotations(page)]
        except _Late:
            return f"[this page could not be read within {PAGE_S} s]"
        except MemoryError:
            return "[this page could not be read: it takes too much memory]"
        except Exception as error:  # noqa: BLE001 - one bad page costs that page only
            return f"[this page could not be read: {_reason(error)}]"
        return "\n".join(part.strip("\n") for part in parts if part.strip())


def open_document(stream: BinaryIO, password: str | None) -> PdfDocument:
    """Open a PDF.

    Raises:
        AgenvoyError: encrypted_document, corrupt_document.
    """
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with _within(OPEN_S):
            reader = PdfReader(stream, strict=False)
            if reader.is_encrypted and not reader.decrypt(password or ""):
                raise encrypted(password is not None)
            pages = _pages(reader)
            if not 0 < len(pages) <= _MOST_PAGES or not any(pages):
                raise corrupt("it has no pages" if not any(pages) else f"it has more than {_MOST_PAGES:,} pages")
            return PdfDocument(pages, _attachments(reader))
    except _Late:
        raise corrupt("its pages could not be found in time") from None
    except DependencyError as error:
        raise ImportError(str(error), name="cryptography") from error
    except (PyPdfError, RecursionError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise corrupt(_reason(error)) from error


_INHERITED = ("/Resources", "/MediaBox", "/CropBox", "/Rotate")


def _pages(reader: Any) -> list[Any]:
    """The pages in order, as page objects or, where one cannot be read, None.

    The tree is walked here and not by pypdf, which gives up the document where a node refers to itself.
    """
    found: list[Any] = []
    seen: set[int] = set()
    todo: list[tuple[Any, dict[str, Any]]] = [(reader.trailer["/Root"].get_object().raw_get("/Pages"), {})]
    while todo and len(found) <= _MOST_PAGES:
        reference, above = todo.pop()
        number = getattr(reference, "idnum", 0)
        node = _node(reference)
        if node is None or "/Kids" not in node:
            found.append(None if node is None else _page(reader, reference, node, above))
        elif number not in seen or not number:
            seen.add(number)
            inherited = {**above, **{name: node.raw_get(name) for name in _INHERITED if name in node}}
            kids = node["/Kids"].get_object()
            todo += [(kid, inherited) for kid in reversed(kids)] if isinstance(kids, list) else []
    return found


def _node(reference: Any) -> Any:
    """What a reference of the page tree means; None where that is no dictionary."""
    try:
        node = reference.get_object()
    except Exception:  # noqa: BLE001 - a broken object is one page that cannot be shown
        return None
    return node if isinstance(node, dict) else None


def _page(reader: Any, reference: Any, node: Any, above: dict[str, Any]) -> Any:
    from pypdf import PageObject
    from pypdf.generic import NameObject

    page = PageObject(reader, reference if hasattr(reference, "idnum") else None)
    page.update({NameObject(name): value for name, value in above.items()})
    page.update(node)
    return page


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200] if str(error) else type(error).__name__


def plain(text: str) -> str:
    """A page's text with printed forms as the letters they stand for, and without lone surrogates."""
    text = _FORMS.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _annotations(page: Any) -> list[str]:
    """Notes, free text and form values of a page, each marked."""
    out: list[str] = []
    for reference in page.get("/Annots") or []:
        try:
            note = reference.get_object()
            kind = str(note.get("/Subtype", ""))[1:]
            if kind == "Widget":
                out += _field(note)
            elif kind not in ("Popup", "Link"):
                text = str(note.get("/Contents") or "")
                out += [f"[{'annotation' if kind == 'FreeText' else kind.lower()}] {plain(text)}"] if text else []
        except Exception as error:  # noqa: BLE001 - one bad annotation costs that annotation only
            out.append(f"[an annotation could not be read: {_reason(error)}]")
    return out


def _field(widget: Any) -> list[str]:
    """A form field with its value; buttons that are off are not worth a line."""
    value, name = widget.get("/V"), widget.get("/T")
    parent = widget.get("/Parent")
    if parent is not None:
        parent = parent.get_object()
        value = parent.get("/V") if value is None else value
        name = parent.get("/T") if name is None else name
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")
    if not text or text == "/Off":
        return []
    return [f"[field {plain(str(name or ''))}] {plain(text.removeprefix('/') if text.startswith('/') else text)}"]


def _attachments(reader: Any) -> list[str]:
    try:
        return [plain(str(name)) for name in reader._list_attachments()][:200]
    except Exception:  # noqa: BLE001 - a broken name tree hides attachments, never pages
        return []
