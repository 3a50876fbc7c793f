"""What a rollback must not do, found in its plan before anything is written."""

from __future__ import annotations

import os
import stat

from agenvoy.catalog import checks, versions
from agenvoy.disk.flags import is_fixed
from agenvoy.errors import AgenvoyError
from agenvoy.history.plan import Item, Plan, plan_dict
from agenvoy.history.verify import altered
from agenvoy.history.writing import FREELY
from agenvoy.types import Version
from agenvoy.workspace.session import Session


def check_rows(session: Session, rows: list[Version], plan: Plan, task: str | None = None) -> None:
    """Nothing is put back by rows that somebody altered in the store, or without rows that an index has lost.

    Args:
        task: whose rows they are, where they are all that it has.

    Raises:
        AgenvoyError: store_corrupt, naming the operation.
    """
    with session.catalog.read() as c:
        targets = versions.operations_of(c, [item.to_version for item in plan.items if item.to_version])
        involved = sorted(targets | {row.operation for row in rows})
        wrong = altered(c, involved) or checks.unlisted(c, involved)
        if task is not None:
            wrong = wrong or sorted(checks.unlisted_of_task(c, task))
    if wrong:
        raise AgenvoyError(
            "store_corrupt",
            f"nothing was restored: what the store tells of operation {wrong[0]} is not what was written",
            "`agenvoy verify` names what is wrong; what other operations recorded can still be restored",
        )


def check(session: Session, plan: Plan, plan_id: str | None) -> None:
    """Refuse a plan that is not the one that was shown, or that cannot be carried out whole.

    Raises:
        AgenvoyError: conflict, not_restorable, permission_denied; with the plan.
    """
    check_possible(session, plan)
    if plan_id is not None and plan_id != plan.id:
        raise conflict(session, plan, "the plan would be another one now than the one that was shown")
    failed = plan.having("failed")
    if failed:
        lost = next((i for i in failed if i.reason.startswith(("its stored", "its bytes"))), None)
        code = "permission_denied" if lost is None else "not_restorable"
        first = lost or failed[0]
        raise AgenvoyError(
            code,
            f"{session.jail.shown(first.path)} cannot be restored: {first.reason}; nothing was changed",
            "mend that and call again, or restore the other paths one by one with path",
            changes=plan_dict(plan, session.jail.shown),
            plan_id=plan.id,
        )
    if plan.having("conflict"):
        raise conflict(session, plan, "")


def conflict(session: Session, plan: Plan, why: str) -> AgenvoyError:
    """The error for a plan with conflicts, or (`why`) for one that is no longer what it was."""
    names = [session.jail.shown(item.path) for item in plan.having("conflict")]
    hint = "look with dry_run; then choose on_conflict overwrite (what is there is kept as a version) or skip"
    if why and not names:
        hint = "look again with dry_run, and give the plan_id that it shows"
    told = why or f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''}: what was changed since would be lost"
    return AgenvoyError(
        "conflict",
        f"nothing was restored: {told}",
        hint,
        changes=plan_dict(plan, session.jail.shown),
        plan_id=plan.id,
    )


def check_possible(session: Session, plan: Plan) -> None:
    """Find before anything is written what could not be written, or has no bytes any more."""
    going = {i.path for i in plan.items if i.outcome == "removed" or (i.target.kind == "dir" != i.disk.kind)}
    for item in plan.items:
        if item.outcome not in ("restored", "merged", "removed", "recreated"):
            continue
        if not session.jail.writable(item.path):
            item.outcome, item.reason = "failed", "agenvoy may not write there"
        elif item.target.kind in ("file", "link") and not _has(session, plan, item):
            why = "its stored bytes are gone" if item.target.hash else "its bytes were not kept"
            item.outcome, item.reason = "failed", why
        else:
            _check_folder(item, going)


def check_sound(session: Session, plan: Plan) -> None:
    """For a dry run: contents that the real run would read and find damaged."""
    for item in plan.having("restored", "recreated"):
        if item.target.kind in ("file", "link") and item.target.hash != item.disk.hash:
            try:
                for _ in session.vault.blocks(item.target.hash):
                    pass
            except AgenvoyError as error:
                item.outcome, item.reason = "failed", error.message


def _has(session: Session, plan: Plan, item: Item) -> bool:
    if item.outcome == "merged" or item.target.same(item.disk) or session.vault.has(item.target.hash):
        return True
    return any(other.disk.hash == item.target.hash for other in plan.items if other.path == item.moved)


def _check_folder(item: Item, going: set[str]) -> None:
    folder = os.path.dirname(item.path)
    while not os.path.lexists(folder) or folder in going:
        if os.path.isdir(folder) and os.stat(folder).st_uid != os.geteuid() and not os.access(folder, FREELY):
            break  # it goes, but only its owner may open it for that
        folder = os.path.dirname(folder)
    if os.access(folder, os.W_OK | os.X_OK):
        if item.disk.kind in ("file", "dir") and is_fixed(item.path):
            item.outcome, item.reason = "failed", "it is marked immutable or append-only"
        elif is_fixed(folder):
            item.outcome, item.reason = "failed", "its folder is marked immutable or append-only"
        elif item.disk.kind != "absent" and _is_anothers(folder, item.path):
            item.outcome, item.reason = "failed", "it belongs to somebody else, and its folder lets only owners replace"
        return
    in_place = item.disk.kind == item.target.kind == "file" and os.access(item.path, os.W_OK)
    if not in_place:
        item.outcome, item.reason = "failed", "its folder is not writable"


def _is_anothers(folder: str, path: str) -> bool:
    """Whether a folder with the sticky bit keeps us from replacing a name."""
    here, me = os.stat(folder), os.geteuid()
    return bool(here.st_mode & stat.S_ISVTX) and me not in (0, here.st_uid, os.lstat(path).st_uid)
