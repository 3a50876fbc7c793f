"""Audio and video as a transcript: one segment a row, made on this machine by faster-whisper in a worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Extract, Reading, Source, Wish
from agenvoy.readers.extracting import stream_of
from agenvoy.readers.models import INSTALL, find, install_command
from agenvoy.readers.paging import Whole, page
from agenvoy.readers.remote import explained
from agenvoy.workers import Limits, Pool, WorkerFailed

_GIB = 1 << 30
STALL_S = 600.0  # seconds without progress; a large model on a slow machine needs some for half a minute of speech
# A media library and a model reserve far more address space than they use, so what is resident is watched instead.
SPEECH = Pool(Limits(memory=_GIB, address=0, seconds=STALL_S), most=1)
HUB_MODEL_BYTES = 3 * _GIB  # the largest model of the hub; how much one takes is known only once it is there
RATE = 16_000  # samples a second, what the models were trained on
FORMATS = "wav,mp3,aac,flac,ogg,mov,mp4,m4a,matroska,webm,avi,asf,mpeg,aiff,flv"  # as FFmpeg names what `magic` tells
CHUNK_S = 1800  # seconds of sound in memory at once (115 MB)


class MediaReader:
    """Shows segments as `[hh:mm:ss–hh:mm:ss] text`."""

    dear = True

    def read(self, source: Source, wish: Wish) -> Reading:
        """The wanted segments; see `Reader.read`.

        Raises:
            AgenvoyError: no_audio, no_text (silence), corrupt_document, model_missing, unsupported_type without the
                library; invalid_arguments for segments that there are not.
        """
        return page(Whole(self.extract(source, wish)), wish, source.shown)

    def key(self, wish: Wish) -> str:
        """Which model makes the transcript: part of what it is cached by."""
        return f"speech:{find(wish.options).name}"

    def extract(self, source: Source, wish: Wish) -> Extract:
        """The whole transcript; raises as `read` does."""
        model = find(wish.options)
        job = {
            "shown": source.shown,
            "model": model.name,
            "place": model.place,
            "where": model.where,
            "device": wish.options.get("audio_device") or "auto",
            "compute_type": wish.options.get("audio_compute_type") or "default",
        }
        weight = HUB_MODEL_BYTES if model.where == "hub" else os.path.getsize(os.path.join(model.place, "model.bin"))

        def tell(report: dict[str, Any]) -> None:
            if wish.progress is not None:
                wish.progress(float(report["done"]), float(report["all"]))

        try:
            done, _ = SPEECH.run(
                "agenvoy.readers.media:transcribe",
                source.fd,
                job,
                tell=tell,
                memory=_GIB + 3 * weight,
                renew=True,
                check=wish.check,
            )
        except WorkerFailed as failure:
            raise explained(failure, source.shown, INSTALL) from failure
        return Extract(labels={}, sections=[], **done)


READER = MediaReader()

_MODELS: dict[tuple[str, str, str], Any] = {}  # the worker's: a loaded model stays for the next file


def transcribe(fd: int, job: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> tuple[dict[str, Any], bytes]:
    """Transcribe a file (runs in a worker).

    Args:
        fd: the file.
        job: shown, model, place, where, device, compute_type.
        tell: is told how many seconds of how many are done.

    Returns:
        The members of an `Extract`.
    """
    _keep_to_itself()
    import av

    shown = job["shown"]
    try:
        with opened(fd) as container:
            if not container.streams.audio:
                raise AgenvoyError("no_audio", f"{shown} has no sound", "there is nothing to transcribe")
            video = any(not _is_cover(stream) for stream in container.streams.video)
            seconds = float(container.duration or 0) / 1_000_000
            rows, language, heard = _segments(_chunks(container), job, seconds, tell)
    except (av.error.FFmpegError, OSError, ValueError, IndexError) as error:
        raise _damaged(shown, _why(error)) from error
    if not heard:
        raise _damaged(shown, "not a moment of its sound can be decoded")
    extra = {"language": language, "duration": round(max(seconds, heard), 2), "model": job["model"]}
    kind = "video" if video else "audio"
    silent = f"has sound ({extra['duration']:g} s), but no speech was found in it"
    return {"kind": kind, "unit": "segment", "style": "plain", "units": rows, "extra": extra, "silent": silent}, b""


def _damaged(shown: str, why: str) -> AgenvoyError:
    return AgenvoyError("corrupt_document", f"{shown} is damaged: {why}", "repair it with the program that made it")


def opened(fd: int) -> Any:
    """The container in a file, never a list of other files (HLS, concat, SDP), which a tag ahead of it can hide."""
    import av

    bounds = {"format_whitelist": FORMATS, "protocol_whitelist": "none"}
    return av.open(stream_of(fd), mode="r", metadata_errors="ignore", options=bounds)


def _why(error: Exception) -> str:
    """A decoder's error in words: FFmpeg's own text is a number, a phrase and a name that is none of ours."""
    import av

    if isinstance(error, av.error.InvalidDataError):
        return "it holds no sound that can be decoded"
    if isinstance(error, av.error.EOFError):
        return "it ends too early"
    if isinstance(error, av.error.FFmpegError) and error.strerror:
        return f"its sound cannot be decoded ({error.strerror.lower()})"
    return f"its sound cannot be decoded ({type(error).__name__})"


def _keep_to_itself() -> None:
    """Switch off what onnxruntime (which finds where somebody speaks) reports of itself.

    It keeps a session file in the folder for temporary files, and sends to its maker. The library looks at its switch
    by C, so that `putenv` is enough.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")


def _is_cover(stream: Any) -> bool:
    """Whether a video stream is only the picture on an album."""
    disposition = getattr(stream, "disposition", None)
    return bool(disposition is not None and "attached_pic" in str(disposition).lower())


def _chunks(container: Any) -> Iterator[Any]:
    """The sound as arrays of floats, at most `CHUNK_S` seconds each; frames that cannot be decoded are left out."""
    import av
    import numpy as np

    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    held: list[Any] = []
    samples = 0
    for frame in _frames(container):
        for piece in resampler.resample(frame):
            data = piece.to_ndarray().reshape(-1)
            held.append(data)
            samples += data.size
        if samples >= CHUNK_S * RATE:
            yield np.concatenate(held).astype(np.float32) / 32768.0
            held, samples = [], 0
    if samples:
        yield np.concatenate(held).astype(np.float32) / 32768.0


def _frames(container: Any) -> Iterator[Any]:
    """Decoded frames of the first sound stream, then None, which flushes the resampler."""
    import av

    for packet in container.demux(container.streams.audio[0]):
        try:
            yield from packet.decode()
        except av.error.InvalidDataError:
            continue  # a damaged packet is a gap, not the end
    yield None


def _segments(
    chunks: Iterator[Any], job: dict[str, Any], seconds: float, tell: Callable[[dict[str, Any]], None]
) -> tuple[list[str], str | None, float]:
    """Rows, language, and how many seconds of sound there were."""
    rows: list[str] = []
    language: str | None = None
    at = 0.0
    for sound in chunks:
        model = _model(job)
        tell({"done": at, "all": max(seconds, at)})
        segments, info = model.transcribe(sound, vad_filter=True, language=language)
        for segment in segments:
            text = " ".join(segment.text.split())
            if text:
                rows.append(f"[{_clock(at + segment.start)}–{_clock(at + segment.end)}] {text}")
            tell({"done": at + segment.end, "all": max(seconds, at + segment.end)})
        language = language or info.language
        at += len(sound) / RATE
    return rows, language if rows else None, at


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _model(job: dict[str, Any]) -> Any:
    """The loaded model; raises model_missing where it is nowhere to be had."""
    from faster_whisper import WhisperModel

    key = (job["place"], job["device"], job["compute_type"])
    if key not in _MODELS:
        _MODELS.clear()  # one at a time: models are large
        how = {"device": job["device"], "compute_type": job["compute_type"]}
        try:
            _MODELS[key] = WhisperModel(job["place"], local_files_only=True, **how)
        except (OSError, RuntimeError, ValueError) as absent:
            if job["where"] != "hub":
                raise _missing(job, absent) from absent
            try:
                _MODELS[key] = WhisperModel(job["place"], **how)
            except (OSError, RuntimeError, ValueError) as error:
                raise _missing(job, error) from error
    return _MODELS[key]


def _missing(job: dict[str, Any], error: Exception) -> AgenvoyError:
    why = " ".join(str(error).split())[:300] or type(error).__name__
    told = f"{job['shown']} holds sound, and the speech model {job['model']} cannot be loaded ({why})"
    return AgenvoyError("model_missing", told, install_command(job["model"]))
