"""The native tools, in the contract's order."""

from __future__ import annotations

from agenvoy.contracts import edit, files, find, history, read, restore, tasks
from agenvoy.surfaces.spec import Surface, ToolSpec

FIND = ToolSpec(
    "find_files",
    "Find files",
    "Find files by folder, by name or by content. List a folder with mode=list, find files by name with mode=glob "
    "(`*.py` matches at any depth; newest first), find lines by content with mode=search (RE2 regular expressions: "
    "no look-around, no back-references; output=content shows the lines). Prefer it to shell commands such as ls, "
    "find and grep. Hidden and git-ignored files are left out unless asked for; what was skipped is counted. Long "
    "results are paged: call again with the offset that the last line names. Paths in results go into read_files.",
    find.FindRequest,
    find.FindResult,
    read_only=True,
    idempotent=True,
)
READ = ToolSpec(
    "read_files",
    "Read files",
    "Read one or more files. Each row is shown as `<row number><tab><line>`; leave the number out when you quote. A "
    "long file is cut: its last line names the offset to go on with. Use `around` with line numbers from find_files "
    "to see only those places. Read a file before you change it: edit_file refuses files not read in this task. Any "
    "text encoding is read. Files with secrets (keys, .env) are read only after the user confirmed.",
    read.ReadRequest,
    read.ReadResult,
    read_only=True,
    idempotent=True,
)
EDIT = ToolSpec(
    "edit_file",
    "Edit a file",
    "Write a whole file (content) or patch an existing one (targets). Prefer targets: each old_string is copied "
    "exactly from read_files, without row numbers, with enough surrounding lines to occur once; all targets are made "
    "or none. An existing file must have been read in this task (not_read) and must not have changed since "
    "(stale_read shows what changed; then call again). Newlines, encoding and permission bits of the file are kept; "
    "missing folders are made. Every change is recorded: the answer's last line says how to undo it.",
    edit.EditRequest,
    edit.EditResult,
    destructive=True,
)
REMOVE = ToolSpec(
    "remove_file",
    "Remove a file",
    "Move one file or symbolic link to agenvoy's trash. Use it only when the user or a skill asked for the removal. "
    "Folders are refused. It needs confirmation each time. Undo: restore_file with the version before.",
    files.RemoveRequest,
    files.RemoveResult,
    destructive=True,
    needs_confirmation=True,
    subagent_allowed=False,
)
RESTORE = ToolSpec(
    "restore_file",
    "Restore files",
    "Put files back: to a version from file_history (version), to what they were before a task (task_id=current for "
    "your own), or to a time (time with path). Changes that others made since are kept where they do not overlap; "
    "otherwise nothing is changed and the answer (conflict) lists both sides. Try dry_run=true first: it shows the "
    "plan without asking or writing. It needs confirmation. A restore is recorded too and can be undone.",
    restore.RestoreRequest,
    restore.RestoreResult,
    destructive=True,
    idempotent=True,
    needs_confirmation=True,
    subagent_allowed=False,
)
HISTORY = ToolSpec(
    "file_history",
    "File history",
    "What was recorded: versions of a file, of a task or of the whole workspace, newest first (mode=list), or "
    "unified diffs (mode=read: newest version against the disk, or two versions). Use it to find the version to "
    "give to restore_file, and to see who changed a file. Files that were moved or removed keep their history.",
    history.HistoryRequest,
    history.HistoryResult,
    read_only=True,
    idempotent=True,
)
MOVE = ToolSpec(
    "move_file",
    "Move a file",
    "Move or rename one file or symbolic link; its history follows. Refused where the new path exists. Prefer it to "
    "writing the content anew and removing the old file.",
    files.MoveRequest,
    files.MoveResult,
    destructive=True,
)
OPEN = ToolSpec(
    "open_file",
    "Open a file or link",
    "Open a file or a URL for the user with the system's default program. It shows you nothing: to see a file's "
    "contents use read_files. URLs need confirmation.",
    files.OpenRequest,
    files.OpenResult,
    open_world=True,
)
BEGIN = ToolSpec(
    "begin_task",
    "Begin a task",
    "Begin a task with an objective in one sentence, before the first change of a new piece of work. Everything "
    "changed from then on can be taken back together with restore_file task_id=current. Ends your task before it.",
    tasks.BeginTaskRequest,
    tasks.BeginTaskResult,
)
END = ToolSpec(
    "end_task",
    "End the task",
    "End your running task when its objective is reached. It can still be taken back by its id.",
    tasks.EndTaskRequest,
    tasks.EndTaskResult,
)
TASKS = ToolSpec(
    "list_tasks",
    "List tasks",
    "Tasks of this workspace, newest first, with what each changed and whether it runs or was undone.",
    tasks.ListTasksRequest,
    tasks.ListTasksResult,
    read_only=True,
    idempotent=True,
)
STATUS = ToolSpec(
    "workspace_status",
    "Workspace status",
    "What your task changed so far, what other tasks changed since it began, and what changed outside the tools. "
    "Use it before you report, and when an edit is refused as stale.",
    tasks.StatusRequest,
    tasks.StatusResult,
    read_only=True,
    idempotent=True,
)

SURFACE = Surface(
    "native", (FIND, READ, EDIT, REMOVE, RESTORE, HISTORY, MOVE, OPEN, BEGIN, END, TASKS, STATUS)
)  # fmt: skip
