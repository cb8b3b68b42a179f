"""What `git fsck` says about a repository: which files and which objects are not what they were."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import IO

from webarc.archive.gitenv import complaint_book, said, spawn

# Tags are not among the heads: their refs are compared with the crawls one by one.
_COMMAND = ("fsck", "--full", "--strict", "--no-dangling", "--no-reflogs", "--no-progress")
_ID = re.compile(r"\b[0-9a-f]{40}\b")
_FILE = re.compile(r"\S*?(objects/(?:pack|info)/[\w./-]+)")
_LOOSE = re.compile(r"\S*?objects/([0-9a-f]{2})/([0-9a-f]{38})\b")
# No damage, or said only along with what tells more.
_IDLE = ("notice:", "Checking ", "dangling ", "unreachable ", "warning in ", "hint:", "broken link from", "to ")
_VAGUE = ("inflate: ", "unable to unpack ", "garbage at end of loose object")


@dataclass(slots=True)
class Complaints:
    """What git complains of, by file of the repository, by object, and the rest."""

    files: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.files or self.objects or self.others)

    def add(self, line: str) -> None:
        """Take in one line."""
        text = line.strip().removeprefix("error: ").removeprefix("fatal: ").strip()
        if not text or text.startswith(_IDLE):
            return
        text = _LOOSE.sub(r"\1\2", text)
        file = _FILE.search(text)
        # The name of a pack holds an id too, which is none of an object.
        ids = _ID.findall(_FILE.sub(" ", text))
        if file:
            self.files.setdefault(f".git/{file[1]}", _FILE.sub(r"\1", text))
        if ids:
            self.objects.setdefault(ids[-1], _FILE.sub(r"\1", text))
        if not file and not ids and not text.startswith(_VAGUE):
            self.others.append(text)


class Fsck:
    """A `git fsck` that goes on beside the caller until its complaints are wanted."""

    def __init__(self, git_dir: Path, heads: list[str]) -> None:
        self._git_dir, self._heads = git_dir, heads
        self._book: IO[bytes] = complaint_book()
        self._process: Popen[bytes] = spawn([*_COMMAND, *heads], git_dir, self._book, reads_only=True)

    def complaints(self) -> Complaints:
        """Wait for the end; what it complains of twice, for a crawl may be adding to the repository meanwhile."""
        first = self._ended()
        if not first:
            return first
        again = Fsck(self._git_dir, self._heads)._ended()
        return Complaints(
            {path: text for path, text in first.files.items() if path in again.files},
            {name: text for name, text in first.objects.items() if name in again.objects},
            [text for text in first.others if text in again.others],
        )

    def stop(self) -> None:
        """End it, if it still goes on; nobody wants to know any more."""
        self._process.kill()
        with self._process:
            self._book.close()

    def _ended(self) -> Complaints:
        found = Complaints()
        with self._process, self._book:
            assert self._process.stdout is not None
            printed = self._process.stdout.read().decode("utf-8", "replace")
            self._process.wait()
            lines = [*printed.splitlines(), *said(self._process, self._book).splitlines()]
        for line in lines if self._process.returncode else ():
            found.add(line)
        if self._process.returncode and not found:
            found.others.append(f"git fsck ended with code {self._process.returncode} and gave no reason")
        return found
