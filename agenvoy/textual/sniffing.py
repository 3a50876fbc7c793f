"""Which text these bytes are: by mark, as UTF-8, as UTF-16 without a mark, then by what languages look like."""

from __future__ import annotations

import codecs
import re
import unicodedata

from agenvoy.textual.alphabets import CJK_PUNCTUATION, FREQUENT, INSIDE, MULTI_BYTE, PUNCTUATION, RARE, SINGLE_BYTE
from agenvoy.textual.form import TextForm, newline_style
from agenvoy.textual.magic import known_format

NUL_WINDOW = 8192  # bytes; git's and grep's habit: a NUL in the first 8 KiB means binary
SAMPLE = 65536  # bytes that are looked at for controls and for UTF-16
JUDGED = 6144  # bytes of lines beyond ASCII by which a legacy encoding is judged; more does not better the verdict
LIKELY = 0.55  # least score of an encoding; wrong ones stay below 0.5 on all samples of the tests

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HIGH = re.compile(rb"[\x80-\xff]")
_ASCII = re.compile("[\x00-\x7f]")
_LEADS = bytes(range(0xC0, 0x100))  # each multi-byte character of UTF-8 has one
# Controls that no text holds; BEL, BS, TAB, LF, VT, FF, CR and ESC occur in logs of terminals.
_CONTROLS = bytes({*range(0x00, 0x07), *range(0x0E, 0x1B), *range(0x1C, 0x20)})


def sniff(head: bytes, whole: bool) -> TextForm | None:
    """The form of the text that begins with `head`; None for binary.

    Args:
        head: the first bytes, or all of them. 8 KiB decide about NUL; 64 KiB are enough for encodings.
        whole: whether `head` is everything. Otherwise a character cut at its end never counts against a text.
    """
    marked = _by_mark(head, whole)
    if marked or not head:
        return marked or TextForm("utf-8", b"", "none")
    if known_format(head):
        return None
    if b"\0" in head[:NUL_WINDOW]:
        return _utf16(head[:SAMPLE], whole and len(head) <= SAMPLE)
    utf8 = _utf8(head, whole)
    if utf8:
        # So many controls are no text; a table that separates fields by them (^A) stays one.
        return utf8 if _controls(head) * 3 <= len(head) or utf8.errors != "strict" else _utf16(head, whole)
    sample = head[:SAMPLE]
    if _controls(sample) * 20 > len(sample):  # random bytes hold 10 %, legacy texts next to none
        return _utf16(sample, whole and len(head) <= SAMPLE)
    wide = _utf16(head[:2048], whole and len(head) <= 2048)  # ideographs alone hold no NUL
    if wide:
        return _form(wide.encoding, b"", head)
    encoding = _legacy(head, whole)
    return _form(encoding, b"", head) if encoding else None


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, _CONTROLS))


def _form(encoding: str, bom: bytes, head: bytes, errors: str = "strict") -> TextForm:
    """A form whose newlines are counted in `head`."""
    body = head[len(bom) :]
    if encoding.startswith("utf-16") or encoding.startswith("utf-32"):
        text = body.decode(encoding, "replace")
        return TextForm(encoding, bom, newline_style(text.count("\n"), text.count("\r\n"), text.count("\r")), errors)
    return TextForm(encoding, bom, newline_style(body.count(b"\n"), body.count(b"\r\n"), body.count(b"\r")), errors)


def _decodes(data: bytes, encoding: str, final: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(data, final)
    except UnicodeDecodeError:
        return None


def _by_mark(head: bytes, whole: bool) -> TextForm | None:
    """A marked text is what its mark says, even where some of it is damaged; UTF-32 must decode (FF FE 00 00)."""
    for bom, encoding in _MARKS:
        if not head.startswith(bom):
            continue
        clean = _decodes(head[len(bom) :], encoding, whole) is not None
        if encoding.startswith("utf-32") and not clean:
            continue
        if encoding == "utf-8" and b"\0" in head[:NUL_WINDOW]:
            return None
        damaged = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
        return _form(encoding, bom, head, "strict" if clean else damaged)
    return None


def _utf8(head: bytes, whole: bool) -> TextForm | None:
    """UTF-8, also with a few stray bytes: where good multi-byte characters outnumber the bad bytes by far."""
    if head.isascii() or _decodes(head, "utf-8", whole) is not None:
        return _form("utf-8", b"", head)
    clean = head.decode("utf-8", "ignore").encode()
    stray = len(head) - len(clean)
    good = len(clean) - len(clean.translate(None, _LEADS))
    return _form("utf-8", b"", head, "surrogateescape") if good > 2 * stray else None


def _utf16(head: bytes, whole: bool) -> TextForm | None:
    """UTF-16 without a mark: it decodes, holds no controls, and most of it is ASCII or a frequent script."""
    best: tuple[float, str] = (0.6, "")
    if whole and len(head) % 2:
        return None
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _decodes(head, encoding, whole)
        score = _plain(text) if text else 0.0
        if score > best[0]:
            best = (score, encoding)
    return _form(best[1], b"", head) if best[1] else None


def _plain(text: str) -> float:
    """The share of characters that running text is made of; 0 where there is one that no text holds."""
    good = 0
    for char in text:
        code = ord(char)
        if char in "\t\n\r\f" or 0x20 <= code < 0x7F or char in FREQUENT or char in CJK_PUNCTUATION:
            good += 1
        elif code < 0x20 or 0x7F <= code < 0xA0 or unicodedata.category(char) in ("Cn", "Co", "Cs"):
            return 0.0
        elif 0xA0 <= code < 0x180 or 0x370 <= code < 0x700 or 0x900 <= code < 0xE80 or char in PUNCTUATION:
            good += 1
        elif 0x4E00 <= code < 0xA000 or 0xAC00 <= code < 0xD7A4:
            good += 0  # two ASCII letters read as one character lie here, so only the frequent ones count
    return good / len(text)


def _telling(head: bytes, whole: bool) -> tuple[bytes, bool]:
    """The lines that hold more than ASCII, as many as are judged, and whether the last is complete.

    ASCII says nothing about the encoding, so a text whose first accent comes late is judged by that place. A piece
    begins at a line's start or in ASCII, so that no character is cut in two.
    """
    parts: list[bytes] = []
    room, pos = JUDGED, 0
    while room > 0 and (found := _HIGH.search(head, pos)):
        start = max(head.rfind(b"\n", pos, found.start()) + 1, pos, found.start() - 80)
        end = head.find(b"\n", found.start()) + 1 or len(head)
        pos = min(end, start + max(room, 160))
        parts.append(head[start:pos])
        room -= pos - start
        if pos < end:
            return b"".join(parts), False
    return b"".join(parts), whole or pos < len(head)


def _legacy(head: bytes, whole: bool) -> str:
    """The best of the encodings that have no mark, or "" where none is likely."""
    sample, complete = _telling(head, whole)
    scores: list[tuple[float, str]] = []
    for encoding, alphabets, frequent in SINGLE_BYTE:
        text = _decodes(sample, encoding, True)
        if text is not None:
            scores.append((_spelled(text, alphabets, frequent) * RARE.get(encoding, 1.0), encoding))
    for encoding, wider, frequent_set in MULTI_BYTE:
        text = _decodes(sample, encoding, complete)
        if text is None and wider:
            encoding, text = wider, _decodes(sample, wider, complete)
        if text is None:  # one damaged character in fifty does not make another language of it
            text = sample.decode(encoding, "replace")
            if text.count("\ufffd") * 50 > len(text) - len(_ASCII.findall(text)):
                continue
        scores.append((_written(text, frequent_set), encoding))
    scores.sort(key=lambda pair: -pair[0])  # stable: of equals the more common stays first
    likely = [encoding for score, encoding in scores if score > LIKELY]
    clean = next((encoding for encoding in likely if _decodes(head, encoding, whole) is not None), "")
    return clean or (likely[0] if likely else _guessed(sample, complete) or _western(head))


def _spelled(text: str, alphabets: tuple[str, ...], frequent: str) -> float:
    """How well the characters beyond ASCII spell words of one of these alphabets, 0 to 1."""
    high = marks = common = capitals = run = 0
    odd = 0.0
    counts: dict[str, int] = {}
    before = " "
    for char, after in zip(text, text[1:] + " ", strict=True):
        if char >= "\x80":
            high += 1
            if char in PUNCTUATION:
                marks += char in INSIDE or not (before.isalpha() and after.isalpha())
                run = 0
            else:
                run += 1
                lower = char.lower()
                counts[lower] = counts.get(lower, 0) + 1
                common += lower in frequent
                capitals += char != lower
                odd += _odd(before, char, after, lower, run, bool(frequent))
        else:
            run = 0
        before = char
    letters = sum(counts.values())
    if not high:
        return 0.0
    fits = max(float(sum(n for c, n in counts.items() if c in alphabet)) for alphabet in alphabets) - odd
    if frequent and letters:  # frequent letters make 70 to 90 % of a text of such a script
        fits *= min(1.0, 0.1 + common / letters) * (0.95 if capitals == letters else 1.0)
    return max(0.0, fits + 0.9 * marks) / high


def _odd(before: str, char: str, after: str, lower: str, run: int, script: bool) -> float:
    """What a wrong codec shows: a capital after a small letter, two scripts in a word, a Latin word all of accents."""
    if char != lower and before.islower():
        return 2.0
    if char == "ς":  # stands at the end of a word only
        return 2.0 * after.isalpha()
    if script:
        return 2.0 * ((before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha()))
    return 2.0 * (run >= 4) or 0.2 * (not before.isalpha() and not after.isalpha())


def _written(text: str, frequent: frozenset[str]) -> float:
    """How much of the characters beyond ASCII are frequent ideographs or syllables, 0 to 1."""
    letters = [c for c in text if c > "\x7f" and c not in CJK_PUNCTUATION]
    if not letters:
        return 0.0
    share = sum(c in frequent for c in letters) / len(letters)
    return min(1.0, 1.6 * share) if len(letters) > 1 else 0.5 * share


def _guessed(sample: bytes, whole: bool) -> str:
    """charset-normalizer's opinion, for what none of our alphabets explains."""
    from charset_normalizer import from_bytes  # 27 ms to import: only for texts that need it

    found = from_bytes(sample[:16384]).best()
    if found is None or found.chaos > 0.1 or found.coherence < 0.3 or found.encoding.startswith("utf"):
        return ""
    return found.encoding.replace("_", "-") if _decodes(sample, found.encoding, whole) is not None else ""


def _western(head: bytes) -> str:
    """cp1252, or ISO 8859-1 where some of its bytes are not in cp1252, for text with only printable high bytes."""
    high = _HIGH.findall(head)
    if len(high) * 4 > 3 * len(head):
        return ""
    if _decodes(head, "cp1252", True) is not None:
        return "cp1252"
    return "iso-8859-1" if sum(b < b"\xa0" for b in high) * 20 <= len(high) else ""
