"""Recordings that try to make the decoder open something else."""

import pytest
from reading import FIXTURES, read

from agenvoy.errors import AgenvoyError

pytest.importorskip("faster_whisper")
TAG = b"ID3\x04\0\0\0\0\0\0"  # an empty tag, which FFmpeg skips when it looks for the format


@pytest.mark.parametrize(
    "lists",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{0}\n#EXT-X-ENDLIST\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{0}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile {0}\n",
    ],
)
@pytest.mark.parametrize("tag", [TAG, b""])
def test_a_list_of_other_files_is_never_followed(tmp_path, lists, tag):
    other = FIXTURES / "media" / "speech.mp3"
    path = tmp_path / "list.mp3"
    path.write_bytes(tag + lists.format(other).encode())
    said = outcome(path)
    assert said in ("corrupt_document", "binary_file", "unsupported_type") or "bridge" not in said


def outcome(path) -> str:
    """The text, or the error's code."""
    try:
        return read(path).text
    except AgenvoyError as error:
        return error.code
