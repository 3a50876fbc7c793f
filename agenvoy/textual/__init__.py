"""What bytes are as text: encoding, byte-order mark, newlines, rows. Pure, and the lowest layer.

    sniff(head, whole)   which text this is, or None for binary
    decode, encode       bytes <-> str of one form;  to_utf8 for searching
    Utf8Stream           the same for files of any size, block by block
    rows                 the reader's rows: ended by LF, CRLF or, without any LF, CR
    looks_like           what binary seems to be, in words;  known_format: the same as a short name
"""

from agenvoy.textual.form import TextForm, Unencodable, decode, encode, newline_style, printable, rows, to_utf8
from agenvoy.textual.magic import known_format, looks_like
from agenvoy.textual.sniffing import sniff
from agenvoy.textual.streaming import Utf8Stream

__all__ = [
    "TextForm",
    "Unencodable",
    "Utf8Stream",
    "decode",
    "encode",
    "known_format",
    "looks_like",
    "newline_style",
    "printable",
    "rows",
    "sniff",
    "to_utf8",
]
