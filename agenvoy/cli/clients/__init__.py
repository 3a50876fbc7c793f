"""Other programs' MCP configuration: where it is, and how to change one entry of it and nothing else.

    known      the clients: their files, and what an entry looks like there
    hooks      the hooks of those that have some
    jsonc      one member of a JSON text with comments
    tomltext   one table of a TOML text
    change     old text -> new text -> diff -> copy -> file
"""

from __future__ import annotations
