"""What every verb needs: settings, the open store, the caller's task, confirmations, notices."""

from __future__ import annotations

import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agenvoy.blobs import KeyMissing, Keyring
from agenvoy.catalog import Catalog, reads, tasks, trashed, versions
from agenvoy.catalog.tasks import Task
from agenvoy.config import Settings
from agenvoy.disk.jail import Jail
from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.history.vault import Vault
from agenvoy.types import Clock, Confirm, ConfirmRequest, NewId, TaskRef

if TYPE_CHECKING:
    from agenvoy.history.changes import Spec
    from agenvoy.history.log import Log

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case: sorts as it counts


def new_task_id() -> str:
    """A short id that sorts by time: 9 digits of milliseconds (until the year 3084) and 3 random ones."""
    number, digits = time.time_ns() // 1_000_000, []
    for _ in range(9):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits)) + "".join(secrets.choice(_ALPHABET) for _ in range(3))


class Session:
    """One caller's view of the store.

    Args:
        settings: see `config.Settings`.
        clock: epoch nanoseconds; default the system's.
        new_id: makes task ids.
        confirm: asks a person; None: nobody can be asked.
        step: called after every write step, for crash tests.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        new_id: NewId | None = None,
        confirm: Confirm | None = None,
        step: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.clock: Clock = clock or time.time_ns
        self.new_id: NewId = new_id or new_task_id
        self.confirm = confirm
        self.jail = Jail(settings)
        self.lock = threading.RLock()
        self.said: list[str] = []  # by recovery at opening
        self._step = step
        self._catalog: Catalog | None = None
        self._vault: Vault | None = None
        self._log: Log | None = None
        self._in_call = False
        self._workspace: int | None = None
        self._known: tuple[int, Task | None] | None = None  # the running task, and as of which own change

    # ---- the store
    @property
    def catalog(self) -> Catalog:
        """The open history.db; opened (and what a dead process left brought to an end) at first use."""
        with self.lock:
            if self._catalog is None:
                self._catalog = Catalog(self.settings.store, self.settings.busy_s)
                self._vault = Vault(self._catalog, self.settings.inline_blob, Keyring(self.settings.key_file))
                with self._catalog.read() as c:
                    left = not self._catalog.read_only and bool(versions.prepared(c))
                if left:
                    from agenvoy.history.recovery import recover

                    self.said += recover(self.log)
            return self._catalog

    @property
    def vault(self) -> Vault:
        """The contents of the log."""
        with self.lock:
            catalog = self.catalog
            if self._vault is None:
                self._vault = Vault(catalog, self.settings.inline_blob, Keyring(self.settings.key_file))
            return self._vault

    @property
    def log(self) -> Log:
        """The log. (Imported late: looking back needs neither the writing half nor recovery.)"""
        with self.lock:
            catalog = self.catalog
            if self._log is None:
                from agenvoy.disk.locks import Locks
                from agenvoy.history.changes import no_step
                from agenvoy.history.log import Log
                from agenvoy.history.recovery import recover

                locks = Locks(self.settings.store, self.settings.busy_s)
                self._log = Log(catalog, self.vault, locks, self.clock, recover, self._step or no_step)
            return self._log

    def writable_store(self) -> None:
        """Refuse a change that could not be recorded; raises store_unavailable, not_available."""
        if self.catalog.read_only:
            raise AgenvoyError(
                "store_unavailable",
                f"the store {self.settings.store} is read-only, so nothing can be recorded, and nothing was changed",
                "set AGENVOY_HOME to a writable folder",
            )
        if self.settings.keep_sensitive == "encrypted":
            try:
                self.vault.keyring.key(make=True)
            except (KeyMissing, OSError) as error:
                raise AgenvoyError(
                    "not_available",
                    f"contents of sensitive files are to be kept encrypted, but there is no key for it: {error}",
                    "mend the key file, or choose another `sensitive.keep` in config.toml",
                ) from error

    def close(self) -> None:
        """Close the store."""
        with self.lock:
            if self._catalog is not None:
                self._catalog.close()
                self._catalog = self._vault = self._log = None

    @contextmanager
    def translating(self, shown: str) -> Iterator[None]:
        """Turns what the system or a race says about a path into the contract's errors."""
        from agenvoy.disk.replace import Raced

        try:
            yield
        except Raced:
            raise AgenvoyError(
                "stale_read",
                f"{shown} was changed by somebody else at the same instant; nothing was written",
                "read it again with read_files, then call again",
            ) from None
        except OSError as error:
            raise from_os_error(error, shown) from error

    # ---- the task
    def workspace_id(self) -> int | None:
        """The workspace's id; None before anything was recorded in it."""
        if self._workspace is None:  # its row is never taken away
            with self.catalog.read() as c:
                self._workspace = tasks.workspace(c, self.settings.root)
        return self._workspace

    def idle_since(self) -> int:
        """Tasks not used since then have ended."""
        return self.clock() - self.settings.idle_task_s * 1_000_000_000

    def running(self) -> Task | None:
        """The task that calls belong to: the one named, else the running one of workspace and actor.

        Raises:
            AgenvoyError: no_such_task for a name that means none or several.
        """
        changes = self.catalog.own_changes
        if self._known is not None and self._known[0] == changes:
            return self._known[1]
        task = self._look_up_running()
        if self._in_call:
            self._known = (changes, task)
        return task

    def _look_up_running(self) -> Task | None:
        if self.settings.task:
            return self.find_task(self.settings.task)
        workspace = self.workspace_id()
        if workspace is None:
            return None
        with self.catalog.read() as c:
            found = tasks.running(c, workspace, self.settings.actor, self.idle_since())
        return found[0] if found else None

    @contextmanager
    def one_call(self) -> Iterator[None]:
        """Within one call the caller's task is looked up once, and again after each write of its own."""
        before, self._in_call = self._in_call, True
        try:
            yield
        finally:
            self._in_call, self._known = before, None

    def find_task(self, prefix: str) -> Task:
        """A task of this workspace by its id or a unique prefix; raises no_such_task."""
        workspace = self.workspace_id()
        with self.catalog.read() as c:
            found = tasks.by_prefix(c, workspace, prefix) if workspace is not None and prefix else []
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(task.id for task in found)
            raise AgenvoyError("no_such_task", f"{prefix} is the beginning of several tasks", f"be exact: {shown} …")
        raise AgenvoyError("no_such_task", f"there is no task {prefix} here", "list_tasks shows the tasks")

    def spec(self, tool: str, kind: str, label: str, *, begins: bool = True) -> Spec:
        """Who writes; with `begins`, a task is begun where none is running."""
        from agenvoy.history.changes import Spec

        task = self.running()
        if task is None and begins:
            return Spec(
                self.settings.root, self.settings.actor, tool, kind, label, self.new_id(), "",
                idle_since=self.idle_since(),
            )  # fmt: skip
        return Spec(self.settings.root, self.settings.actor, tool, kind, label, task.id if task else None)

    def scopes(self) -> tuple[str | None, str]:
        """The read memories of the caller: its running task's, and that of reads outside a task."""
        task, workspace = self.running(), self.workspace_id()
        return (task.id if task else None, reads.scope_of(workspace or 0, self.settings.actor))

    def task_ref(self) -> TaskRef | None:
        """The caller's task as answers name it."""
        task = self.running()
        return None if task is None else TaskRef(task.id, task.objective)

    def take_notices(self) -> list[str]:
        """What waits to be told to the caller; told once."""
        found, self.said = list(self.said), []
        task, scope = self.scopes()
        names = [name for name in (task, scope) if name]
        with self.catalog.read() as c:
            waiting = reads.notices(c, names)
        if waiting and not self.catalog.read_only:
            with self.catalog.write(sync=False) as c:
                reads.drop_notices(c, waiting[-1][0], names)
        return found + [text for _, text in waiting if text not in found]

    # ---- confirmation
    def ask(self, request: ConfirmRequest) -> None:
        """Get a yes, or raise not_available (sub-agents), confirmation_required or declined."""
        if request.sensitive:
            if self.settings.allow_sensitive:
                return
        else:
            self.not_for_subagents(request.tool)
            if self.settings.assume_yes or self._confirmed(request.tool):
                return
        answer = self.confirm(request) if self.confirm is not None else None
        if answer is None:
            flag = "--allow-sensitive" if request.sensitive else "--yes"
            raise AgenvoyError(
                "confirmation_required",
                f"{request.label} needs a confirmation: {request.question}",
                f"ask the user; then call again with {flag}, or at a terminal",
            )
        if answer == "no":
            raise AgenvoyError("declined", f"{request.label} was declined", "ask the user what to do instead")
        task = self.running()
        if answer == "task" and task is not None and not request.sensitive:
            with self.catalog.write(sync=False) as c:
                tasks.confirm_all(c, task.id, request.tool)

    def not_for_subagents(self, tool: str) -> None:
        """Refuse what removes or puts back to a sub-agent."""
        if self.settings.subagent:
            raise AgenvoyError(
                "not_available", f"{tool} is not available to sub-agents", "report to the main agent what is needed"
            )

    def _confirmed(self, tool: str) -> bool:
        task = self.running()
        if task is None:
            return False
        with self.catalog.read() as c:
            return tasks.confirmed(c, task.id, tool)

    # ---- identity
    def identity(self, real: str) -> str:
        """The path under which the log knows a file: one of an inode's several names stands for all."""
        try:
            found = os.lstat(real)
        except OSError:  # absent: it is its own path
            return real
        if not stat.S_ISREG(found.st_mode) or found.st_nlink < 2:
            return real
        with self.catalog.read() as c:
            names = trashed.names_of(c, found.st_dev, found.st_ino)
        for name in names:
            try:
                other = os.lstat(name)
            except OSError:  # that name is gone; the next one stands in
                continue
            if (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino):
                return name
        return real

    def recorded_paths(self, path: str) -> list[str]:
        """The paths under which the log may know what a caller's path means: the file it leads to, and itself."""
        followed = self.jail.resolve(path).real
        itself = self.jail.resolve(path, follow=False).real
        return list(dict.fromkeys((self.identity(followed), followed, itself)))
