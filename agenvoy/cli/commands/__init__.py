"""One file per command; each declares `command(run, …) -> exit status`, or several `COMMANDS`. None imports another."""
