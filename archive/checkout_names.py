"""File names for URLs, as wget would give them, but safe on every file system and no two of them alike.

`/` is `index.html`, `/a/` is `a/index.html`, a query follows `@`. Escapes are decoded where that gives a character that
every file system takes; whatever else could mean something to a shell, to git or to Windows is written as `%XX`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from itertools import count
from unicodedata import normalize
from urllib.parse import quote

from webarc.archive.mime import extension

HTML = "text/html"
XHTML = "application/xhtml+xml"
_INDEX = "index.html"
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?|git~[0-9]+", re.IGNORECASE | re.DOTALL
)
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,16}$")
_HTML_ENDINGS = (".html", ".htm")
_XHTML_ENDINGS = (".xhtml", ".xht")
_LONGEST_NAME = 200
_LONGEST_PATH = 800
_MOST_FOLDERS = 60
# What stands for itself in HTML, CSS and srcset attributes alike.
_PLAIN_IN_LINKS = "-._~=@+!$"


class Names:
    """Gives every file of a folder a name of its own, also where upper and lower case are one."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._moved: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def reserve(self, folder: str) -> None:
        """This folder and those above it will be folders; what would be a file of that name gets another one."""
        while folder and (key := _key(folder)) not in self._folders:
            self._folders.add(key)
            folder = folder.rpartition("/")[0]

    def take(self, wanted: str) -> str:
        """The wanted path, or one like it if that is taken."""
        folder, slash, name = wanted.rpartition("/")
        path = f"{self._folder(folder)}{slash}{name}"
        path = self._free(path, self._files, self._folders)
        self._files.add(_key(path))
        self.reserve(path.rpartition("/")[0])
        return path

    def _folder(self, path: str) -> str:
        """A folder by this path, or by another where a file already has one of its names."""
        if not path or _key(path) in self._folders:
            return path
        if path not in self._moved:
            above, slash, name = path.rpartition("/")
            self._moved[path] = self._free(f"{self._folder(above)}{slash}{name}", self._files)
        return self._moved[path]

    def _free(self, path: str, *taken: set[str]) -> str:
        key = _key(path)
        if not any(key in names for names in taken):
            return path
        folder, slash, name = path.rpartition("/")
        ending = _ending(name)
        # Where many are alike each search goes on behind the last one.
        for number in count(self._numbers.get(key, 2)):
            other = f"{folder}{slash}{name.removesuffix(ending)}.{number}{ending}"
            if not any(_key(other) in names for names in taken):
                self._numbers[key] = number + 1
                return other
        raise AssertionError("numbers do not end")


def wanted_name(url: str, mime_type: str = "") -> str:
    """The path that a canonical URL would like to have; with a type, under an ending that browsers know it by."""
    rest = url[url.index("//") + 2 :].partition("/")[2]
    path, mark, query = rest.partition("?")
    *folders, last = path.split("/")
    name = _safe(last) if last else _index(mime_type)
    if mark:
        name = f"{name}@{_safe(query, inner=True)}"
    if mime_type:
        name += _missing_ending(name, url, mime_type)
    return _limited([_short(_safe(folder)) for folder in folders if folder], _short(_trimmed(name)))


def host_folder(host: str) -> str:
    """The folder of another host; `host+8080` where it has a port."""
    name, colon, port = host.rpartition(":")
    return _short(f"{_safe(name)}+{port}" if colon and port.isdigit() else _safe(host))


def relative_link(here: str, there: str) -> str:
    """The link from one file to another, as it may stand in a page."""
    above, target = _quoted(here)[:-1], _quoted(there)
    shared = 0
    while shared < len(above) and shared < len(target) - 1 and above[shared] == target[shared]:
        shared += 1
    return "/".join([".."] * (len(above) - shared) + target[shared:])


@lru_cache(maxsize=20_000)
def _quoted(path: str) -> list[str]:
    return [quote(part, _PLAIN_IN_LINKS) for part in path.split("/")]


def _index(mime_type: str) -> str:
    return _INDEX if mime_type in ("", HTML) else "index"


def _missing_ending(name: str, url: str, mime_type: str) -> str:
    """What has to follow a name so that it ends as its type does; browsers know files by their endings only."""
    lower = name.lower()
    if mime_type == HTML:
        return "" if lower.endswith(_HTML_ENDINGS) else ".html"
    if mime_type == XHTML:
        return "" if lower.endswith(_XHTML_ENDINGS) else ".xhtml"
    ending = extension(url, mime_type)
    return "" if ending == "bin" or lower.endswith(f".{ending}") else f".{ending}"


def _safe(part: str, inner: bool = False) -> str:
    """One part of a URL as a part of a path; `inner` if its beginning is not the beginning of a name."""
    name = _FORBIDDEN.sub(_escaped, _ESCAPES.sub(_decoded, part))
    return name if inner else _trimmed(name)


def _trimmed(name: str) -> str:
    """Names that hide, that look like options, or that Windows or git take for something else."""
    if name[0] in ".- " or _RESERVED.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name[-1] in ". ":
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    return name


def _decoded(escapes: re.Match[str]) -> str:
    """Escapes as the characters that they stand for, if all of them do."""
    try:
        text = bytes.fromhex(escapes.group().replace("%", "")).decode()
    except UnicodeDecodeError:
        return escapes.group()
    return "".join(char if char.isprintable() and char != "%" else quote(char) for char in text)


def _escaped(char: re.Match[str]) -> str:
    return f"%{ord(char.group()):02X}"


def _short(name: str) -> str:
    """A name that is not too long; one that is ends in a hash of the whole, before its ending."""
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    ending = f"~{sha256(name.encode()).hexdigest()[:16]}{_ending(name)}"
    return name.encode()[: _LONGEST_NAME - len(ending)].decode(errors="ignore") + ending


def _limited(folders: list[str], name: str) -> str:
    """The whole path, without its last folders if it would be too long."""
    kept: list[str] = []
    room = _LONGEST_PATH - len(name.encode())
    for folder in folders:
        room -= len(folder.encode()) + 1
        if room < 0 or len(kept) == _MOST_FOLDERS:
            kept.append(f"~{sha256('/'.join(folders).encode()).hexdigest()[:16]}")
            break
        kept.append(folder)
    return "/".join([*kept, name])


def _ending(name: str) -> str:
    found = _ENDING.search(name, 1)
    return found.group() if found else ""


def _key(path: str) -> str:
    """What two names share that some file system takes for one."""
    return normalize("NFC", normalize("NFC", path).casefold())
