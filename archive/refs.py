"""The refs of a repository as its files have them, read without git and without trust."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PACKED = ".git/packed-refs"
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OURS = re.compile(r"refs/(?:webarc/|tags/\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d@).+")
_PACKED = re.compile(r"([0-9a-f]{40,64}) (refs/[^\x00-\x20\x7f~^:?*\[\\]+)")
_SYMBOLIC = "ref: "
_PEELED = "^"
_HEADER = "# pack-refs with:"
_SORTED = " sorted "


@dataclass(frozen=True, slots=True)
class Ref:
    """One ref; `peeled` is what packed-refs says that its tag points to, if it says so."""

    name: str
    value: str
    peeled: str = ""


@dataclass(slots=True)
class Refs:
    """All refs that stand for an object, and the lines and files that cannot be read."""

    found: dict[str, Ref] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def value(self, name: str) -> str | None:
        """The object that a ref stands for."""
        ref = self.found.get(name)
        return ref.value if ref else None

    def is_unusable(self) -> bool:
        """Whether git cannot work, or not well, because of its packed refs."""
        return any(path == PACKED for path, _ in self.unreadable)

    def tell_of_crawls(self) -> bool:
        """Whether one of them is such as crawls leave."""
        return any(map(_OURS.fullmatch, self.found))

    def below(self, prefix: str) -> Iterator[Ref]:
        """The refs whose names begin so."""
        return (ref for name, ref in self.found.items() if name.startswith(prefix))


def read_refs(git_dir: Path) -> Refs:
    """All refs; a file of its own counts before a line of packed-refs, as it does for git."""
    loose, refs = Refs(), Refs()
    for path in _files(git_dir / "refs"):
        with suppress(FileNotFoundError):
            _read_loose(path, path.relative_to(git_dir).as_posix(), loose)
    # Last, so that a ref that is packed away meanwhile is found in one place at least.
    _read_packed(git_dir / "packed-refs", refs)
    broken = {path.removeprefix(".git/") for path, _ in loose.unreadable}
    found = {name: ref for name, ref in refs.found.items() if name not in broken}
    return Refs(found | loose.found, refs.unreadable + loose.unreadable)


def ref_value(git_dir: Path, name: str) -> str | None:
    """The object that one ref stands for; needs no git process, as `webarc status` asks for thousands."""
    with suppress(OSError):
        value = (git_dir / name).read_text("ascii", "replace").strip()
        return value if _ID.fullmatch(value) else None
    with suppress(OSError):
        before, found, _ = (git_dir / "packed-refs").read_bytes().partition(os.fsencode(f" {name}\n"))
        value = before.rpartition(b"\n")[2].decode("ascii", "replace")
        return value if found and _ID.fullmatch(value) else None
    return None


def is_id(text: str) -> bool:
    """Whether a text may be the name of an object."""
    return _ID.fullmatch(text) is not None


def read_head(git_dir: Path) -> str:
    """What HEAD says: the full name of a ref, or an object; empty if git would not take it for a HEAD at all."""
    try:
        text = (git_dir / "HEAD").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
    if text.startswith("ref:"):
        name = text.removeprefix("ref:").strip()
        return name if name.startswith("refs/") else ""
    return text if _ID.fullmatch(text) else ""


def _files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            if not name.endswith(".lock"):
                yield Path(place, name)


def _read_loose(path: Path, name: str, refs: Refs) -> None:
    text = path.read_text("ascii", "replace").strip()
    if _ID.fullmatch(text):
        refs.found[name] = Ref(name, text)
    elif not text.startswith(_SYMBOLIC):
        refs.unreadable.append((f".git/{name}", f"it holds {text[:60]!r}, which names no object"))


def _read_packed(path: Path, refs: Refs) -> None:
    try:
        header, *lines = path.read_text("utf-8", "surrogateescape").split("\n")
    except FileNotFoundError:
        return
    if not header.startswith(_HEADER):
        lines.insert(0, header)
    last = ""
    for line in lines:
        match = _PACKED.fullmatch(line)
        if match:
            # Git looks for a name by halves, so one that stands in a wrong place is lost to it.
            if os.fsencode(match[2]) < os.fsencode(last) and _SORTED in header:
                refs.unreadable.append((PACKED, f"its line {line[:100]!r} is not in its place"))
            last = match[2]
            refs.found[last] = Ref(last, match[1])
        elif line.startswith(_PEELED) and last and _ID.fullmatch(line[1:]):
            refs.found[last] = Ref(last, refs.found[last].value, line[1:])
        elif line:
            refs.unreadable.append((PACKED, f"its line {line[:100]!r} says nothing"))
