"""Documents and media through a worker process: what readers have in common on this side of the border."""

from __future__ import annotations

from typing import Any

from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Extract, Reading, Source, Wish
from agenvoy.types import Image
from agenvoy.workers import Limits, Pool, WorkerFailed

_GIB = 1 << 30
# 1 GiB a document, the figure. The address space is a little more: libraries map files that they never touch.
DOCUMENTS = Pool(Limits(memory=_GIB, address=_GIB + _GIB // 8, seconds=60.0))
FORM = 2  # of the texts that document readers give; to be raised when they come to read more
INSTALL = "pip install 'agenvoy[docs]'"


class DocumentReader:
    """Reads one kind of document in a worker.

    Args:
        kind: as `kinds.kind_of` names it.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    dear = False

    def key(self, wish: Wish) -> str:
        """The kind with the form of its texts: a change of what a reader gives makes earlier ones void."""
        return f"{self.kind}:{FORM}"

    def read(self, source: Source, wish: Wish) -> Reading:
        """The wanted units; see `Reader.read`.

        Raises:
            AgenvoyError: encrypted_document, corrupt_document, no_text, too_large, timeout, unsupported_type where
                the library is not installed; invalid_arguments for units that there are not.
        """
        done, blob = self._run("read", source, wish)
        images = (Image(str(done["extra"].get("mime", "")), blob),) if blob else ()
        return Reading(**{**done, "images": images})

    def extract(self, source: Source, wish: Wish) -> Extract:
        """All text of the document; raises as `read` does."""
        done, _ = self._run("whole", source, wish)
        done["labels"] = {int(number): label for number, label in done["labels"]}
        done["sections"] = [(int(number), title) for number, title in done["sections"]]
        return Extract(**done)

    def _run(self, function: str, source: Source, wish: Wish) -> tuple[dict[str, Any], bytes]:
        job = {
            "kind": self.kind,
            "shown": source.shown,
            "offset": wish.offset,
            "limit": wish.limit,
            "password": wish.password,
            "max_bytes": wish.max_bytes,
        }
        try:
            return DOCUMENTS.run(f"agenvoy.readers.extracting:{function}", source.fd, job, check=wish.check)
        except WorkerFailed as failure:
            raise explained(failure, source.shown, INSTALL) from failure


def explained(failure: WorkerFailed, shown: str, install: str) -> AgenvoyError:
    """A worker's failure as an error about the file that it worked on.

    Args:
        failure: what happened.
        shown: the file's path as answers spell it.
        install: the command that brings missing libraries.
    """
    # SIGABRT is how a library without exceptions says that an allocation was refused
    if failure.why == "memory" or failure.detail == "SIGABRT":
        return AgenvoyError(
            "too_large", f"{shown} takes more memory than the limit to be read", "split it, or convert it to text"
        )
    if failure.why == "timeout":
        return AgenvoyError(
            "timeout", f"{shown} could not be read in time: {failure.detail}", "ask for fewer units with limit"
        )
    if failure.why == "missing":
        return AgenvoyError(
            "unsupported_type", f"{shown} needs the library {failure.detail}, which is not installed", install
        )
    return AgenvoyError(
        "corrupt_document",
        f"{shown} is damaged: its reader gave up ({failure.detail})",
        "repair it with the program that made it",
    )
