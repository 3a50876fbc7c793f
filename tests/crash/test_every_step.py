"""A death at every write step of every verb: each operation is there whole or not at all, and the log says which."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from crashing import Stage, die_at
from world import Picture, World, patch, sound, write

from agenvoy.workspace.service import Service

BIG = "".join(f"line {n} of a file that is longer than what history.db keeps itself\n" for n in range(3000))


@dataclass(frozen=True)
class Verb:
    """What is there before, and what is done; `touches` is a path for an outside change."""

    prepare: Callable[[World, Service], object]
    act: Callable[[Service], object]
    touches: str
    inverse: str = "undo"


def _tree(world: World, service: Service) -> None:
    world.put("d/a.txt", "a\n", 0o600)
    world.put("d/run.sh", "#!/bin/sh\n", 0o755)
    world.put("d/deep/b.txt", "b\n")
    (world.root / "d/empty").mkdir()
    (world.root / "d/link").symlink_to("a.txt")


def _file(world: World, service: Service) -> None:
    world.put("f.txt", "one\ntwo\n", 0o640)


def _shared(world: World, service: Service) -> None:
    path = world.put("f.txt", "one\ntwo\nthree, which is longer\n")
    os.link(path, world.root / "other.txt")


def _worked(world: World, service: Service) -> None:
    """A task that changed, made, removed and moved files."""
    _tree(world, service)
    world.put("gone.txt", "gone\n", 0o600)
    world.put("old.txt", "moved\n")
    service.begin_task("work")
    patch(service, "d/a.txt", "a", "A")
    write(service, "new/way/c.txt", "c\n")
    service.remove_file("gone.txt")
    service.move_file("old.txt", "new.txt")
    service.remove_file("d/link")


def _grown(world: World, service: Service) -> None:
    _file(world, service)
    write(service, "f.txt", BIG)
    write(service, "f.txt", BIG + "end\n")


def _buried(world: World, service: Service) -> None:
    """Versions 1 and 2 are of a file whose folder has become a file since."""
    world.put("d/x.txt", "x\n")
    patch(service, "d/x.txt", "x", "y")
    service.remove_tree("d")
    world.put("d", "in the way\n")


def _undone(world: World, service: Service) -> None:
    _worked(world, service)
    service.restore_file(task_id="current")
    service.undo()


VERBS = {
    "create": Verb(lambda w, s: None, lambda s: write(s, "new/deep/f.txt", "fresh\n"), "new/deep/f.txt"),
    "modify": Verb(_file, lambda s: write(s, "f.txt", "two\nthree\n"), "f.txt"),
    "modify a large file": Verb(_grown, lambda s: write(s, "f.txt", BIG + "more\n"), "f.txt"),
    "patch": Verb(_file, lambda s: patch(s, "f.txt", "two", "2"), "f.txt"),
    "modify a shared file": Verb(_shared, lambda s: write(s, "other.txt", "short\n"), "f.txt"),
    "remove": Verb(_file, lambda s: s.remove_file("f.txt"), "f.txt"),
    "remove a link": Verb(_tree, lambda s: s.remove_file("d/link"), "d/link"),
    "remove a folder": Verb(_tree, lambda s: s.remove_tree("d"), "d/a.txt"),
    "move": Verb(_file, lambda s: s.move_file("f.txt", "sub/g.txt"), "f.txt"),
    "restore a task": Verb(_worked, lambda s: s.restore_file(task_id="last"), "d/a.txt"),
    "restore over a file in the way": Verb(_buried, lambda s: s.restore_file(version=1), "d"),
    "restore a folder": Verb(
        lambda w, s: (_tree(w, s), s.remove_tree("d")), lambda s: s.restore_file(task_id="last"), "d/a.txt"
    ),
    "undo": Verb(lambda w, s: (_tree(w, s), s.remove_tree("d")), lambda s: s.undo(), "d/a.txt", "redo"),
    "redo": Verb(_undone, lambda s: s.redo(), "d/a.txt"),
}


def _checked(world: World, ends: list[tuple[Picture, object]]) -> Service:
    """After a death: open again, and find the whole or nothing, in the files and in what the log says of them."""
    service = world.service()
    service.session.log  # noqa: B018  opening brings what was left to an end
    assert not [said for said in service.session.said if "could not" in said]
    now = world.picture()
    assert now in [end for end, _ in ends], {p: (now.get(p), *(e.get(p) for e, _ in ends)) for p in now}
    assert (now, outside(service)) in ends
    sound(service)
    kept = {os.path.join(f, n) for f, _, names in os.walk(world.home / ".store/temp") for n in names}
    assert kept == {row["moved_to"] for row in service.trash_list().result["rows"]}
    return service


def _end(stage: Stage, act: Callable[[Service], object]) -> tuple[Picture, object]:
    world = stage.set()
    service = world.service()
    act(service)
    found = world.picture(), outside(service)
    world.close()
    return found


def outside(service: Service) -> object:
    """Where the log and the disk differ."""
    return service.workspace_status().result["outside"]


@pytest.mark.parametrize("name", VERBS)
def test_a_death_at_any_step_leaves_the_old_or_the_new(name: str, quick_path: Path) -> None:
    verb = VERBS[name]
    stage = Stage(quick_path, verb.prepare)
    ends = [_end(stage, lambda s: None), _end(stage, verb.act)]
    (old, _), (new, _) = ends
    assert old != new
    for number in range(1, 1000):
        world = stage.set()
        if not die_at(world, verb.act, number):
            assert number > 5
            return
        service = _checked(world, ends)
        if world.picture() == old:
            verb.act(service)
            assert world.picture() == new
        getattr(service, verb.inverse)()
        assert world.picture() == old, f"step {number}"
        sound(service)
        world.close()
    pytest.fail("the action never came to its end")


@pytest.mark.parametrize("name", VERBS)
def test_an_outside_change_after_a_death_is_kept(name: str, quick_path: Path) -> None:
    verb = VERBS[name]
    stage = Stage(quick_path, verb.prepare)
    (old, _), (new, _) = _end(stage, lambda s: None), _end(stage, verb.act)
    for number in range(1, 1000):
        world = stage.set()
        if not die_at(world, verb.act, number):
            return
        path = world.root / verb.touches
        touched = path.parent.is_dir() and not path.is_symlink() and not path.is_dir()
        if touched:
            path.write_text("somebody else\n")
        service = world.service()
        service.session.log  # noqa: B018
        assert not [said for said in service.session.said if "could not" in said], number
        now = world.picture()
        if touched:
            assert now.pop(verb.touches)[2] == b"somebody else\n", f"step {number}"
        assert _without(now, verb.touches) in (_without(old, verb.touches), _without(new, verb.touches)), number
        sound(service)
        world.close()


@pytest.mark.parametrize("name", ["modify a shared file", "remove a folder", "restore a task", "redo"])
def test_a_death_during_recovery_is_recovered_from(name: str, quick_path: Path) -> None:
    verb = VERBS[name]
    stage = Stage(quick_path, verb.prepare)
    ends = [_end(stage, lambda s: None), _end(stage, verb.act)]
    for number in range(6, 1000, 7):
        if not die_at(stage.set(), verb.act, number):
            return
        left = stage.as_it_is(f"left{number}")
        for second in range(4, 1000, 2):
            world = left.set()
            if not die_at(world, lambda service: service.session.log, second):
                break
            _checked(world, ends)
            world.close()


def _without(picture: Picture, path: str) -> Picture:
    """A picture without a path and what lies on the way to it or shares its inode."""
    return {p: v for p, v in picture.items() if not (p == path or path.startswith(p + "/") or p == "other.txt")}
