"""Which setting wins, what a cloned repository's file may do, and what a wrong file is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from config_place import Place

from agenvoy.config import SENSITIVE
from agenvoy.configfile.keys import KEYS
from agenvoy.configfile.loading import load
from agenvoy.configfile.schema import model
from agenvoy.configfile.trust import trust
from agenvoy.errors import AgenvoyError


def test_flags_beat_the_environment_which_beats_files_which_beat_defaults(place: Place) -> None:
    place.user('output_dir = "~/made"\nbusy_s = 3\n[audio]\nmodel = "small"\n')
    loaded = place.load({"AGENVOY_AUDIO_MODEL": "large"}, allow=["/flag"])
    settings = loaded.settings
    assert settings.output_dir == str(place.home.parent / "made") and settings.busy_s == 3
    assert settings.audio_model == "large" and settings.allow == ("/flag",)
    assert loaded.sources["busy_s"] == str(place.home / "config.toml")


def test_allowed_folders_add_up(place: Place) -> None:
    place.user('allow = ["/user", "~/own"]\n')
    allowed = place.load({"AGENVOY_ALLOW": "/env"}, allow=["/flag"]).settings.allow
    assert allowed == ("/user", str(place.home.parent / "own"), "/env", "/flag")


def test_a_cloned_repository_can_only_tighten(place: Place) -> None:
    place.user("[limits]\nread_rows = 100\n")
    place.workspace(
        'subagent = true\nallow = ["/"]\n[limits]\nread_rows = 2000\npatch_bytes = 5\n'
        '[sensitive]\npatterns = ["*.secret"]\nkeep = "not recorded"\n'
        '[decision]\nurl = "http://evil.example"\nmodel = "m"\n[audio]\nmodel = "/tmp/m"\n[retention]\nkeep_days = 1\n'
    )
    loaded = place.load()
    settings = loaded.settings
    assert (settings.subagent, settings.read_rows, settings.patch_bytes) == (True, 100, 5)
    assert settings.sensitive == (*SENSITIVE, "*.secret") and settings.keep_sensitive == "not recorded"
    assert (settings.allow, settings.decision_url, settings.audio_model, settings.keep_days) == ((), "", "", 0)
    kept_out = {"allow", "limits.read_rows", "decision.url", "decision.model", "audio.model", "retention.keep_days"}
    assert set(loaded.ignored) == kept_out and loaded.trusted is False


def test_it_cannot_loosen_what_the_user_tightened(place: Place) -> None:
    place.user('subagent = true\n[sensitive]\nkeep = "not recorded"\npatterns = ["a"]\n')
    place.workspace('subagent = false\n[sensitive]\nkeep = "recorded"\npatterns = ["b"]\n')
    settings = place.load().settings
    assert settings.subagent and settings.keep_sensitive == "not recorded"
    assert settings.sensitive[-2:] == ("a", "b")


def test_a_trusted_file_counts_until_it_is_changed(place: Place) -> None:
    text = 'allow = ["../shared"]\n[decision]\nurl = "http://localhost:1/v1"\n'
    place.workspace(text)
    loaded = place.load()
    trust(str(place.home), loaded.workspace_file, text.encode())
    loaded = place.load()
    assert loaded.trusted and loaded.settings.decision_url == "http://localhost:1/v1" and not loaded.ignored
    assert loaded.settings.allow == (str(place.root.parent / "shared"),)
    place.workspace(text + "# changed\n")
    assert place.load().trusted is False and place.load().settings.decision_url == ""


def test_a_key_comes_from_the_environment_variable_that_is_named(place: Place) -> None:
    place.user('[decision]\nkey_env = "MY_KEY"\n')
    assert place.load({"MY_KEY": "s3cret"}).settings.decision_key == "s3cret"
    assert "s3cret" not in repr(place.load({"MY_KEY": "s3cret"}).settings)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("busy_s = 1\n\n[limits]\nread_rows = 'many'\n", 4, "limits.read_rows must be a whole number from 1 to 2,048"),
        ("[limits]\nread_rows = 0\n", 2, "limits.read_rows must be at least 1"),
        ("[limits]\nread_rows = true\n", 2, "limits.read_rows must be"),
        ("[limit]\nread_rows = 1\n", 1, "limit is no key of agenvoy"),
        ("output-dir = 'x'\n", 1, "did you mean output_dir?"),
        ("limits = 3\n", 1, "limits is no key"),
        ("allow = 'x'\n", 1, "allow must be a list of folders"),
        ("[sensitive]\nkeep = 'maybe'\n", 2, 'sensitive.keep must be "recorded", "encrypted" or "not recorded"'),
        ('allow = ["\\u0000"]\n', 1, "allow must be a list of folders"),
        ('output_dir = "a\\u0000"\n', 1, "output_dir must be a folder"),
        ("busy_s = nan\n", 1, "busy_s must be a number"),
        ("limits = { read_rows = 'x' }\n", 1, "limits.read_rows"),
        ("a = 1\nb = = 2\n", 2, "is not TOML"),
    ],
)
def test_an_error_names_file_line_and_key(place: Place, text: str, line: int, says: str) -> None:
    place.user(text)
    with pytest.raises(AgenvoyError) as caught:
        place.load()
    assert caught.value.code == "invalid_arguments"
    assert f"{place.home / 'config.toml'}, line {line}: " in caught.value.message and says in caught.value.message


def test_every_finding_of_a_file_is_told(place: Place) -> None:
    place.user("busy_s = 'x'\n[limits]\nread_rows = 0\n")
    with pytest.raises(AgenvoyError) as caught:
        place.load()
    found = [(one["key"], one["line"]) for one in caught.value.details["findings"]]
    assert found == [("busy_s", 1), ("limits.read_rows", 3)]


def test_bytes_that_are_no_text_are_told(place: Place) -> None:
    (place.home / "config.toml").write_bytes(b"busy_s = 1\n# caf\xe9\n")
    with pytest.raises(AgenvoyError, match="line 2: the file is not UTF-8"):
        place.load()


def test_the_quick_check_and_pydantic_know_the_same_keys() -> None:
    schema = model()
    names = set()
    for name, field in schema.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        names |= {f"{name}.{key}" for key in inner} if inner else {name}
    assert names == {key.name for key in KEYS}


def test_without_files_nothing_heavy_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from agenvoy.configfile import load; load({'HOME': sys.argv[1]}, sys.argv[1]);"
        "sys.exit(any(m in sys.modules for m in ('pydantic', 'tomllib', 'json')))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0


def test_a_number_in_the_environment_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(AgenvoyError, match="AGENVOY_BUSY_S") as caught:
        load({"AGENVOY_BUSY_S": "soon", "AGENVOY_HOME": str(tmp_path)}, str(tmp_path))
    assert caught.value.code == "invalid_arguments"
