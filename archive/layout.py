"""Where a URL lives in the archive, and which URL lives at a path: one-to-one, but for the scheme.

Every part of a URL becomes a folder of the same name. What a file system, git or webarc itself could take for something
else is written as `%_XX`; `%` cannot occur in a host and a valid `%XX` of the URL is kept, so the two never meet. An
empty part is `%_`. A part or path that is too long ends in `%_~` and the SHA-256 of the whole URL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from webarc.archive.urls import canonical, host_of, key_of
from webarc.errors import BadURL

METADATA = "data.xml"
ADDED_FILES = "data.files"
INTERNAL = ".webarc"
_STAGING_MARK = f"/{INTERNAL}/staging/"
_EMPTY = "%_"
_HASH_MARK = "%_~"
_LONGEST_SEGMENT = 200
_LONGEST_PATH = 1000
_MOST_SEGMENTS = 60
_HASH_LENGTH = len(_HASH_MARK) + 64

_UNSAFE = re.compile(r'%(?![0-9A-F]{2})|[/:*?"<>|\\~\[\]\x00-\x20\x7f]')
_RESERVED = re.compile(
    r"(?:data|con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE | re.DOTALL
)
_ESCAPED = re.compile(r"%_([0-9A-F]{2})")
_TORN_ESCAPE = re.compile(r"%(?:_?[0-9A-F]?)?$")
_DATA_FILE = re.compile(r"data\.(?:[a-z0-9]{1,16}|content\.xml)")


def domain_folder(domain: str) -> str:
    """The folder of a host (with its port, if any); `domain_of` is the way back."""
    folder = _segment(domain)
    return folder if len(folder) <= _LONGEST_SEGMENT else _hashed(folder, domain)


def domain_of(folder: str) -> str:
    """The host and port whose folder this is."""
    return _unescaped(folder)


@lru_cache(maxsize=2048)
def arc_of(url: str) -> str:
    """The ARC folder of a canonical URL inside its domain folder."""
    rest = url[url.index("//") + 2 :]
    rest = rest[rest.index("/") + 1 :]
    path, mark, query = rest.partition("?")
    parts = path.split("/")
    parts[-1] += mark + query
    return _limited([_segment(part) for part in parts], url)


def path_of(url: str) -> str:
    """The ARC folder of a canonical URL, relative to the archive."""
    return f"{domain_folder(host_of(url))}/{arc_of(url)}"


def url_of(path: str | Path, scheme: str = "https") -> str:
    """The URL that lives at a path: an ARC folder or a file in it, in the archive or in a crawl's temp dir.

    If a data.xml stands there it decides; otherwise the URL is read off the path, whose scheme is not written in it.
    """
    written = _written_url(Path(path))
    if written:
        return written
    inside = _inside(str(path))
    if _HASH_MARK in inside:
        raise BadURL(f"the name {inside!r} is shortened; the URL is in its data.xml, which is missing.")
    folder, _, arc = inside.partition("/")
    parts = ["" if part == _EMPTY else _unescaped(part) for part in arc.split("/")]
    return canonical(f"{scheme}://{domain_of(folder)}/{'/'.join(parts)}")


@lru_cache(maxsize=4096)
def _segment(text: str) -> str:
    """One folder name for one part of a URL."""
    if not text:
        return _EMPTY
    name = _UNSAFE.sub(_escaped, text)
    if name[0] in ".-" or _RESERVED.fullmatch(name):
        name = f"%_{ord(name[0]):02X}{name[1:]}"
    if name[-1] == ".":
        name = f"{name[:-1]}%_2E"
    return name


def _escaped(match: re.Match[str]) -> str:
    return f"%_{ord(match.group()):02X}"


def _unescaped(name: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), name)


def _limited(parts: list[str], url: str) -> str:
    """The parts joined, or cut where they grow too long or too many."""
    arc = "/".join(parts)
    if len(arc) <= _LONGEST_PATH and len(parts) <= _MOST_SEGMENTS and max(map(len, parts)) <= _LONGEST_SEGMENT:
        return arc
    kept: list[str] = []
    room = _LONGEST_PATH - _LONGEST_SEGMENT
    for part in parts:
        room -= len(part) + 1
        if room < 0 or len(part) > _LONGEST_SEGMENT or len(kept) == _MOST_SEGMENTS - 1:
            break
        kept.append(part)
    cut = parts[len(kept)] if len(kept) < len(parts) else kept.pop()
    # Both schemes of a page share one place, so the hash is always taken of its https spelling.
    return "/".join([*kept, _hashed(cut, f"https:{key_of(url)}")])


def _hashed(name: str, identity: str) -> str:
    prefix = _TORN_ESCAPE.sub("", name[: _LONGEST_SEGMENT - _HASH_LENGTH])
    return f"{prefix}{_HASH_MARK}{sha256(identity.encode()).hexdigest()}"


def _inside(path: str) -> str:
    """The part of a path from the domain folder on, without the name of a data file."""
    _, staged, inside = path.rpartition(_STAGING_MARK)
    if staged:
        inside = inside.partition("/")[2]
    elif path.startswith("/"):
        inside = _below_archive(Path(path))
    else:
        inside = path
    head, _, last = inside.rpartition("/")
    return head if _DATA_FILE.fullmatch(last) else inside


def _below_archive(path: Path) -> str:
    for folder in (path, *path.parents):
        if (folder / ".git").exists():
            return path.relative_to(folder.parent).as_posix()
    raise BadURL(f"{str(path)!r} lies in no archive; give a path below a domain folder.")


def _written_url(path: Path) -> str | None:
    """The URL in the data.xml at this place, if there is one."""
    document = path / METADATA if path.is_dir() else path.with_name(METADATA)
    if not document.is_file():
        return None
    from webarc.archive.document import parse  # lxml is heavy, and most callers pass a plain name

    return parse(document.read_bytes()).url


def is_data_file(name: str) -> bool:
    """Whether a file of an ARC folder is the document itself (not its metadata, not something added)."""
    return name != METADATA and _DATA_FILE.fullmatch(name) is not None


def arc_file(path: str) -> tuple[str, str] | None:
    """ARC folder and file name, if a path inside a domain folder is an ARC's own data.xml or document."""
    arc, _, name = path.rpartition("/")
    if not arc or path.startswith(f"{INTERNAL}/"):
        return None
    if f"/{ADDED_FILES}/" in f"{path}/":
        return None
    return (arc, name) if name == METADATA or is_data_file(name) else None


def schedule_log(logs: Path, name: str) -> Path:
    """Where the output of a schedule's last run goes."""
    return logs / f"schedule-{name}.log"
