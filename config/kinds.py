"""What a setting may hold: how each kind of value is read from TOML, from text, and shown again."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from webarc import __version__
from webarc.config import units

_NOTHING = ("none", "inf")
_LONGEST_ZONE = 100
_CREDENTIALS = re.compile(r"//[^/@\s]*@")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*")
_PRIVATE_HEADER = re.compile(
    r"(?i)([^:]*(?:auth|cookie|token|key|secret|passw|credential|session)[^:]*|[^:]*(?=:\s*(?:basic|bearer)\s)):.*"
)
_MIME_TYPE = re.compile(r"\*|[\w!#$&^.+*-]+/[\w!#$&^.+*-]+", re.ASCII)
_PROXY = re.compile(r"(?i)(?:https?|socks4a?|socks5h?)://[^\s/]+/?")


class Wrong(ValueError):
    """A value that is refused for a reason worth telling."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value; `read` takes a TOML value, `parse` a text, both raise ValueError for anything else.

    `check` looks at what the value names, such as a file, and raises Wrong. A `vital` value that is wrong is never
    replaced by a weaker one: a crawl without its proxy or its cookies would not be what the user wants.
    """

    wanted: str
    read: Callable[[object], Any]
    parse: Callable[[str], Any]
    show: Callable[[Any], str] = str
    check: Callable[[Any], None] = lambda value: None
    vital: bool = False


def flag() -> Kind:
    """True or false."""
    return Kind("true or false", _flag, _flag_text, lambda value: "true" if value else "false")


def whole(least: int, *, unlimited: str = "") -> Kind:
    """A whole number; with `unlimited`, that word stands for None, no limit."""
    wanted = f"a whole number of at least {least}" + (f' or "{unlimited}"' if unlimited else "")

    def read(value: object) -> int | None:
        if unlimited and _is_nothing(value):
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(value)
        return value

    def parse(text: str) -> int | None:
        return read(int(text) if text.strip().isdigit() else text)

    return Kind(wanted, read, parse, lambda value: unlimited if value is None else str(value))


def size(*, optional: bool = False) -> Kind:
    """Bytes, as a number or as in 100M; None is no limit."""
    return _measured("a size such as 500K or 100M", units.size, units.shown_size, optional, int)


def duration(*, optional: bool = False) -> Kind:
    """Seconds, as a number or as in 6h; None is no limit."""
    return _measured("a duration such as 30s or 6h", units.duration, units.shown_duration, optional, float)


def text(*, optional: bool = False) -> Kind:
    """A text without line ends; empty means None if it may be missing."""

    def read(value: object) -> str | None:
        if not isinstance(value, str) or not value.isprintable() or not (value or optional):
            raise ValueError(value)
        return value or None

    return Kind("a text on one line", read, read, lambda value: _CREDENTIALS.sub("//***@", value or ""))


def agent() -> Kind:
    """A text in which `{version}` stands for webarc's own, so that a config file need not change with it."""
    plain = text()
    return Kind(
        plain.wanted, *(lambda value: str(plain.read(value)).replace("{version}", __version__),) * 2, plain.show
    )


def path(*, optional: bool = False) -> Kind:
    """A file or folder; `~` is the home folder."""

    def read(value: object) -> Path | None:
        if not isinstance(value, str | Path) or "\0" in str(value) or not (value or optional):
            raise ValueError(value)
        return _expanded(str(value)) if str(value) else None

    return Kind("a path", read, read, lambda value: "" if value is None else str(value))


def paths() -> Kind:
    """A list of files or folders; as text, separated by commas."""
    single, listed = path(), _listed("a list of paths", _filled, separator=",")
    return replace(
        listed,
        read=lambda value: tuple(map(single.read, listed.read(value))),
        parse=lambda text: tuple(map(single.read, listed.parse(text))),
        show=lambda value: ", ".join(map(str, value)),
    )


def readable() -> Kind:
    """A file that must be there, or None."""
    plain = path(optional=True)
    return replace(plain, wanted="the path of a file that can be read", check=_check_readable, vital=True)


def proxy() -> Kind:
    """The URL of a proxy, or None."""
    plain = text(optional=True)

    def read(value: object) -> str | None:
        if value != "" and not (isinstance(value, str) and _PROXY.fullmatch(value)):
            raise ValueError(value)
        return value or None

    return replace(
        plain, wanted="an http, https or socks URL such as http://host:3128", read=read, parse=read, vital=True
    )


def choice(*names: str) -> Kind:
    """One of a few words."""

    def read(value: object) -> str:
        if value not in names:
            raise ValueError(value)
        return str(value)

    return Kind("one of " + ", ".join(f'"{name}"' for name in names), read, read)


def zone() -> Kind:
    """A time zone: CET (UTC+1 all year), `local`, or a name of the time zone database."""
    plain = text()
    return replace(plain, wanted='CET, local or a name such as "Europe/Berlin"', read=_zone, parse=_zone)


def names() -> Kind:
    """A list of words; as text, separated by commas."""
    return _listed("a list of names", _filled, separator=",")


def mime_types() -> Kind:
    """A list of MIME types, in which `*` stands for anything; as text, separated by commas."""
    return _listed('a list of MIME types such as "text/html" or "image/*"', _mime_type, separator=",")


def patterns() -> Kind:
    """A list of regular expressions; as text, one of them or a TOML list, since a comma may be part of one."""
    return _listed("a list of regular expressions", _expression)


def headers() -> Kind:
    """A list of `Name: value`; what looks like a credential is masked when shown."""
    return _listed('a list of headers such as "Accept-Language: de"', _header, show=_private)


def hosts() -> Kind:
    """True, false, or a list of hosts and networks."""
    listed = _listed("true, false or a list of hosts and networks", _filled, separator=",")

    def read(value: object) -> bool | tuple[str, ...]:
        return value if isinstance(value, bool) else listed.read(value)

    def parse(text: str) -> bool | tuple[str, ...]:
        try:
            return _flag_text(text)
        except ValueError:
            return listed.parse(text)  # type: ignore[no-any-return]

    def show(value: bool | tuple[str, ...]) -> str:
        return listed.show(value) if value and not isinstance(value, bool) else str(bool(value)).lower()

    return Kind(listed.wanted, read, parse, show)


def table() -> Kind:
    """Names with a text each; as text, `name=text` separated by commas."""

    def read(value: object) -> dict[str, str]:
        if not isinstance(value, Mapping) or not all(isinstance(item, str) and item for item in value.values()):
            raise ValueError(value)
        return dict(value)

    def parse(text: str) -> dict[str, str]:
        pairs = [item.partition("=") for item in text.split(",") if item.strip()]
        return read({name.strip(): target.strip() for name, _, target in pairs})

    return Kind("a table of names and texts", read, parse, lambda value: ",".join(f"{k}={v}" for k, v in value.items()))


def _measured(
    wanted: str, parse: Callable[[str], float], show: Callable[[Any], str], optional: bool, exact: type
) -> Kind:
    wanted += ' or "none"' if optional else ""

    def read(value: object) -> float | None:
        if optional and _is_nothing(value):
            return None
        if isinstance(value, str):
            return parse(value)
        numbers = (int,) if exact is int else (int, float)
        # The comparison also refuses nan and inf, which TOML can write.
        if not isinstance(value, numbers) or isinstance(value, bool) or not 0 <= value < 1e18:
            raise ValueError(value)
        return exact(value)  # type: ignore[no-any-return]

    return Kind(wanted, read, read, lambda value: "none" if value is None else show(value))


def _listed(wanted: str, item: Callable[[str], str], separator: str = "", show: Callable[[str], str] = str) -> Kind:
    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise ValueError(value)
        return tuple(item(each) for each in value)

    def parse(text: str) -> tuple[str, ...]:
        if text.lstrip().startswith("["):
            return read(tomllib.loads(f"value = {text}")["value"])
        return read([each.strip() for each in text.split(separator)] if separator else [text])

    return Kind(wanted, read, parse, lambda value: ", ".join(show(each) for each in value))


def _is_nothing(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _flag_text(text: str) -> bool:
    word = text.strip().lower()
    if word in ("true", "yes", "on", "1"):
        return True
    if word in ("false", "no", "off", "0"):
        return False
    raise ValueError(text)


def _expanded(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError(value) from None


def _zone(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_ZONE:
        raise ValueError(value)
    if value.lower() in ("cet", "local"):
        return value.upper() if value.lower() == "cet" else "local"
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(value).key
    except (ValueError, KeyError, OSError):  # no name, an unknown one, or that of a folder of names
        raise ValueError(value) from None


def _filled(value: str) -> str:
    if not value or not value.isprintable():
        raise ValueError(value)
    return value


def _expression(value: str) -> str:
    import regex  # 20 ms, and most people have no patterns

    try:
        regex.compile(value)
    except regex.error as error:
        raise Wrong(f"{value!r} is not a regular expression ({error})") from None
    except RecursionError:
        raise Wrong("it has too many brackets inside each other") from None
    return value


def _header(value: str) -> str:
    if not _HEADER.fullmatch(value):
        raise ValueError(value)
    return value


def _mime_type(value: str) -> str:
    if not _MIME_TYPE.fullmatch(value):
        raise Wrong(f"{value!r} is not a MIME type")
    return value


def _check_readable(file: Path | None) -> None:
    if file is None:
        return
    try:
        # Without waiting, should it be a pipe.
        os.close(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        if file.is_dir():
            raise Wrong(f"{file} is a folder")
    except OSError as error:
        raise Wrong(f"{file} cannot be read, {error.strerror}") from None


def is_private_header(line: str) -> bool:
    """Whether `Name: value` looks like a credential."""
    return _PRIVATE_HEADER.fullmatch(line) is not None


def _private(value: str) -> str:
    return _PRIVATE_HEADER.sub(r"\1: ***", value)
