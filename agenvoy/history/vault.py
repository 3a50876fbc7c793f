"""Contents of the log: which bytes go into history.db and which into blob files, and reading them back verified.

    stage…   hash, and for long contents write the blob file (durable before any row names it)
    enter    inside the write transaction: the rows of staged contents that are not there yet

xxh3-128 names a content and does not prove it: an equal name with another SHA-256 is stored apart, under the name
with a suffix, so no content ever stands for another.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from agenvoy.blobs import BlobDamaged, BlobMissing, BlobStore, FileBlobs, KeyMissing, Keyring
from agenvoy.blobs import codec as codecs
from agenvoy.blobs.hashing import TwinHasher
from agenvoy.blobs.sealing import SUFFIX
from agenvoy.catalog import Catalog, Connection, contents
from agenvoy.errors import AgenvoyError

BLOCK = 1024 * 1024


class Vault:
    """Contents of one store.

    Args:
        catalog: its history.db.
        inline: contents up to this many bytes live in history.db.
        keyring: the key of contents that are kept encrypted.
        files: where longer ones go; by default blob files in `<store>/objects`.
    """

    def __init__(
        self, catalog: Catalog, inline: int, keyring: Keyring | None = None, files: BlobStore | None = None
    ) -> None:
        self.catalog = catalog
        self.inline = inline
        self.keyring = keyring or Keyring()
        self.files: BlobStore = files or FileBlobs(os.path.join(catalog.store, "objects"), self.keyring)
        self._staged: dict[str, contents.Content] = {}

    # ---- in
    def stage(self, data: bytes) -> str:
        """Take in a content that is in memory; gives its name."""
        if len(data) > self.inline:
            return self.stage_blocks([data])
        return self.stage_prepared(self.prepare(data))

    @staticmethod
    def prepare(data: bytes) -> contents.Content:
        """Hash and compress a short content; touches nothing, so threads may do it side by side."""
        twin = TwinHasher()
        twin.update(data)
        codec, stored = codecs.pack(data)
        return contents.Content(twin.name(), len(data), len(stored), codec, twin.proof(), stored)

    def stage_prepared(self, content: contents.Content) -> str:
        """Take in what `prepare` gave; gives its name."""
        self._staged.setdefault(content.hash, content)
        return content.hash

    def stage_blocks(self, blocks: Iterable[bytes]) -> str:
        """Take in a long content by streaming; its blob file is durable when this returns."""
        kept = self.files.put(blocks)
        self._staged[kept.name] = contents.Content(kept.name, kept.size, kept.stored, kept.codec, kept.proof, None)
        return kept.name

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several long contents whose names become durable at the end of the block."""
        if isinstance(self.files, FileBlobs):
            with self.files.together():
                yield
        else:
            yield

    def enter(self, c: Connection) -> dict[str, str]:
        """Write the rows of staged contents; gives `{name: name it is stored under}`.

        A row whose bytes were damaged or lost is mended by the sound copy.
        """
        names: dict[str, str] = {}
        for name, content in self._staged.items():
            names[name] = self._enter_one(c, content)
        self._staged.clear()
        return names

    def _enter_one(self, c: Connection, content: contents.Content) -> str:
        name, number = content.hash, 1
        while not contents.insert(c, replace(content, hash=name)):
            known = contents.get(c, name)
            if known is not None and known.proof == content.proof:
                if known.data is None and content.data is not None and not self._on_file(name):
                    contents.replace(c, content)
                return name
            name, number = f"{content.hash}-{number}", number + 1
        return name

    def forget_staged(self) -> None:
        """Drop what was staged for an operation that will not be recorded (blob files stay for `gc`)."""
        self._staged.clear()

    def proof(self, c: Connection, name: str) -> bytes | None:
        """The SHA-256 of a recorded content; None where it is not known."""
        return contents.proof(c, name) if name else None

    def seal(self, c: Connection, name: str) -> None:
        """Keep a recorded content encrypted from now on; one that is already stays as it is.

        Raises:
            KeyMissing, OSError: it could not be; it is kept as before.
        """
        row = contents.get(c, name)
        if row is None or row.codec.endswith(SUFFIX):
            return
        if row.data is not None:
            sealed = b"".join(self.keyring.seal([row.data]))
            contents.replace(c, replace(row, codec=row.codec + SUFFIX, stored=len(sealed), data=sealed))
        elif isinstance(self.files, FileBlobs):
            with contextlib.suppress(BlobMissing):  # nothing is left to seal; `verify` names it
                self.files.seal(name)

    # ---- out
    def blocks(self, name: str) -> Iterator[bytes]:
        """A content, block by block, verified at the end.

        Raises:
            AgenvoyError: not_restorable when the bytes are gone, store_corrupt when they are damaged.
        """
        staged = self._staged.get(name)
        with self.catalog.read() as c:
            row = staged or contents.get(c, name)
        if row is None:
            raise gone(name)
        try:
            if row.data is None:
                yield from self.files.open(row.hash, row.codec)
                return
            codec, packed = row.codec, row.data
            if codec.endswith(SUFFIX):
                codec, packed = codec.removesuffix(SUFFIX), b"".join(self.keyring.unseal([packed]))
            data = codecs.unpack(codec, packed, row.size)
        except BlobMissing:
            raise gone(name) from None
        except KeyMissing as error:
            raise locked(name, str(error)) from error
        except (BlobDamaged, ValueError, TypeError, AttributeError) as error:  # the row itself may be damaged
            raise broken(name, str(error)) from error
        twin = TwinHasher()
        twin.update(data)
        if twin.proof() != row.proof:
            raise broken(name, "the bytes are not those that were stored")
        yield data

    def read(self, name: str) -> bytes:
        """A content as a whole; see `blocks`."""
        return b"".join(self.blocks(name))

    def has(self, name: str) -> bool:
        """Whether a content's bytes are there (not whether they are sound)."""
        if name in self._staged:
            return True
        with self.catalog.read() as c:
            inline = contents.inline(c, name)
        return inline is not None and (inline or self._on_file(name))

    def missing(self, names: Sequence[str]) -> set[str]:
        """Those of up to a few thousand contents whose bytes are not there."""
        with self.catalog.read() as c:
            known = contents.places(c, names)
        return {n for n in names if n not in self._staged and not (n in known and (known[n] or self._on_file(n)))}

    def _on_file(self, name: str) -> bool:
        if isinstance(self.files, FileBlobs):
            return os.path.exists(self.files.path(name))
        return any(other == name for other, _ in self.files.names())


def gone(name: str) -> AgenvoyError:
    """The error for a content whose bytes are no longer there."""
    return AgenvoyError(
        "not_restorable",
        f"the stored bytes {name[:12]} are gone",
        "choose another version with file_history; `agenvoy verify` lists what is missing",
    )


def locked(name: str, why: str) -> AgenvoyError:
    """The error for a content that is encrypted, and whose key is not at hand."""
    return AgenvoyError(
        "not_restorable",
        f"the stored bytes {name[:12]} are encrypted: {why}",
        "put the key back where it was (README, Sensitive files); without it they cannot be read",
    )


def broken(name: str, why: str) -> AgenvoyError:
    """The error for a content whose bytes are damaged."""
    return AgenvoyError(
        "store_corrupt",
        f"the stored bytes {name[:12]} are damaged: {why}",
        "choose another version with file_history; `agenvoy verify` lists what is damaged",
    )
