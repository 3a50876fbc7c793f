"""Which delimiter and quote a table of text uses, found by trying each on the first records.

A delimiter is good where it cuts every record into the same number of fields (more than one), and the fields look like
values: numbers, dates, words. That tells decimal commas from separators, and tabs inside quotes from tabs between.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

DELIMITERS = (",", ";", "\t", "|", "\x01", "^", "~", ":")  # in order of preference where two fit equally well
_SAMPLE = 65536  # characters that are looked at
_RECORDS = 200  # records of the sample that are counted
_NUMBER = re.compile(r"[-+]?[\d.,' \u00a0\u202f]*\d[\d.,]*(?:[eE][-+]?\d+)?\s?[%€$£¥]?|[€$£¥]\s?[-+]?\d[\d.,' ]*")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:?\d{2})?)?")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?")
_WORDS = re.compile(r"[^,;\t|\x01^~\"]*")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table is written.

    Args:
        delimiter: what stands between fields; empty where there is one column only.
        quote: what encloses a field that holds delimiters, quotes or newlines.
        columns: fields of most records.
        header: whether the first record names the columns.
    """

    delimiter: str
    quote: str
    columns: int
    header: bool


def fields(record: str, delimiter: str, quote: str = '"') -> list[str]:
    """The fields of one record, quotes taken off; stray quotes are just characters."""
    out: list[str] = []
    at = 0
    while True:
        cell, at = _field(record, at, delimiter, quote)
        out.append(cell)
        if at > len(record):
            return out


def _field(record: str, at: int, delimiter: str, quote: str) -> tuple[str, int]:
    """One field, and where the next one begins (behind the record's end for the last)."""
    if record.startswith(quote, at):
        end = _closing(record, at + 1, quote)
        if end >= 0:
            rest = record.find(delimiter, end) if delimiter else -1
            rest = len(record) if rest < 0 else rest
            return record[at + 1 : end].replace(quote * 2, quote) + record[end + 1 : rest], rest + 1
    end = record.find(delimiter, at) if delimiter else -1
    end = len(record) if end < 0 else end
    return record[at:end], end + 1


def _closing(record: str, at: int, quote: str) -> int:
    """The quote that closes a field opened ahead of `at`; -1 where none does. Doubled quotes stand for one."""
    while (at := record.find(quote, at)) >= 0:
        if not record.startswith(quote, at + 1):
            return at
        at += 2
    return -1


def detect(sample: str, whole: bool, name: str = "") -> Dialect:
    """The dialect of a table.

    Args:
        sample: its first characters.
        whole: whether that is all; else the last record is not judged.
        name: its file name; `.tsv` and `.csv` only decide between what fits equally well.
    """
    sample = sample[:_SAMPLE]
    lines = [line for line in sample.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:_RECORDS] if line]
    if len(lines) > 1 and not whole:
        lines.pop()
    best = Dialect("", '"', 1, False)
    top = 0.0
    for delimiter in DELIMITERS:
        table = [fields(line, delimiter) for line in _joined(lines, delimiter)]
        score, columns = _score(table, delimiter)
        if delimiter == "\t" and name.lower().endswith((".tsv", ".tab")):
            score *= 1.05
        if score > top:
            top, best = score, Dialect(delimiter, '"', columns, _has_header(table))
    return best


def _joined(lines: list[str], delimiter: str) -> list[str]:
    """Records out of lines: a field that is open at a line's end goes on in the next."""
    out: list[str] = []
    pending = ""
    for line in lines:
        pending = f"{pending}\n{line}" if pending else line
        if not opens(pending, delimiter) or pending.count("\n") > 50:
            out.append(pending)
            pending = ""
    return out + ([pending] if pending else [])


def opens(record: str, delimiter: str, quote: str = '"') -> bool:
    """Whether a quoted field of the record is not closed in it, so that the record goes on in the next line."""
    if quote not in record:
        return False
    at = 0
    while at <= len(record):
        if record.startswith(quote, at) and _closing(record, at + 1, quote) < 0:
            return True
        _, at = _field(record, at, delimiter, quote)
    return False


def _score(table: list[list[str]], delimiter: str) -> tuple[float, int]:
    """How well a delimiter fits, 0 to 1, and the number of columns that it makes."""
    counts = Counter(map(len, table))
    counts.pop(1, None)
    if not counts:
        return 0.0, 1
    columns, same = max(counts.items(), key=lambda item: (item[1], item[0]))
    alike = same / len(table)
    cells = [cell.strip() for row in table for cell in row]
    clean = sum(_is_value(cell) for cell in cells) / len(cells)
    rare = 0.6 if delimiter in ":~^" else 1.0  # these stand inside values far more often than between them
    return alike * (0.3 + 0.7 * clean) * (1 - 0.25 / columns) * rare, columns


def _is_value(cell: str) -> bool:
    return not cell or any(form.fullmatch(cell) for form in (_NUMBER, _DATE, _TIME, _WORDS))


def _has_header(table: list[list[str]]) -> bool:
    """The first record names the columns: words, each once, and no number among them."""
    if len(table) < 2:
        return False
    names = [cell.strip() for cell in table[0]]
    words = [name for name in names if name]
    numbers = any(_NUMBER.fullmatch(n) or _DATE.fullmatch(n) for n in words)
    return bool(words) and not numbers and len(set(words)) == len(words)
