"""Whether the index says what git says: its rows beside those of one rebuilt from the XML."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from webarc.archive.comparison import Difference, differences
from webarc.archive.findings import DAMAGED, NOTE, REPAIR, Finding, note
from webarc.archive.importer import MAIN
from webarc.archive.indexing import catch_up
from webarc.archive.recovery import Problems
from webarc.archive.refs import ref_value
from webarc.archive.repository import Repository
from webarc.errors import Damaged, DatabaseProblem, GitProblem
from webarc.sql.index import Index
from webarc.sql.inspection import damage_in, is_outdated
from webarc.sql.room import has_room

_MOST = 1000
# A crawl may move the index on while it is compared; it is then compared again.
_TRIES = 5
# What SQLite says about a text that is none any more; other complaints are about the server, the disk or the folder.
_UNREADABLE_TEXT = "decode"
_RECOVER = "run `webarc db-recover`"


# What SQLite says of a file that it may not write to, or for which there is no room.
_NO_DAMAGE = ("readonly database", "disk I/O error", "unable to open", "disk is full")


def _may_be_used(path: Path) -> bool:
    """Whether SQLite can work on a file."""
    return has_room(path.parent) and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def check_database(path: Path, family: str) -> list[Finding]:
    """What is wrong with a database file itself."""
    wrong = damage_in(path, family)
    if wrong and any(sign in wrong[0] for sign in _NO_DAMAGE) and not _may_be_used(path):
        cure = "make room, or verify as a user who may write there"
        return [note("", family, f"the file could not be looked at: {wrong[0]}", cure, path=str(path))]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        cure = REPAIR if family == "index" else "restore it from a backup"
        return [Finding("", family, f"the file is damaged: {wrong[0]}{more}", cure, path=str(path))]
    if family != "index":
        return []
    if not path.exists():
        return [note("", family, "there was no index; it is read from git again", path=str(path))]
    if is_outdated(path, family):
        return [
            note("", family, "the index is of another version of webarc; it is read from git again", path=str(path))
        ]
    return []


class IndexCheck:
    """Compares the rows of one domain after the other; `rebuilt` is an index that nobody else uses.

    If git itself is looked at by others, its damage is not told once more.
    """

    def __init__(self, live: Index, rebuilt: Index, *, tells_damage: bool) -> None:
        self._live, self._rebuilt, self._tells_damage = live, rebuilt, tells_damage

    def run(self, repo: Repository, moved: Callable[[str, int], None]) -> list[Finding]:
        """The rows of a domain that differ from what its XML says."""
        if ref_value(repo.git_dir, MAIN) is None:
            # Whether that is as it should be, its repository tells; the rows are not to be lost over it.
            return []
        problems = Problems()
        if self._rebuilt.knows(repo.domain):
            self._rebuilt.forget(repo.domain)
        try:
            for _ in range(_TRIES):
                catch_up(repo, self._rebuilt, problems.add, moved)
                if problems.count:
                    break
                if not self._live.read_only:
                    catch_up(repo, self._live)
                found = list(islice(differences(self._live, self._rebuilt, repo.domain), _MOST))
                if not found or self._is_settled(repo):
                    return [_finding(repo, each) for each in found]
        except (GitProblem, Damaged) as problem:
            problems.add(str(problem))
        except (DatabaseProblem, ValueError, TypeError) as problem:
            if isinstance(problem, DatabaseProblem) and _UNREADABLE_TEXT not in str(problem):
                raise
            return [Finding(repo.domain, "index", f"its rows cannot be read: {problem}".rstrip("."), REPAIR)]
        return [self._untold(repo, problems)]

    def count(self, repo: Repository) -> int:
        """How many versions of a domain the rebuilt index has."""
        return self._rebuilt.version_count(repo.domain)

    def _is_settled(self, repo: Repository) -> bool:
        commits = {index.indexed_commit(repo.domain) for index in (self._live, self._rebuilt)}
        return commits == {repo.tip() if repo.exists() else None}

    def _untold(self, repo: Repository, problems: Problems) -> Finding:
        if problems.count:
            # What to do about it is said by the finding.
            named = problems.named[0].rpartition("; ")[0] or problems.named[0].rstrip(".")
            what = f"the index cannot be compared with git, of which something cannot be read ({named})"
            severity = DAMAGED if self._tells_damage else NOTE
            return Finding(repo.domain, "index", what, "run `webarc verify` to see what is damaged", severity)
        if self._live.read_only:
            return note(repo.domain, "index", "the index may not be written to and is behind git", _RECOVER)
        return note(repo.domain, "index", "crawls kept changing the index; it was not compared", "run it again later")


def _finding(repo: Repository, found: Difference) -> Finding:
    return Finding(
        repo.domain,
        "index",
        found.text(),
        REPAIR,
        url=found.about("url") or "",
        version=found.about("number"),
        commit_tag=found.about("commit_tag") or found.about("first_tag") or "",
        path=f"{found.table} {' '.join(map(str, found.key))}",
    )
