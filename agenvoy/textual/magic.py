"""What binary seems to be, told by its first bytes."""

from __future__ import annotations

# (offset, bytes, short name, in words). From the formats' own specifications. Longer and rarer marks come first.
_MARKS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"%PDF-", "pdf", "a PDF document"),
    (0, b"\x89PNG\r\n\x1a\n", "png", "a PNG image"),
    (0, b"\xff\xd8\xff", "jpeg", "a JPEG image"),
    (0, b"GIF87a", "gif", "a GIF image"),
    (0, b"GIF89a", "gif", "a GIF image"),
    (0, b"II*\0", "tiff", "a TIFF image"),
    (0, b"MM\0*", "tiff", "a TIFF image"),
    (0, b"8BPS\0", "psd", "a Photoshop image"),
    (0, b"\0\0\1\0", "ico", "an icon"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole", "an OLE file (an old or an encrypted Office document)"),
    (0, b"PK\x03\x04", "zip", "a ZIP archive"),
    (0, b"PK\x05\x06", "zip", "an empty ZIP archive"),
    (0, b"\x7fELF", "elf", "an ELF program"),
    (0, b"\xcf\xfa\xed\xfe", "macho", "a Mach-O program"),
    (0, b"\xce\xfa\xed\xfe", "macho", "a Mach-O program"),
    (0, b"\xca\xfe\xba\xbe", "class", "a Java class or a universal Mach-O program"),
    (0, b"\0asm", "wasm", "a WebAssembly module"),
    (0, b"\x1f\x8b\x08", "gzip", "a gzip file"),
    (0, b"BZh", "bzip2", "a bzip2 file"),
    (0, b"\xfd7zXZ\0", "xz", "an xz file"),
    (0, b"\x28\xb5\x2f\xfd", "zstd", "a Zstandard file"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "rar", "a RAR archive"),
    (257, b"ustar", "tar", "a tar archive"),
    (0, b"SQLite format 3\0", "sqlite", "an SQLite database"),
    (0, b"OggS", "ogg", "an Ogg audio or video file"),
    (0, b"fLaC", "flac", "a FLAC audio file"),
    (0, b"ID3", "mp3", "an MP3 audio file"),
    (0, b"\x1a\x45\xdf\xa3", "matroska", "a Matroska or WebM video"),
    (4, b"ftyp", "mp4", "an MP4 or QuickTime file"),
    (4, b"moov", "mp4", "a QuickTime file"),
    (4, b"mdat", "mp4", "a QuickTime file"),
    (0, b"FLV\x01", "flv", "a Flash video"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf", "a Windows Media file"),
    (0, b"\x00\x00\x01\xba", "mpeg", "an MPEG video"),
    (0, b"FORM", "aiff", "an AIFF audio file"),
    (0, b"wOFF", "woff", "a WOFF font"),
    (0, b"wOF2", "woff", "a WOFF2 font"),
    (0, b"OTTO", "otf", "an OpenType font"),
    (0, b"\x00\x01\x00\x00\x00", "ttf", "a TrueType font"),
    (0, b"PAR1", "parquet", "a Parquet table"),
    (0, b"\x89HDF\r\n\x1a\n", "hdf5", "an HDF5 file"),
    (0, b"\x93NUMPY", "npy", "a NumPy array"),
    (0, b"glTF", "gltf", "a binary glTF model"),
    (0, b"!<arch>\n", "ar", "an ar archive or static library"),
)
_RIFF = {b"WAVE": ("wav", "a WAV audio file"), b"WEBP": ("webp", "a WebP image"), b"AVI ": ("avi", "an AVI video")}
_HEIF = {b"heic", b"heix", b"mif1", b"msf1", b"hevc"}
# These marks are plain letters with which a text may well begin: they count only beside bytes that no text has.
_WORDS = frozenset({"bzip2", "ogg", "flac", "mp3", "aiff", "woff", "otf", "parquet", "mp4", "tar", "gltf", "flv"})

# For each first byte the marks that may fit, in their order: most files begin as no format does.
_BY_FIRST = tuple(tuple(m for m in _MARKS if m[0] or m[1][0] == first) for first in range(256))


def _identify(head: bytes) -> tuple[str, str] | None:
    """Short name and words of what `head` begins with."""
    if head[:4] == b"RIFF" and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head[:2] == b"BM" and len(head) >= 26 and head[6:10] == b"\0\0\0\0":
        return "bmp", "a BMP image"
    if head[:2] == b"MZ" and b"\0" in head[:64]:
        return "exe", "a Windows program"
    if head[4:8] == b"ftyp" and head[8:12] in {b"avif", *_HEIF}:
        return ("avif", "an AVIF image") if head[8:12] == b"avif" else ("heif", "a HEIF image")
    for offset, mark, name, words in _BY_FIRST[head[0]] if head else ():
        if head.startswith(mark, offset) and (name not in _WORDS or _has_controls(head)):
            return name, words
    if len(head) > 3 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2 and head[2] & 0xF0 not in (0, 0xF0):
        return "mp3", "an MP3 audio file"  # a bare MPEG layer III frame: sync bits, layer, a legal bit rate
    return None


def _has_controls(head: bytes) -> bool:
    return any(b < 9 or 13 < b < 27 for b in head[:512])


def known_format(head: bytes) -> str:
    """The short name (`pdf`, `png`, `zip` …) of a well-known binary format; empty where none is recognised.

    Args:
        head: the first bytes of a file; 512 are enough.
    """
    found = _identify(head)
    return found[0] if found else ""


def looks_like(head: bytes) -> str:
    """What binary seems to be, in words that fit after "it seems to be" (`a PNG image`, `binary data`)."""
    found = _identify(head)
    return found[1] if found else "binary data"
