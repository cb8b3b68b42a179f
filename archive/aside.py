"""Where a repair keeps what it replaces: `.git/webarc-replaced/TIME/`, so that no evidence is ever lost."""

from __future__ import annotations

import shutil
from pathlib import Path

from webarc.archive import times

NAME = "webarc-replaced"


class Aside:
    """The place for what one repair of a repository replaces; it is made when first needed.

    `kept` tells, for every path in the domain folder that something was taken from, where that is now.
    """

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self.kept: dict[str, Path] = {}
        home = git_dir / NAME / times.xml(times.now())
        self.home = next(
            place
            for place in (home, *(home.with_name(f"{home.name}-{n}") for n in range(2, 1000)))
            if not place.exists()
        )

    def copy(self, path: Path) -> None:
        """Keep a copy of a file, if it is there."""
        if path.exists():
            shutil.copy2(path, self._place(path))

    def keep(self, path: Path) -> None:
        """Keep a file that another is about to replace, however large it is."""
        try:
            self._place(path).hardlink_to(path)
        except OSError:
            # Not every file system has links.
            self.copy(path)

    def move(self, path: Path) -> None:
        """Keep the file or folder itself, which is gone from its place then."""
        if path.exists() or path.is_symlink():
            path.rename(self._place(path))

    def note(self, text: str) -> None:
        """Keep a line of text."""
        self.home.mkdir(parents=True, exist_ok=True)
        place = self.kept[text.partition(" ")[0]] = self.home / "notes"
        with place.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{text}\n")

    def _place(self, path: Path) -> Path:
        wanted = self.home / path.relative_to(self._git_dir)
        wanted.parent.mkdir(parents=True, exist_ok=True)
        names = (wanted, *(wanted.with_name(f"{wanted.name}.{number}") for number in range(2, 1000)))
        place = next(name for name in names if not name.exists())
        self.kept.setdefault(path.relative_to(self._git_dir.parent).as_posix(), place)
        return place
