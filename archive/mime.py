"""The MIME type of a document, told by its bytes; the declared type and the name only settle what bytes cannot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from webarc.archive.extensions import (
    data_name,
    extension,
    extension_of_name,
    is_textual,
    is_zipped,
    type_of_extension,
)
from webarc.archive.sniff import by_signature, has_tag, readable
from webarc.errors import StorageProblem

__all__ = ["HEAD", "UNKNOWN", "data_name", "declared_type", "extension", "type_of"]

HEAD = 8192
UNKNOWN = "application/octet-stream"
_JSON = ("application/json", "application/x-ndjson")
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_CHANGED_BY_PYLIBMAGIC = ("LIBRARY_PATH", "LD_LIBRARY_PATH", "MAGIC")

# One name for what has several, so that a type does not change with the server that sends it.
_ONE_NAME = {
    "application/javascript": "text/javascript",
    "application/x-javascript": "text/javascript",
    "application/ecmascript": "text/javascript",
    "text/ecmascript": "text/javascript",
    "text/x-javascript": "text/javascript",
    "text/json": "application/json",
    "text/x-markdown": "text/markdown",
    "application/csv": "text/csv",
    "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip",
    "application/x-ustar": "application/x-tar",
    "application/x-gtar": "application/x-tar",
    "application/x-rar": "application/vnd.rar",
    "application/x-dosexec": "application/vnd.microsoft.portable-executable",
    "application/x-font-ttf": "font/ttf",
    "application/x-font-otf": "font/otf",
    "application/font-sfnt": "font/ttf",
    "application/font-woff": "font/woff",
    "application/font-woff2": "font/woff2",
    "application/x-font-woff": "font/woff",
    "application/vnd.ms-opentype": "font/otf",
    "font/sfnt": "font/ttf",
    "image/x-icon": "image/vnd.microsoft.icon",
    "image/x-ms-bmp": "image/bmp",
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/svg": "image/svg+xml",
    "audio/x-wav": "audio/wav",
    "audio/x-m4a": "audio/mp4",
    "audio/mp3": "audio/mpeg",
    "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff",
    "application/x-empty": UNKNOWN,
    "inode/x-empty": UNKNOWN,
}

# Containers: the bytes say the first, the declared type or the name may say which of the second it is.
_HOLDERS: dict[str, tuple[str, ...]] = {
    "video/mp4": ("audio/mp4", "video/quicktime", "video/x-m4v", "image/heic", "image/avif"),
    "audio/mp4": ("video/mp4",),
    "video/webm": ("audio/webm", "video/x-matroska"),
    "video/x-matroska": ("video/webm", "audio/webm"),
    "audio/ogg": ("video/ogg", "application/ogg", "audio/opus"),
    "video/ogg": ("audio/ogg", "application/ogg"),
    "application/ogg": ("audio/ogg", "video/ogg"),
    "font/ttf": ("font/otf", "font/collection"),
    "application/gzip": ("application/x-tgz", "application/x-compressed-tar"),
    "application/cdfv2": (
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.ms-outlook",
        "application/x-msi",
        "application/vnd.visio",
    ),
}
_HOLDERS["application/x-ole-storage"] = _HOLDERS["application/cdfv2"]


def type_of(path: Path | str, head: bytes, declared: str) -> str:
    """The type of a document by its first bytes (8 KiB are enough), its declared type and the name of its ARC."""
    head = head[:HEAD]
    said = declared_type(declared)
    named = type_of_extension(_extension_at(path))
    if not head:
        return said or named or UNKNOWN
    text = readable(head, declared)
    found = by_signature(text, said, named)
    if found:
        return found
    plain = UNKNOWN if b"\0" in text else _magic(soft=False).from_buffer(text)
    if plain.startswith("text/") or plain in _JSON:
        return _text(plain, text, said, named)
    return _binary(_one_name(_magic(soft=True).from_buffer(_worth_reading(head))), said, named)


def declared_type(header: str) -> str:
    """The type in a Content-Type header, in its usual name; empty if there is none to believe."""
    name = header.partition(";")[0].strip().lower()
    if not _TYPE.fullmatch(name):
        return ""
    name = _ONE_NAME.get(name, name)
    return "" if name in (UNKNOWN, "application/unknown", "application/x-unknown") else name


def _text(plain: str, head: bytes, said: str, named: str) -> str:
    """The type of readable bytes; `plain` is what libmagic sees in them without its rules for file formats."""
    if plain in _JSON:
        return _json(said, named)
    # Servers call everything text/html that they do not know. Without a single tag there is nothing in it that a
    # browser would show differently, and no link or title to lose, so such bytes are the plain text they look like.
    if said == "text/html" and has_tag(head):
        return said
    if said not in ("", "text/html", "text/plain") and is_textual(said):
        return said
    if named not in ("", "text/html", "application/xhtml+xml", "text/x-php") and is_textual(named):
        return named
    if said in ("text/plain", "text/html"):
        return "text/plain"
    # Only bytes that nobody gave a name pay for libmagic's rules: they take 1.5 ms on text.
    return _one_name(_magic(soft=True).from_buffer(head))


def _json(said: str, named: str) -> str:
    """A script or a source map may be JSON by chance; a declared kind of JSON says more than JSON."""
    for name in (said, named):
        if name.endswith(("json", "+json")) or name in ("text/javascript", "application/x-ndjson"):
            return name
    return "application/json"


def _binary(found: str, said: str, named: str) -> str:
    """The type of bytes that are no text."""
    for name in (said, named):
        if name in _HOLDERS.get(found, ()) or (found == "application/zip" and is_zipped(name)):
            return name
    if found in ("application/cdfv2", "application/x-ole-storage"):
        return "application/x-ole-storage"
    if found != UNKNOWN:
        return found
    return next((name for name in (said, named) if name and not is_textual(name)), UNKNOWN)


def _worth_reading(head: bytes) -> bytes:
    """Half as much takes libmagic half the time; only in zip files does it have to look further for what they hold."""
    return head if head.startswith(b"PK") else head[: HEAD // 2]


def _extension_at(path: Path | str) -> str:
    """The extension of the URL whose ARC this file lies in; its query is written after `%_3F`."""
    folder = str(path).rpartition("/")[0]
    return extension_of_name(folder.rpartition("/")[2].partition("%_3F")[0])


def _one_name(name: str) -> str:
    name = name.lower()
    return _ONE_NAME.get(name, name)


class _Detector:
    """libmagic, which never fails for what a server sends."""

    def __init__(self, magic: Any, soft: bool) -> None:
        self._failure = magic.MagicException
        self._magic = magic.Magic(mime=True)
        if not soft:
            magic.magic_setflags(self._magic.cookie, self._magic.flags | magic.MAGIC_NO_CHECK_SOFT)

    def from_buffer(self, data: bytes) -> str:
        try:
            return str(self._magic.from_buffer(data))
        except self._failure:
            return UNKNOWN


def _magic(soft: bool) -> _Detector:
    """libmagic with its rules for file formats (`soft`), or only its tests for text, JSON and CSV, in 2 µs."""
    return _detectors()[soft]


@lru_cache(maxsize=1)
def _detectors() -> tuple[_Detector, _Detector]:
    failures: tuple[type[Exception], ...] = (ImportError, OSError)
    try:
        with _environment_kept():
            _prefer_bundled()
            import magic

            failures = (*failures, magic.MagicException)
            return _Detector(magic, soft=False), _Detector(magic, soft=True)
    except failures as error:
        raise StorageProblem(
            f"libmagic cannot be loaded ({error}); install it with `apt-get install libmagic1` "
            "or `pip install pylibmagic`."
        ) from None


def _prefer_bundled() -> None:
    try:
        import pylibmagic  # noqa: F401  importing it is what makes its libmagic the one that is found
    except (ImportError, OSError):
        return


@contextmanager
def _environment_kept() -> Iterator[None]:
    """pylibmagic sets variables of the dynamic linker, which git and rsync must not inherit."""
    before = {name: os.environ.get(name) for name in _CHANGED_BY_PYLIBMAGIC}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
