"""Compression of blobs: zstd where it pays, raw where not.

Level 3 is zstd's own default; a content that does not shrink by at least 1/16 stays raw, so that reading it costs
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

LEVEL = 3
RAW, ZSTD = "raw", "zstd"
MIN_SIZE = 128  # below this a zstd frame's own bytes eat the gain


def pack(data: bytes) -> tuple[str, bytes]:
    """`(codec, stored bytes)` of a small content."""
    if len(data) < MIN_SIZE:
        return RAW, data
    import zstandard

    packed = zstandard.ZstdCompressor(level=LEVEL).compress(data)
    if len(packed) > len(data) - len(data) // 16:
        return RAW, data
    return ZSTD, packed


def unpack(codec: str, stored: bytes, size: int) -> bytes:
    """The content again; raises ValueError for damaged bytes or a codec of a newer agenvoy.

    Args:
        size: the content's size in bytes; it bounds the memory that a damaged frame can ask for.
    """
    if codec == RAW:
        return stored
    if codec != ZSTD:
        raise ValueError(f"unknown codec {codec}")
    import zstandard

    try:
        if zstandard.frame_content_size(stored) > size:  # the library trusts the frame's own word before ours
            raise ValueError("the frame says that it is longer than the content was")
        return zstandard.ZstdDecompressor().decompress(stored, max_output_size=max(size, 1))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def unpack_stream(codec: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The content of a large blob, block by block; raises ValueError for damaged bytes."""
    if codec == RAW:
        yield from blocks
        return
    import zstandard

    inflater = zstandard.ZstdDecompressor().decompressobj()
    try:
        for block in blocks:
            if inflater.eof:
                raise ValueError("bytes after the end of the frame")
            data = inflater.decompress(block)
            if data:
                yield data
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    if not inflater.eof:
        raise ValueError("the frame is cut")
