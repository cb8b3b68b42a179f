"""The commented config file: every key, what it means, and its built-in value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webarc import __version__
from webarc.config.keys import KEYS, Key
from webarc.config.layers import TRUSTED

_HEAD = """\
# Settings of webarc, in TOML. Every key is here with its built-in value; what you leave out keeps that value.
# Stronger than this file are environment variables and options; `webarc config show` tells what holds and why.
# Sizes are written like 500K, 100M or 2G, times like 30s, 15m, 6h or 1d. Paths are relative to this file.
"""
_OF_ARCHIVE = """\
# It holds whenever this archive is used: it is stronger than your own ~/.config/webarc/webarc.toml, weaker than a
# ./webarc.toml elsewhere and a file that you name. Archives travel, so what is marked "trusted" is taken from here only
# if your own file names this archive in trusted_archives.
"""


def example(chosen: Mapping[str, Any] | None = None, *, of_archive: bool = False) -> str:
    """The file's text; `chosen` values stand in it as set, the others too, or in an archive's as comments."""
    chosen = chosen or {}
    parts = [_HEAD + (_OF_ARCHIVE if of_archive else "")]
    table = ""
    for name, key in KEYS.items():
        if of_archive and name == TRUSTED:
            continue
        if key.table != table:
            table = key.table
            parts.append(f"[{table}]\n")
        mark = "# " if of_archive and name not in chosen else ""
        before = _comment(key) + ("# trusted\n" if of_archive and key.guarded else "")
        parts.append(f"{before}{mark}{name.rpartition('.')[2]} = {_written(key, chosen.get(name, key.default))}\n")
    return "\n".join(parts)


def _comment(key: Key) -> str:
    sources = " or ".join(source for source in (key.flag, f"${key.variable}") if source)
    return f"# {key.help}\n# ({sources})\n"


def _written(key: Key, value: Any) -> str:
    """A value in TOML; its strings are written as JSON has them."""
    if isinstance(value, tuple):
        return json.dumps(list(value), ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {json.dumps(item)}" for name, item in value.items()) + "}"
    shown = key.kind.show(value)
    if isinstance(value, bool) or (isinstance(value, int) and shown == str(value)):
        return shown
    return json.dumps(shown.replace(__version__, "{version}"), ensure_ascii=False)
