"""Running `webarc` as people do, and looking at what it left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.urls import canonical, host_of

ROOT = Path(__file__).parent.parent


def environment(**more: str) -> dict[str, str]:
    """A clean environment: nothing of the developer's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", **more}


class Ran:
    """A finished command."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]

    def result(self) -> dict[str, Any]:
        """The only JSON object on standard output."""
        (only,) = self.objects()
        return only


class Webarc:
    """The command line with an archive of its own."""

    def __init__(self, archive: Path, prefix: tuple[str, ...] = ()) -> None:
        self.archive = archive
        # What the command is run by, such as `nice`.
        self.prefix = prefix

    def start(self, *arguments: str | Path, **more: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        command = [*self.prefix, sys.executable, "-m", "webarc", "--archive", str(self.archive), *map(str, arguments)]
        return subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**more),
            cwd=self.archive.parent,
        )

    def run(self, *arguments: str | Path, stdin: str = "", timeout: float = 110, **more: str) -> Ran:
        """Run a command to its end."""
        command = [*self.prefix, sys.executable, "-m", "webarc", "--archive", str(self.archive), *map(str, arguments)]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            env=environment(**more),
            cwd=self.archive.parent,
            timeout=timeout,
            check=False,
        )
        return Ran(done)

    def crawl(self, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
        """Crawl one domain; returns its result after checking the exit code."""
        ran = self.run("crawl", "--json", *arguments)
        assert ran.code == code, (ran.code, ran.out, ran.err)
        return ran.result()

    def report(self, *arguments: str | Path, code: int = 0) -> dict[str, dict[str, Any]]:
        """Crawl and return what the report says of every URL."""
        file = self.archive.parent / "report.json"
        ran = self.run("crawl", "--json", "--report", file, *arguments)
        assert ran.code == code, (ran.code, ran.out, ran.err)
        return {row["url"]: row for crawl in json.loads(file.read_text())["crawls"] for row in crawl["urls"]}

    def folder(self, url: str) -> Path:
        """The domain folder of a URL."""
        return self.archive / domain_folder(host_of(canonical(url)))

    def git(self, url: str, *arguments: str) -> bytes:
        """What git says in the domain folder of a URL."""
        command = ["git", "-C", str(self.folder(url)), *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def files(self, url: str, commit: str = "main") -> list[str]:
        """The paths of a commit in the domain folder of a URL."""
        return self.git(url, "ls-tree", "-r", "--name-only", "-z", commit).decode().split("\0")[:-1]

    def document(self, url: str, commit: str = "main") -> bytes | None:
        """The bytes that git has for a URL, or None."""
        arc = arc_of(canonical(url))
        for path in self.files(url, commit):
            folder, _, name = path.rpartition("/")
            if folder == arc and name != "data.xml":
                return self.git(url, "cat-file", "blob", f"{commit}:{path}")
        return None

    def stored(self, url: str) -> set[str]:
        """The ARC folders that the main branch has now."""
        return {path.rpartition("/")[0] for path in self.files(url) if path.endswith("/data.xml")}

    def commits(self, url: str) -> list[str]:
        """The subjects of the commits, newest first."""
        return self.git(url, "log", "--format=%s", "main").decode().splitlines()
