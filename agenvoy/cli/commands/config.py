"""What is configured and where it comes from, and which workspace's file is trusted."""

from __future__ import annotations

import os
from typing import Annotated, Any

from agenvoy.cli.ask import asker
from agenvoy.cli.output import put
from agenvoy.cli.params import Opt
from agenvoy.cli.run import Run
from agenvoy.configfile.keys import KEYS, Key
from agenvoy.configfile.loading import Loaded, source_of
from agenvoy.errors import AgenvoyError
from agenvoy.types import ConfirmRequest, Outcome


def show(run: Run) -> int:
    """Every key, its value, and the file, variable or option that it comes from."""
    return run.finish("config_show", {}, lambda service: _shown(run), show=_print)


def _shown(run: Run) -> Outcome:
    loaded = run.loaded
    rows = [
        {"key": key.name, "value": _value(key, loaded), "source": source_of(key, loaded, os.environ, run.flags)}
        for key in KEYS
    ]
    files = [
        {"path": loaded.user_file, "there": os.path.exists(loaded.user_file), "trusted": True},
        {"path": loaded.workspace_file, "there": loaded.trusted is not None, "trusted": bool(loaded.trusted)},
    ]
    result = {"rows": rows, "files": files, "ignored": list(loaded.ignored)}
    return Outcome("config_show", "Config()", result, "")


def _value(key: Key, loaded: Loaded) -> Any:
    if not key.field:
        return "set" if loaded.settings.decision_key else ""  # the key itself is nobody's business
    found = getattr(loaded.settings, key.field)
    return list(found) if isinstance(found, tuple) else found


def _print(result: Any) -> None:
    from agenvoy.render.plain import aligned

    cells = [
        [row["key"], ", ".join(map(str, v)) if isinstance(v := row["value"], list) else str(v), row["source"]]
        for row in result["rows"]
    ]
    put("\n".join(aligned([[cell or "–" for cell in row] for row in cells])))
    for file in result["files"]:
        state = "not there" if not file["there"] else "in force" if file["trusted"] else "not trusted: it only tightens"
        put(f"{file['path']}: {state}")
    if result["ignored"]:
        put(f"ignored there: {', '.join(result['ignored'])}")


def trust(
    run: Run,
    revoke: Annotated[bool, Opt("--revoke", help="Trust this workspace's file no more.")] = False,
) -> int:
    """Trust this workspace's .agenvoy/config.toml as it is now; a changed file has to be trusted again."""
    return run.finish("config_trust", {}, lambda service: _trusted(run, revoke), show=lambda r: put(r["told"]))


def _trusted(run: Run, revoke: bool) -> Outcome:
    from agenvoy.configfile.reading import read, values
    from agenvoy.configfile.trust import trust as remember

    path, settings = run.loaded.workspace_file, run.settings
    if settings.subagent:
        raise AgenvoyError("not_available", "config trust is not available to sub-agents", "ask the user")
    data = read(path)
    if revoke:
        remember(settings.home, path, None)
        return _told(path, False, f"{path} is not trusted any more")
    if data is None:
        raise AgenvoyError("not_found", f"{path} does not exist", "there is nothing to trust")
    found = values(path, data)
    if not settings.assume_yes:
        _ask(path, found)
    remember(settings.home, path, data)
    return _told(path, True, f"{path} is trusted as it is now: {', '.join(found) or 'it is empty'}")


def _ask(path: str, found: dict[str, Any]) -> None:
    sets = "; ".join(f"{name} = {value!r}" for name, value in found.items())
    ask = asker()
    question = f"trust {path}, which sets {sets}?"
    answer = ask(ConfirmRequest("config", "Trust(config.toml)", question, sensitive=True)) if ask else None
    if answer is None:
        raise AgenvoyError("confirmation_required", f"Trust(config.toml) needs a confirmation: {question}", "use --yes")
    if answer != "yes":
        raise AgenvoyError("declined", "Trust(config.toml) was declined", "read the file first")


def _told(path: str, trusted: bool, told: str) -> Outcome:
    return Outcome("config_trust", "Trust(config.toml)", {"path": path, "trusted": trusted, "told": told}, "")


COMMANDS = {"show": show, "trust": trust}
