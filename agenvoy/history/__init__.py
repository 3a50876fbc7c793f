"""The log: plan → record → write → confirm; merge, restore, undo and redo, recovery, diff, blame, verify."""
