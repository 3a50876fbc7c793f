"""The user's files: the path jail, locks, states, atomic replacement, the ignore-aware walk."""
