"""A text of any size as UTF-8, block by block."""

from __future__ import annotations

import codecs

from agenvoy.textual.form import Newline, TextForm, newline_style, printable
from agenvoy.textual.sniffing import SAMPLE, sniff


class Utf8Stream:
    """Turns the blocks of a file into UTF-8 without a mark, and counts newlines on the way.

    A form is sniffed from the first bytes only, so the rest may prove it wrong: then `better` is the form to read
    the file with again. The blocks that are given out meanwhile are still of use for counting.

    Args:
        form: what the text is taken for.
    """

    def __init__(self, form: TextForm) -> None:
        self.form = form
        self.better: TextForm | None = None
        self.lf = self.crlf = self.cr = 0
        self._plain = form.encoding == "utf-8"
        # Damaged places are shown as U+FFFD; a UTF-8 text is checked, because a wrong guess there is common.
        self._decoder = codecs.getincrementaldecoder(form.encoding)("strict" if self._plain else "replace")
        self._check = self._plain and form.errors == "strict"
        self._ascii = True
        self._pending = False  # a character is cut at the end of the last block
        self._skip = form.bom
        self._last = b""

    def feed(self, block: bytes, final: bool = False) -> bytes:
        """The next block as UTF-8.

        Args:
            block: the file's next bytes.
            final: nothing follows.
        """
        block = self._unmarked(block)
        out = block if self._plain else self._transcoded(block, final)
        if self._check:
            self._validate(block, final)
        self._count(out)
        return out

    @property
    def newline(self) -> Newline:
        """What ends rows, by all blocks so far."""
        return newline_style(self.lf, self.crlf, self.cr)

    def _unmarked(self, block: bytes) -> bytes:
        n = min(len(self._skip), len(block))
        if n:
            self._skip = self._skip[n:]
            return block[n:]
        return block

    def _transcoded(self, block: bytes, final: bool) -> bytes:
        text = self._decoder.decode(block, final)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return printable(text).encode()

    def _validate(self, block: bytes, final: bool) -> None:
        if block.isascii() and not self._pending:
            return
        try:
            self._decoder.decode(block, final)
            self._pending = bool(self._decoder.getstate()[0])
            self._ascii = False
        except UnicodeDecodeError as error:
            self._check = False
            self.better = self._improved(block, error.start)

    def _improved(self, block: bytes, at: int) -> TextForm:
        """The form after a byte that is not UTF-8: where all before was ASCII, what the place itself looks like."""
        stray = TextForm("utf-8", self.form.bom, self.form.newline, "surrogateescape")
        if not self._ascii or self.form.bom:
            return stray
        start = max(0, block.rfind(b"\n", 0, min(at, len(block))) + 1)
        seen = sniff(block[start : start + SAMPLE], False)
        if seen is None or seen.bom or seen.encoding.startswith(("utf-16", "utf-32")):
            return stray
        return seen

    def _count(self, out: bytes) -> None:
        if not out:
            return
        self.lf += out.count(b"\n")
        if b"\r" in out or self._last == b"\r":
            self.cr += out.count(b"\r")
            self.crlf += out.count(b"\r\n") + (self._last == b"\r" and out[:1] == b"\n")
        self._last = out[-1:]
