"""Records of a table out of a stream of blocks: newlines inside quoted fields are told from those that end a record."""

from __future__ import annotations

from agenvoy.readers.dialect import Dialect, opens

HELD = b"\xff"  # stands for a newline inside a field; no UTF-8 text holds this byte
_LINES, _BYTES = 1000, 1 << 20  # a field over more than this is a stray quote, not a field
_STRAY = 20  # so many stray quotes, and quotes mean nothing in this file


class RecordMarks:
    """Replaces the newlines inside quoted fields by `HELD`, so that what ends in a newline is a record.

    Args:
        dialect: of the table.
        mark: the byte that ends lines.
    """

    def __init__(self, dialect: Dialect, mark: bytes = b"\n") -> None:
        self._delimiter, self._quote = dialect.delimiter, dialect.quote
        self._byte = dialect.quote.encode()
        self._mark = mark
        self._pending: list[bytes] = []  # lines of a record whose field is still open
        self._size = 0
        self._rest = b""  # a line that is not complete yet
        self._stray = 0
        self._long = False  # within a line of more than `_BYTES`, whose quotes are not looked at

    def feed(self, block: bytes, final: bool = False) -> bytes:
        """The next block (UTF-8) with the newlines in fields replaced; what is undecided comes later.

        Args:
            block: the next bytes.
            final: nothing follows.
        """
        if HELD in block:
            block = block.replace(HELD, b"\xfe")
        plain = self._byte not in block or self._stray > _STRAY
        if plain and not self._pending and not self._rest and not self._long:
            return block
        out = bytearray()
        if self._long:  # the rest of a line beyond all measure: passed on as it comes
            end = block.find(self._mark) + 1
            self._long = not end
            out += block[:end] if end else block
            block = block[end:] if end else b""
        lines = (self._rest + block).split(self._mark)
        self._rest = lines.pop()
        for line in lines:
            self._take(line, out)
        if final:
            self._finish(out)
        elif len(self._rest) > _BYTES or (not self._pending and self._byte not in self._rest):
            while self._pending:
                self._give_up(out)
            out += self._rest  # a long line is passed on piece by piece
            self._long, self._rest = bool(self._rest) and len(self._rest) > _BYTES, b""
        return bytes(out)

    def _take(self, line: bytes, out: bytearray) -> None:
        if not self._pending and (self._byte not in line or self._stray > _STRAY):
            out += line + self._mark
            return
        if len(line) > _BYTES:
            while self._pending:
                self._give_up(out)
            out += line + self._mark
            return
        self._pending.append(line)
        self._size += len(line)
        if self._byte in line and not self._open():
            out += HELD.join(self._pending) + self._mark
            self._pending, self._size = [], 0
        elif len(self._pending) > _LINES or self._size > _BYTES:
            self._give_up(out)

    def _open(self) -> bool:
        return opens(self._mark.join(self._pending).decode("utf-8", "replace"), self._delimiter, self._quote)

    def _give_up(self, out: bytearray) -> None:
        """The first line's quote closes nowhere near: it is a record as it stands, and the others are judged anew."""
        lines, self._pending, self._size = self._pending, [], 0
        self._stray += 1
        out += lines[0] + self._mark
        for line in lines[1:]:
            self._take(line, out)

    def _finish(self, out: bytearray) -> None:
        if self._rest:
            ended, last = False, self._rest
            self._rest = b""
            self._take(last, out)
        else:
            ended = True
        while self._pending:
            self._give_up(out)
        if not ended and out.endswith(self._mark):
            del out[-len(self._mark) :]
