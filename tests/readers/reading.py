"""Reads files through the readers, as the workspace does, for the tests of this folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from agenvoy.readers import reader_for
from agenvoy.readers.base import Extract, Reading, Source, Wish
from agenvoy.readers.kinds import kind_of, no_reader

FIXTURES = Path(__file__).parents[2] / "fixtures"


def read(path: Path, **wish: object) -> Reading:
    """A part of a file; checks that the reader showed every byte of it to the hash, once."""
    told = hashlib.sha256()
    fd = os.open(path, os.O_RDONLY)
    try:
        source = Source.open(fd, path.name, told.update)
        kind, words = kind_of(source)
        reader = reader_for(kind)
        if reader is None:
            raise no_reader(source, kind, words)
        reading = reader.read(source, Wish(**wish))
        source.drain()
    finally:
        os.close(fd)
    assert told.digest() == hashlib.sha256(path.read_bytes()).digest()
    return reading


def extract(path: Path) -> Extract:
    """The whole text of a file."""
    fd = os.open(path, os.O_RDONLY)
    try:
        source = Source.open(fd, path.name, lambda block: None)
        reader = reader_for(kind_of(source)[0])
        assert reader is not None
        return reader.extract(source, Wish())
    finally:
        os.close(fd)
