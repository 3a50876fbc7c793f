"""Jupyter notebooks by cell: kind, source, and what it put out as text."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from agenvoy.readers.base import Extract
from agenvoy.readers.extracting import bounded, corrupt
from agenvoy.readers.paging import Whole
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("ipynb")

FILE_BYTES = 128 * 1024 * 1024  # JSON takes some six times as much when it is read
OUTPUT = 20_000  # characters of one output that are shown; logs of a training run can be endless


def open_document(stream: BinaryIO, password: str | None) -> Whole:
    """Open a notebook of format 3 or 4; `password` is not used.

    Raises:
        AgenvoyError: corrupt_document, too_large.
    """
    data = bounded(stream, FILE_BYTES)
    try:
        book = json.loads(data)
        cells = book["cells"] if "cells" in book else [c for sheet in book["worksheets"] for c in sheet["cells"]]
        units = [_safe(cell) for cell in cells]
        language = book.get("metadata", {}).get("kernelspec", {}).get("language")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(f"it is no notebook ({type(error).__name__}: {error})") from error
    labels = {n: str(cell.get("cell_type", "")) for n, cell in enumerate(cells, 1) if isinstance(cell, dict)}
    extra = {"language": language} if language else {}
    return Whole(Extract("ipynb", "cell", "block", units, labels, [], extra, "has no cell with text"))


def _safe(cell: Any) -> str:
    """A cell's text; one that is broken costs itself and not the notebook."""
    try:
        return _cell(cell)
    except (AttributeError, TypeError, ValueError) as error:
        return f"[this cell is broken: {type(error).__name__}]"


def _cell(cell: dict[str, Any]) -> str:
    parts = [_joined(cell.get("source", cell.get("input", "")))]
    for output in cell.get("outputs") or []:
        text = _output(output)
        if text.strip():
            cut = f"\n[output cut: {OUTPUT} of {len(text)} characters shown]" if len(text) > OUTPUT else ""
            parts.append(f"[output]\n{text[:OUTPUT].rstrip()}{cut}")
    return "\n".join(part for part in parts if part)


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    if "text" in output:
        return _joined(output["text"])
    data = output.get("data") or {}
    if "text/plain" in data:
        return _joined(data["text/plain"])
    return "".join(f"[{kind}]" for kind in data)


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
