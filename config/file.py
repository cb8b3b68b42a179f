"""One config file: where it is looked for, its values, and the line each of them stands in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webarc.config.keys import KEYS, TABLES

NAME = "webarc.toml"
_TABLE_LINE = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_KEY_LINE = re.compile(r"\s*([A-Za-z0-9_.\"' -]+?)\s*=")
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What one file says: every `table.key` with its value and line, and what is wrong with the file as a whole."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    problem: str = ""

    def place(self, name: str) -> str:
        """`webarc.toml:7`, for the origin of a value."""
        line = self.lines.get(name)
        return f"{self.path}:{line}" if line else str(self.path)

    def where(self, name: str) -> str:
        """`webarc.toml, line 7`, for messages."""
        line = self.lines.get(name)
        return f"{self.path}, line {line}" if line else str(self.path)


def places(explicit: Path | None, environ: Mapping[str, str]) -> tuple[list[Path], bool]:
    """Where to look for the config file, and whether somebody named it."""
    if explicit:
        return [explicit.expanduser()], True
    if environ.get("WEBARC_CONFIG"):
        return [Path(environ["WEBARC_CONFIG"]).expanduser()], True
    home = environ.get("HOME")
    return [Path(NAME), *([Path(home, ".config", "webarc", NAME)] if home else [])], False


def find(explicit: Path | None, environ: Mapping[str, str]) -> ConfigFile | None:
    """The config file in use, read; None if nobody named one and there is none."""
    candidates, named = places(explicit, environ)
    for path in candidates:
        if named or _exists(path):
            return read(path)
    return None


def read(path: Path) -> ConfigFile:
    """A file's values and lines; a file that cannot be read or is no TOML has a problem and no values."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ConfigFile(path, problem=f"there is no config file {path}; check its name.")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        return ConfigFile(path, problem=f"{path} cannot be read ({reason}); mend it or name another one.")
    try:
        return ConfigFile(path, _flat(tomllib.loads(text)), _lines(text))
    except tomllib.TOMLDecodeError as error:
        return ConfigFile(path, problem=_broken(path, text, str(error)))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # in the way but not readable: read() says why


def _broken(path: Path, text: str, message: str) -> str:
    """The parser's complaint, with the line and the key that it stopped at."""
    at = _AT_LINE.search(message)
    line = int(at[1]) if at and at[1] else text.count("\n") + 1
    reason = _AT_LINE.sub("", message)
    near = [name for name, number in _lines(text).items() if number <= line]
    key = f" near {near[-1]}" if near else ""
    return f"{path}, line {line}: not valid TOML{key} ({reason})."


def _flat(document: dict[str, Any]) -> dict[str, Any]:
    """`table.key` for every value in a table of ours; other tables stay whole, to be named as unknown."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if name in TABLES and isinstance(value, dict):
            flat.update({f"{name}.{key}": item for key, item in value.items()})
        else:
            flat[name] = value
    return flat


def _lines(text: str) -> dict[str, int]:
    """The first line of every key; tomllib does not tell, so the text is read by eye."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE_LINE.match(line):
            table = _plain(header[1])
            found.setdefault(table, number)
        elif entry := _KEY_LINE.match(line):
            found.setdefault(f"{table}.{_plain(entry[1])}".lstrip("."), number)
    # `[filters.modules]` and `modules.name = ...` are lines of the key `filters.modules`.
    for name in list(found):
        for key in KEYS:
            if name.startswith(f"{key}."):
                found.setdefault(key, found[name])
    return found


def _plain(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
