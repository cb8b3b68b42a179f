"""One config file: where it is looked for, its values, and the line each of them stands in."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webarc.config.keys import KEYS, TABLES

NAME = "webarc.toml"
_TABLE_LINE = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_KEY_LINE = re.compile(r"\s*([A-Za-z0-9_.\"' -]+?)\s*=")
# A file that came with an archive may be made to keep the parser busy for hours: it gets no more than it can need.
_LARGEST = 65_536
_MOST_DOTS = 3_000
_MOST_DOTS_IN_HEADER = 10
_WRITABLE_BY_ALL = 0o002
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What one file says: every `table.key` with its value and line, and what is wrong with the file as a whole."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    is_mine: bool = False

    def place(self, name: str) -> str:
        """`webarc.toml:7`, for the origin of a value."""
        line = self.lines.get(name)
        return f"{self.path}:{line}" if line else str(self.path)

    def where(self, name: str) -> str:
        """`webarc.toml, line 7`, for messages."""
        line = self.lines.get(name)
        return f"{self.path}, line {line}" if line else str(self.path)


def named(explicit: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that somebody named."""
    if explicit:
        return explicit.expanduser()
    return Path(environ["WEBARC_CONFIG"]).expanduser() if environ.get("WEBARC_CONFIG") else None


def at_home(environ: Mapping[str, str]) -> Path | None:
    """Where the user's own file is, if there is one."""
    home = environ.get("HOME")
    return Path(home, ".config", "webarc", NAME) if home else None


def exists(path: Path) -> bool:
    """Whether there is something, even if it cannot be read, as read() will say."""
    try:
        return path.exists()
    except OSError:
        return True


def read(path: Path) -> ConfigFile:
    """A file's values and lines; a file that cannot be read or is no TOML has a problem and no values."""
    try:
        return _parsed(path, path.read_bytes())
    except FileNotFoundError:
        return ConfigFile(path, problem=f"there is no config file {path}; check its name.")
    except OSError as error:
        return _unreadable(path, str(error.strerror))


def read_foreign(path: Path) -> ConfigFile:
    """The same of a file that anybody may have made; it tells whether the user did, and nobody else could."""
    try:
        # Without waiting, should it be a pipe.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                return _unreadable(path, "not a file")
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        return _unreadable(path, str(error.strerror))
    if len(data) > _LARGEST or _is_entangled(data):
        return _unreadable(path, "larger or more entangled than any config file")
    return _parsed(path, data, is_mine=status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_ALL)


def _parsed(path: Path, data: bytes, *, is_mine: bool = True) -> ConfigFile:
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return ConfigFile(path, _flat(tomllib.loads(text)), _lines(text), is_mine=is_mine)
    except UnicodeDecodeError:
        return _unreadable(path, "not UTF-8")
    except tomllib.TOMLDecodeError as error:
        return ConfigFile(path, problem=_broken(path, text, str(error)))
    except (RecursionError, ValueError):  # brackets in brackets without end, a number of thousands of digits
        return _unreadable(path, "no TOML that makes sense")


def _is_entangled(data: bytes) -> bool:
    """Whether names have more parts than the parser can deal with: it takes the square of them."""
    lines = [line for line in map(bytes.lstrip, data.splitlines()) if not line.startswith(b"#")]
    headers = (line for line in lines if line.startswith(b"["))
    return sum(line.count(b".") for line in lines) > _MOST_DOTS or any(
        line.count(b".") > _MOST_DOTS_IN_HEADER for line in headers
    )


def _unreadable(path: Path, reason: str) -> ConfigFile:
    return ConfigFile(path, problem=f"{path} cannot be read ({reason}); mend it or name another one.")


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
