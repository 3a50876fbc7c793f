"""config.toml: the user's (`<home>/config.toml`) and a workspace's (`<root>/.agenvoy/config.toml`).

    keys      every key: its kind, the setting it means, what a workspace's file may do with it
    reading   TOML text -> values, or an error that names file, line and key
    trust     workspace files that the user has trusted, by hash
    loading   defaults < user's file < workspace's file < environment < flags

Strength rises from left to right; but a workspace's file comes with whatever repository was cloned, so until the user
trusts it, it can only tighten. Without any file nothing but two `stat` calls is paid for.
"""

from __future__ import annotations

from agenvoy.configfile.loading import Loaded, load

__all__ = ["Loaded", "load"]
