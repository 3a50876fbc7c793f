"""Images, shown to a model as images: upright, in a format that models take, told by their bytes.

Pixels are decoded in a worker: a bomb is refused by its size in pixels before a single one is made.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Extract, Reading, Source, Wish
from agenvoy.readers.extracting import corrupt, stream_of, too_large
from agenvoy.readers.remote import DOCUMENTS, INSTALL, explained
from agenvoy.types import Image
from agenvoy.workers import WorkerFailed

FILE_BYTES = 10 * 1024 * 1024  # contract: images up to 10 MiB
PIXELS = 100_000_000  # some 300 MB as RGB; the largest phone cameras make as many
SIDE = 4096  # pixels; models scale larger ones down themselves, at the caller's cost
SCALED = 2048  # pixels of the longer side of what was scaled down
SHOWN_BYTES = 3_500_000  # what model interfaces take as one image (5 MB in base64)
_AS_THEY_ARE = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


class ImageReader:
    """Shows an image."""

    dear = False

    def key(self, wish: Wish) -> str:
        """Nothing is kept."""
        return ""

    def extract(self, source: Source, wish: Wish) -> Extract:
        """An image has no text to search; raises no_text."""
        raise AgenvoyError("no_text", f"{source.shown} is an image", "show it with read_files")

    def read(self, source: Source, wish: Wish) -> Reading:
        """The image with a line of facts; see `Reader.read`.

        Raises:
            AgenvoyError: too_large, corrupt_document, unsupported_type; invalid_arguments for an offset beyond 1.
        """
        if source.size > FILE_BYTES:
            raise AgenvoyError(
                "too_large",
                f"{source.shown} has {source.size:,} bytes, and images are shown up to {FILE_BYTES:,}",
                "make a smaller copy, for example with `agenvoy run -- COMMAND`",
                size=source.size,
            )
        if wish.offset != 1:
            raise AgenvoyError("invalid_arguments", f"{source.shown} is one image", "leave out offset", total=1)
        try:
            facts, data = DOCUMENTS.run(
                "agenvoy.readers.image:show", source.fd, {"shown": source.shown}, check=wish.check
            )
        except WorkerFailed as failure:
            raise explained(failure, source.shown, INSTALL) from failure
        mime, text = str(facts.pop("mime")), str(facts.pop("text"))
        images = (Image(mime, data),)
        return Reading("image", "image", 1, 1, 1, None, text, extra={**facts, "mime": mime}, images=images)


READER = ImageReader()


def show(fd: int, job: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> tuple[dict[str, Any], bytes]:
    """Decode an image (runs in a worker).

    Args:
        fd: the image.
        job: `shown`, its path.
        tell: not used.

    Returns:
        mime, format, width, height (upright), frames, orientation, text; and the bytes to be shown.
    """
    try:
        return _show(fd)
    except AgenvoyError as error:
        raise AgenvoyError(error.code, f"{job['shown']} {error.message}", error.hint) from error


def _show(fd: int) -> tuple[dict[str, Any], bytes]:
    import warnings

    from PIL import Image as Pillow
    from PIL import ImageOps, UnidentifiedImageError

    warnings.simplefilter("ignore")
    Pillow.MAX_IMAGE_PIXELS = None  # our own limit is checked below, with our own error
    stream = stream_of(fd)
    try:
        with Pillow.open(stream) as image:
            kind = image.format or ""
            _check_size(*image.size)
            frames = int(getattr(image, "n_frames", 1))
            image.seek(0)
            image.load()
            orientation = int(image.getexif().get(0x0112, 1))
            upright = ImageOps.exif_transpose(image) if orientation != 1 else image
            stream.seek(0)
            mime, data, scaled = _encoded(upright, kind, stream.read() if orientation == 1 else b"")
            width, height = upright.size
    except UnidentifiedImageError:
        raise corrupt("its format is not recognised") from None
    except (OSError, ValueError, SyntaxError, TypeError, KeyError, IndexError, EOFError, OverflowError) as error:
        raise corrupt(f"the image cannot be decoded ({error})") from error
    facts = {"format": kind, "width": width, "height": height, "frames": frames, "orientation": orientation}
    return {**facts, "mime": mime, "text": _told(facts, scaled)}, data


def _check_size(width: int, height: int) -> None:
    if width * height > PIXELS:
        raise too_large(f"{width:,} × {height:,} pixels, and at most {PIXELS // 1_000_000} million are decoded")


def _encoded(image: Any, kind: str, original: bytes) -> tuple[str, bytes, tuple[int, int] | None]:
    """MIME type and bytes to be shown, and the size where it was scaled: the file's own bytes where they will do."""
    small = max(image.size) <= SIDE
    if original and small and len(original) <= SHOWN_BYTES and kind in _AS_THEY_ARE:
        return _AS_THEY_ARE[kind], original, None
    image = image.convert("RGBA" if image.mode in ("RGBA", "LA", "PA", "P", "RGBa", "La") else "RGB")
    if small:
        data = _packed(image, kind)
        if len(data[1]) <= SHOWN_BYTES:
            return (*data, None)
    image.thumbnail((SCALED, SCALED))
    return (*_packed(image, "JPEG" if image.mode == "RGB" else "PNG"), image.size)


def _packed(image: Any, kind: str) -> tuple[str, bytes]:
    out = io.BytesIO()
    if kind in ("JPEG", "MPO") and image.mode == "RGB":
        image.save(out, "JPEG", quality=90)
        return "image/jpeg", out.getvalue()
    image.save(out, "PNG")
    return "image/png", out.getvalue()


def _told(facts: dict[str, Any], scaled: tuple[int, int] | None) -> str:
    text = f"[{facts['format']} image, {facts['width']} × {facts['height']} pixels"
    if facts["frames"] > 1:
        text += f", {facts['frames']} frames, the first one shown"
    if facts["orientation"] != 1:
        text += ", turned upright"
    if scaled:
        text += f", shown at {scaled[0]} × {scaled[1]}"
    return text + "]"
