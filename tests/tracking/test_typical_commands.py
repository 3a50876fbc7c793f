"""Typical commands of agents on a real tree: after each, restore brings every byte, mode, link and folder back."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from world import World

SOURCE = Path(__file__).parents[2] / "agenvoy"
PYTHON = sys.executable + " -I"  # the tree has a types.py that must not hide the standard library's
COMMANDS = {
    "sed in place": "sed -i 's/import/IMPORT/' errors.py types.py",
    "sed on many": "find . -name '*.py' | xargs sed -i 's/self/SELF/g'",
    "append": "echo '# more' >> config.py",
    "truncate": ": > errors.py",
    "overwrite": "echo new > types.py",
    "tee": "echo x | tee made.txt made2.txt",
    "move": "mv errors.py faults.py",
    "move into a folder": "mkdir sub && mv errors.py types.py sub/",
    "move a folder": "mv disk disc",
    "swap": "mv errors.py x && mv types.py errors.py && mv x types.py",
    "move over": "mv errors.py types.py",
    "copy": "cp errors.py copy.py",
    "copy a folder": "cp -r disk disk2",
    "copy over": "cp errors.py types.py",
    "remove": "rm errors.py",
    "remove a folder": "rm -r catalog history",
    "remove all": "rm -rf -- *",
    "make folders": "mkdir -p a/b/c d/e",
    "remove an empty folder": "rmdir hollow",
    "replace a folder by a file": "rm -r disk && echo x > disk",
    "replace a file by a folder": "rm errors.py && mkdir -p errors.py/deep && echo x > errors.py/deep/f",
    "chmod": "chmod 600 errors.py && chmod 755 types.py",
    "chmod a folder": "chmod 700 disk",
    "chmod recursively": "chmod -R go-rwx .",
    "link": "ln -s errors.py link.py",
    "link over": "ln -sf types.py ln",
    "remove a link": "rm ln",
    "replace a file by a link": "rm errors.py && ln -s types.py errors.py",
    "replace a link by a file": "rm ln && echo x > ln",
    "hard link": "ln errors.py hard.py",
    "touch": "touch errors.py new.txt",
    "binary": "head -c 300000 /dev/urandom > blob.bin",
    "large": "head -c 3000000 /dev/zero > zeros.bin && cat zeros.bin errors.py > both.bin",
    "tar": "tar cf ../x.tar disk && rm -r disk && tar xf ../x.tar && echo x >> disk/jail.py && tar cf here.tar disk",
    "patch by heredoc": "cat > errors.py <<'EOF'\nnothing\nEOF",
    "awk": "awk '{print NR\": \"$0}' errors.py > t && mv t errors.py",
    "sort in place": "sort -o errors.py errors.py",
    "line ends": "sed -i 's/$/\\r/' errors.py",
    "no final newline": "printf 'x' > errors.py",
    "odd names": "touch 'sp ace' -- -dash \"$(printf 'new\\nline')\" 'q\"uote'",
    "a name that is no UTF-8": "touch \"$(printf 'caf\\351.txt')\"",
    "hidden files": "echo KEY=1 > .env && mkdir .cache && touch .cache/x",
    "python edits and deletes": f"{PYTHON} -c \"import os,pathlib; p=pathlib.Path('errors.py'); "
    "p.write_text(p.read_text().upper()); os.remove('types.py'); pathlib.Path('n/m').mkdir(parents=True)\"",
    "compile in place": f"{PYTHON} -m compileall -q -b disk",
    "formatter": f"{PYTHON} -m ruff format --isolated --no-cache --line-length 60 disk",
    "git init and commit": "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm one",
    "git checkout": "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm one && "
    "rm errors.py && echo x >> types.py && git checkout -q -b other && git checkout -q -- . && echo y > new",
    "git stash": "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm one && echo x >> types.py"
    " && git -c user.name=a -c user.email=a@b stash -q && echo z >> errors.py",
    "a script that fails": "echo x >> errors.py; rm types.py; exit 3",
    "background child": "(sleep 0.1; echo late >> errors.py) & wait",
    "round trip": "cp errors.py keep && echo x >> errors.py && mv keep errors.py",
    "many files": "for i in $(seq 300); do echo $i > f$i; done; mkdir many && mv f* many/",
}


def tree(world: World) -> None:
    shutil.copytree(SOURCE, world.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (world.root / "hollow").mkdir(mode=0o750)
    os.symlink("errors.py", world.root / "ln")
    os.symlink("/nowhere", world.root / "dangling")


def without_git(world: World) -> dict[str, tuple[object, ...]]:
    return {path: state for path, state in world.picture().items() if path.partition("/")[0] != ".git"}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_what_a_command_did_is_taken_back_and_a_later_edit_stays(world: World, name: str) -> None:
    tree(world)
    service = world.service(clock=time.time_ns)
    task = service.begin_task("try a command").result["task_id"]
    before = without_git(world)
    service.run(["sh", "-c", COMMANDS[name]], dict(os.environ), str(world.root))
    world.put("mine.txt", "the user's\n")
    mine = world.picture()["mine.txt"]
    service.restore_file(task_id=task)
    after = without_git(world)
    assert after.pop("mine.txt") == mine
    assert after == before
    assert service.verify().result["ok"]
