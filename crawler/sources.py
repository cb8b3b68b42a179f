"""Start URLs from the command line, from files with one URL a line, and from standard input."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from webarc.archive.urls import canonical, credentials_in, host_of, shown
from webarc.errors import BadURL, StorageProblem, UsageProblem

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(
    r"(?:about|blob|data|file|ftps?|git|javascript|magnet|mailto|news|s?ftp|ssh|tel|urn|view-source|wss?):",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?:[^\s/?#@]*@)?(?P<host>localhost|\[[0-9a-f:.]+\]|(?:[^\s/?#@:\[\]\\]+\.)+[^\s/?#@:\[\]\\]+\.?)(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"localhost|\[.*\]|[\d.]+", re.IGNORECASE)
# Most lists hold URLs in their canonical form; a million of them need no parser.
_CANONICAL = re.compile(
    r"https?://(?![^/]*xn--)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"
    r"(?![^?]*/[/.])/[A-Za-z0-9_.~/-]*+(?:\?[A-Za-z0-9_.~&=+-]*+)?"
)
# Endings of file names that no top-level domain has: a bare `urls.txt` is a file that is missing.
_FILE_ENDINGS = ("txt", "lst", "list", "csv", "tsv", "urls", "json", "xml", "html", "htm", "log", "toml", "conf", "bak")
_COMMENT = re.compile(r"\s#.*")
_LONGEST_PLAIN = 500
_MOST_NAMED = 1_000
_STANDARD_INPUT = "standard input"


class Start(NamedTuple):
    """A start URL and the credentials that were written into it."""

    url: str
    user: str | None = None
    password: str | None = None


@dataclass(slots=True)
class Sources:
    """The start URLs, each once, and a sentence on everything that is none."""

    urls: list[Start] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_sources(args: Sequence[str], stdin: IO[Any]) -> Sources:
    """Read all sources; raises UsageProblem for an argument that is nothing, or when no URL is left."""
    starts: dict[str, Start] = {}
    problems: list[str] = []
    for arg in args:
        if arg == "-":
            _read_lines(_bytes_of(stdin), _STANDARD_INPUT, starts, problems)
        elif _is_file(arg):
            _read_lines(_contents(arg), arg, starts, problems)
        else:
            _add(starts, _start_of_argument(arg))
    if not starts:
        if problems:
            raise UsageProblem(f"there is no start URL; the first problem is {problems[0]}")
        names = " and ".join(_STANDARD_INPUT if arg == "-" else shown(arg) for arg in args)
        raise UsageProblem(f"there is no start URL in {names}; write one URL a line there.")
    return Sources(list(starts.values()), problems)


def start_of(text: str) -> Start:
    """One written URL, with https:// put before a bare host; raises BadURL."""
    text = text.strip()
    if " " in text or "\t" in text:
        _check_alone(text)
    if len(text) <= _LONGEST_PLAIN and _CANONICAL.fullmatch(text):
        return Start(text)
    if not _SCHEME.match(text):
        text = _with_scheme(text)
    try:
        url = canonical(text)
    except BadURL as problem:
        raise problem if "@" not in text else _bad(text) from None
    if host_of(url).startswith("-"):
        raise BadURL(f"{shown(url)} has a host that begins with '-'; no real host does.")
    if "@" not in text:
        return Start(url)
    user, password = credentials_in(text) or ("", "")
    return Start(url, unquote(user) or None, unquote(password) or None)


def _check_alone(text: str) -> None:
    """A blank may stand in a URL; but what follows it may be another one, and then nobody wants both as one page."""
    for word in text.split()[1:]:
        if _SCHEME.match(word) or (_ADDRESS.fullmatch(word) and not _is_file_name(word)):
            name = shown(word.rpartition("@")[2])
            raise BadURL(
                f"{name} stands behind another URL; write each in a line of its own, and a blank in one as %20."
            )


def _with_scheme(text: str) -> str:
    address = _ADDRESS.fullmatch(text)
    if text.startswith("-") or _OTHER_SCHEME.match(text) or not address:
        raise _bad(text)
    return f"{'http' if _NUMERIC.fullmatch(address['host']) else 'https'}://{text}"


def _bad(text: str) -> BadURL:
    # Where a URL cannot be read, nobody knows which part of it is the password; what follows the last @ is not.
    return BadURL(f"{shown(text.rpartition('@')[2])} is not a valid http or https URL; check its spelling.")


def _start_of_argument(arg: str) -> Start:
    bare = _ADDRESS.fullmatch(arg) if not _SCHEME.match(arg) else None
    if not _SCHEME.match(arg) and (bare is None or _is_file_name(arg)) and not _OTHER_SCHEME.match(arg):
        name = shown(arg.rpartition("@")[2])
        raise UsageProblem(
            f"{name} is neither a file that exists nor a URL; check the name of the file, or write the URL with https://."
        )
    return start_of(arg)


def _is_file_name(arg: str) -> bool:
    return "/" not in arg and arg.lower().rpartition(".")[2] in _FILE_ENDINGS


def _is_file(arg: str) -> bool:
    if _SCHEME.match(arg):
        return False
    if not arg.strip():
        raise UsageProblem("a source is empty; give a URL, a file with one URL a line, or - for standard input.")
    try:
        path = Path(arg)
        if path.is_dir():
            raise UsageProblem(f"{arg!r} is a folder; give a file with one URL a line, or a URL.")
        return path.exists()
    except (OSError, ValueError):
        return False


def _contents(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as problem:
        raise StorageProblem(f"{name!r} cannot be read ({problem.strerror}); check its permissions.") from None


def _bytes_of(stream: IO[Any]) -> bytes:
    data = getattr(stream, "buffer", stream).read()
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogateescape")


def _read_lines(data: bytes, name: str, starts: dict[str, Start], problems: list[str]) -> None:
    bad = 0
    for number, line in enumerate(_lines(data), 1):
        written = line.strip()
        if not written or written[0] == "#":
            continue
        try:
            _add(starts, start_of(_COMMENT.sub("", written) if "#" in written else written))
        except BadURL as problem:
            bad += 1
            if bad <= _MOST_NAMED:
                problems.append(f"{name}:{number}: {_told(written, problem)}")
    if bad > _MOST_NAMED:
        problems.append(f"{name}: {bad - _MOST_NAMED} more lines are no URLs; is it the right file?")


def _told(line: str, problem: BadURL) -> str:
    """What is wrong with a line."""
    if any("\udc80" <= char <= "\udcff" for char in line):
        return "the line is not UTF-8; save the file as UTF-8."
    return str(problem)


def _lines(data: bytes) -> Iterable[str]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "surrogateescape")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _add(starts: dict[str, Start], start: Start) -> None:
    known = starts.get(start.url)
    if known is None or (known.user is None and start.user is not None):
        starts[start.url] = start
