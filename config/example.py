"""The commented config file: every key, what it means, and its built-in value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webarc import __version__
from webarc.config.keys import KEYS, Key

_HEAD = """\
# Settings of webarc, in TOML. Every key is here with its built-in value; what you leave out keeps that value.
# Stronger than this file are environment variables and options; `webarc config show` tells what holds and why.
# Sizes are written like 500K, 100M or 2G, times like 30s, 15m, 6h or 1d. Paths are relative to this file.
"""


def example(chosen: Mapping[str, Any] | None = None, *, commented: bool = False) -> str:
    """The file's text; `chosen` values stand in it as set, the built-in ones as set or only as comments."""
    chosen = chosen or {}
    parts = [_HEAD]
    table = ""
    for name, key in KEYS.items():
        if key.table != table:
            table = key.table
            parts.append(f"[{table}]\n")
        mark = "# " if commented and name not in chosen else ""
        parts.append(
            f"{_comment(key)}{mark}{name.rpartition('.')[2]} = {_written(key, chosen.get(name, key.default))}\n"
        )
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
