"""A domain's history read from `git fast-export` and told again without some versions.

The rule is one sentence: after each commit an ARC is what it was, unless that version is to go; then it stays what it
was before. So the version before stands in the place of one that is gone, as it does when a crawl could not fetch a
page; commits, their messages, dates and reports stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from webarc.archive.doom import Doom, owner, tag_in
from webarc.archive.history import KIND
from webarc.archive.layout import METADATA
from webarc.archive.objects import ObjectReader
from webarc.errors import GitProblem

_KIND = re.compile(rf"^{KIND}: *(.*?) *$".encode(), re.MULTILINE)
_QUOTED = re.compile(rb'\\([abfnrtv"\\]|[0-7]{3})')
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_MAKE_VERSIONS = (b"crawl", b"guest")
Send = Callable[[bytes], object]
# Path as it stands in the stream -> mode and blob.
Files = dict[bytes, bytes]


@dataclass(slots=True)
class _Arc:
    """One ARC on the way through the commits: what it was, and what it is told to have been."""

    was: Files = field(default_factory=dict)
    told: Files = field(default_factory=dict)
    tag: str | None = None


@dataclass(slots=True)
class _Commit:
    tag: str
    makes_versions: bool


class Replay:
    """Passes a stream on, changed where something is to go; `marks` tells the mark of every old commit."""

    def __init__(self, doom: Doom, reader: ObjectReader) -> None:
        self._doom, self._reader = doom, reader
        self._arcs: dict[str, _Arc] = {}
        self.marks: dict[str, bytes] = {}

    def run(self, source: BinaryIO, send: Send) -> None:
        """Read `fast-export --no-data --show-original-ids` to its end; the end is not passed on."""
        mark = b""
        commit = _Commit("", False)
        for line in iter(source.readline, b""):
            if line == b"done\n":
                return
            if line.startswith((b"M ", b"D ")):
                self._changes(commit, line, source, send)
            elif line.startswith(b"original-oid "):
                self.marks[line.split()[1].decode()] = mark
            elif line.startswith(b"data "):
                message = source.read(int(line[5:]))
                commit = _described(message)
                send(line + message)
            else:
                mark = line.split()[1] if line.startswith(b"mark ") else mark
                send(line)
        raise GitProblem("git fast-export ended too early; run `git fsck` in the domain folder.")

    def told(self) -> dict[str, str]:
        """What the ARCs concerned are told to be at the end: blobs by path."""
        return {_path(path): _blob(about) for arc in self._arcs.values() for path, about in arc.told.items()}

    def _changes(self, commit: _Commit, line: bytes, source: BinaryIO, send: Send) -> None:
        """All changes of one commit, up to the empty line behind them."""
        gone: list[bytes] = []
        come: list[bytes] = []
        touched: dict[str, None] = {}
        while line != b"\n":
            name = _name_in(line)
            arc = owner(_path(name))
            if arc is None or not self._doom.touches(arc):
                (gone if line.startswith(b"D ") else come).append(line)
            elif not self._doom.takes_all(arc):
                touched[arc] = None
                self._note(commit, arc, line, name)
            line = source.readline() or b"\n"
        for arc in touched:
            self._tell(arc, gone, come)
        # What goes comes first: a file may take the place of a folder.
        for part in (*gone, *come):
            send(part)
        send(b"\n")

    def _note(self, commit: _Commit, arc: str, line: bytes, name: bytes) -> None:
        """Keep up with what an ARC really was."""
        state = self._arcs.setdefault(arc, _Arc())
        is_document = _path(name) == f"{arc}/{METADATA}"
        if line.startswith(b"D "):
            state.was.pop(name, None)
            state.tag = None if is_document else state.tag
            return
        _, mode, blob, _ = line.split(b" ", 3)
        state.was[name] = b"%s %s" % (mode, blob)
        if is_document:
            state.tag = commit.tag if commit.makes_versions else tag_in(self._reader.read(blob.decode()))

    def _tell(self, arc: str, gone: list[bytes], come: list[bytes]) -> None:
        state = self._arcs[arc]
        if self._doom.takes(arc, state.tag, map(_blob, state.was.values())):
            return
        gone += [b"D %s\n" % name for name in state.told if name not in state.was]
        come += [b"M %s %s\n" % (about, name) for name, about in state.was.items() if state.told.get(name) != about]
        state.told = dict(state.was)


def _described(message: bytes) -> _Commit:
    kinds = _KIND.findall(message)
    subject = message.partition(b"\n")[0].decode("utf-8", "replace")
    return _Commit(subject, bool(kinds) and kinds[-1] in _MAKE_VERSIONS)


def _blob(about: bytes) -> str:
    return about.split()[1].decode()


def _name_in(line: bytes) -> bytes:
    """The path in a line `M MODE BLOB PATH` or `D PATH`."""
    if line.startswith(b"D "):
        return line[2:-1]
    if line.startswith(b"M "):
        return line.split(b" ", 3)[3][:-1]
    raise GitProblem(f"git fast-export wrote {line[:60]!r}, which webarc does not know; update webarc.")


def _path(name: bytes) -> str:
    """A path from the stream, where it is quoted if it has to be."""
    if name.startswith(b'"'):
        name = _QUOTED.sub(_unquoted, name[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _unquoted(match: re.Match[bytes]) -> bytes:
    code = match.group(1)
    if len(code) == 3:
        return bytes([int(code, 8)])
    return _LETTERS.get(code, code)
