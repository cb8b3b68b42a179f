"""The tour: crawl the sample site, change it, crawl it again, and look at everything that is there afterwards."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from shlex import quote
from urllib.parse import quote as quote_url

from webarc.archive.layout import domain_folder
from webarc.archive.urls import host_of
from webarc.demo.server import PACKAGE, change, lay_out, serve
from webarc.demo.stage import heading, run, say, table
from webarc.errors import StorageProblem, UsageProblem

_MARK = ".made-by-webarc-demo"


class Tour:
    """One run of the demonstration in one folder, which is removed and made anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.archive = folder / "archive"

    def run(self) -> None:
        """All steps."""
        _clear(self.folder)
        lay_out(self.site)
        with serve(self.site) as url:
            self.host = host_of(url)
            self.domain = self.archive / domain_folder(self.host)
            self._first_crawl(url)
            self._files()
            self._second_crawl()
        self._history()
        self._plain_git()
        self._index()
        self._farewell()

    def _first_crawl(self, url: str) -> None:
        heading("1. Crawl a web site")
        say(f"A small sample site is being served at {url} from {self.site}/. A file names where to start:")
        (self.folder / "urls.txt").write_text(f"# start URLs, one a line\n{url}\n")
        run(f"cat {self._name('urls.txt')}")
        self._crawl("first.json")
        say("""The site has a redirect, a link that leads nowhere, and a file robots.txt that keeps crawlers out of
            /private/. What became of each URL, and why it was not stored, is in the report:""")
        run(f"grep -E 'redirect|http-404|robots' {self._name('first.json')}")

    def _crawl(self, report: str) -> None:
        self._webarc(f"crawl --depth 3 --report {self._name(report)} {self._name('urls.txt')}")

    def _files(self) -> None:
        heading("2. What is on the disk")
        say("""Every domain is a folder and a git repository (the colon of the port is written %_3A). Every URL is an
            ARC: a folder that holds the bytes as data.<ext> and what is known about them as data.xml.""")
        run(f"cd {self._in_domain()} && find . -path ./.git -prune -o -path ./images -prune -o -type f -print | sort")
        run(f"cat {self._in_domain('ferry.html/data.xml')}")

    def _second_crawl(self) -> None:
        heading("3. The site changes; crawl it again")
        change(self.site)
        say("""The ferry has a new timetable and the news has a new article (two pages changed, one is new), and the
            page of the guest house was removed. For all else the server is asked only whether it changed.""")
        self._crawl("second.json")

    def _history(self) -> None:
        heading("4. Go back in time")
        ferry, guests = f"{self.host}/ferry.html", f"{self.host}/guesthouse.html"
        self._webarc(f"log {ferry}")
        say("What changed in the timetable, as a reader sees it, and what changed in the whole site:")
        self._webarc(f"diff {ferry}")
        self._webarc(f"changes {self.host}")
        say("The page of the guest house is gone from the site. It is still in the archive:")
        self._webarc(f"get {guests} | grep '<p>'")
        self._webarc(f'when {self.host} "six rooms"')
        say("Is everything there, and is it what it was?")
        self._webarc("verify")

    def _plain_git(self) -> None:
        heading("5. The history is plain git")
        here = f"git -C {self._in_domain()}"
        run(f"{here} log --oneline")
        say("""Each crawl is one commit, named by its commitTag: when it started, and the domain. What the last one
            changed:""")
        run(f"{here} log -1 --format=%B --name-status")
        say("The two versions of the timetable:")
        run(f"{here} diff HEAD~1 HEAD -- ferry.html/data.html")

    def _index(self) -> None:
        heading("6. The index")
        say(f"""Every version of every file is also a row in {self.archive}/.webarc/index.db (SQLite). The pages with
            more than one version, and those that are gone:""")
        self._rows()
        say("The index is only a copy of what the XML files in git say. Throw it away and rebuild it:")
        run(f"rm {quote(str(self.archive))}/.webarc/index.db")
        self._webarc("db-recover")
        self._rows()

    def _rows(self) -> None:
        """What a reader of the index sees; the SQL is in a file of its own, like all SQL here."""
        connection = sqlite3.connect(f"file:{quote_url(os.fsencode(self.archive))}/.webarc/index.db?mode=ro", uri=True)
        cursor = connection.execute((PACKAGE / "versions.sql").read_text())
        table([[column[0] for column in cursor.description], *cursor.fetchall()])
        connection.close()

    def _farewell(self) -> None:
        heading("7. Yours to explore")
        table(
            [
                [f"{self.site}/", "the sample site as it is now"],
                [f"{self.archive}/", "the archive: one git repository per domain, the index in .webarc/"],
                [f"{self.folder}/first.json, second.json", "the two reports"],
            ]
        )
        print("Next: .venv/bin/webarc crawl --depth 3 YOUR-URLS.txt, and docs/index.md.")

    def _webarc(self, command: str) -> None:
        run(f"webarc --archive {quote(str(self.archive))} {command}")

    def _name(self, name: str) -> str:
        return quote(str(self.folder / name))

    def _in_domain(self, name: str = "") -> str:
        return quote(str(self.domain / name))


def _clear(folder: Path) -> None:
    """Removes what an earlier run left, and nothing else."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARK).exists():
            raise UsageProblem(f"{folder} is not empty and was not made by the demonstration; name another folder.")
        try:
            shutil.rmtree(folder)
        except OSError as problem:
            raise StorageProblem(
                f"{folder} could not be removed ({problem}); remove it by hand and try again."
            ) from None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).touch()
