"""Who leads a verification: collects what the processes find, domain by domain, and decides what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webarc.archive import times
from webarc.archive.domaincheck import Outcome
from webarc.archive.findings import BACKUP, DAMAGED, NOTE, REPAIRED, Finding, note
from webarc.archive.inspector import DATABASES, HISTORY, INDEX, MOVED, REPAIR, Task, Wishes
from webarc.archive.kept import Kept
from webarc.archive.layout import arc_file, domain_folder, url_of
from webarc.archive.recovery import heaviest_first, recover
from webarc.archive.repairing import keep_index
from webarc.archive.store import Archive
from webarc.archive.verified import remember_verified, withdraw_verified
from webarc.errors import Damaged, WebarcError, worst
from webarc.sql.index import Index
from webarc.sql.inspection import index_file
from webarc.sql.rows import VersionRow

REPAIRED_CODE = 10
_GONE = f"{BACKUP}, or run `webarc db-recover` if you removed it yourself"
Tell = Callable[[Finding], None]
Moved = Callable[[str, int], None]
Done = Callable[[str], None]


@dataclass(slots=True)
class Summary:
    """What a verification came to."""

    domains: int = 0
    versions: int = 0
    files: int = 0
    damaged: int = 0
    repaired: int = 0
    notes: int = 0
    seconds: float = 0.0
    failures: list[WebarcError] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 sound, 10 repaired, 11 damaged; another one if something could not be verified."""
        if self.failures:
            return worst([failure.exit_code for failure in self.failures])
        if self.damaged:
            return Damaged.exit_code
        return REPAIRED_CODE if self.repaired else 0

    def count(self, finding: Finding) -> None:
        """Take in one finding."""
        self.damaged += finding.severity == DAMAGED
        self.repaired += finding.severity == REPAIRED
        self.notes += finding.severity == NOTE


class Foreman:
    """The leader of one verification; `summary` is what it came to."""

    def __init__(
        self, archive: Archive, database: str, wishes: Wishes, tell: Tell, moved: Moved | None, done: Done | None
    ) -> None:
        self._archive, self._database, self._wishes = archive, database, wishes
        self._tell, self._moved, self._done = tell, moved, done
        self._waiting: dict[str, int] = {}
        self._outcomes: dict[str, list[Outcome]] = {}
        self._before: dict[str, list[Finding]] = {}
        self._broken_index: list[Finding] = []
        self._kept: Path | None = None
        self.summary = Summary()

    def tasks(self, domains: list[str]) -> Iterator[Task]:
        """What there is to do at first; the index waits until its file is known to be whole."""
        self._waiting = dict.fromkeys(domains, 1 if self._wishes.index_only else 2)
        self.summary.domains = len(domains)
        yield Task(DATABASES, "")
        if not self._wishes.index_only:
            yield from (Task(HISTORY, domain) for domain in heaviest_first(self._archive, domains))

    def hear(self, task: Task, message: tuple[str, Any]) -> None:
        """What a process tells."""
        kind, value = message
        if kind == MOVED:
            if self._moved is not None:
                self._moved(task.domain, value)
        else:
            self._outcomes.setdefault(task.domain, []).append(value)

    def ended(self, task: Task, error: WebarcError | None) -> Iterable[Task]:
        """What follows from a task that has ended."""
        if error is not None:
            self.summary.failures.append(type(error)(f"{task.domain or 'the index'} could not be verified: {error}"))
        if task.part == DATABASES:
            return self._with_databases()
        if task.part == REPAIR:
            if error is not None:
                # Who knows how far it came: what was found is not known to be mended.
                self._outcomes[task.domain] = [Outcome(self._before.pop(task.domain))]
            return self._settle(task.domain)
        self._waiting[task.domain] -= 1
        return self._next(task.domain)

    def finish(self, *, whole: bool) -> None:
        """What belongs to no domain: a damaged index is rebuilt, temp dirs are looked at."""
        for finding in self._broken_index:
            if self._wishes.repair and finding.kind == "index":
                finding = self._rebuilt_index(finding)
            self._count(finding)
        if whole:
            self._look_for_lost_domains()
        if whole and not self._wishes.index_only:
            self._look_at_staging()

    # -- domains ----------------------------------------------------------------------------------------------

    def _with_databases(self) -> list[Task]:
        found = [finding for outcome in self._outcomes.pop("", []) for finding in outcome.findings]
        self._broken_index = [finding for finding in found if finding.is_damage]
        for finding in found:
            if not finding.is_damage:
                self._count(finding)
        if self._index_is_whole():
            return [Task(INDEX, domain) for domain in self._waiting]
        following = []
        for domain in self._waiting:
            self._waiting[domain] -= 1
            following += self._next(domain)
        return following

    def _index_is_whole(self) -> bool:
        return all(finding.kind != "index" for finding in self._broken_index)

    def _next(self, domain: str) -> list[Task]:
        if self._waiting[domain]:
            return []
        findings = [finding for outcome in self._outcomes.get(domain, []) for finding in outcome.findings]
        damage = [finding for finding in findings if finding.is_damage]
        if not damage or not self._wishes.repair:
            return self._settle(domain)
        self._before[domain] = [self._named(finding) for finding in damage]
        if any(finding.kind == "index" for finding in damage):
            self._keep_index()
        self._outcomes[domain] = []
        return [Task(REPAIR, domain, tuple(damage), self._index_is_whole())]

    def _settle(self, domain: str) -> list[Task]:
        """Say what was found in a domain, and remember whether it is sound."""
        outcomes = self._outcomes.pop(domain, [])
        findings = [finding for outcome in outcomes for finding in outcome.findings]
        left = {finding.key() for finding in findings if finding.is_damage}
        kept = Kept(domain, [outcome.kept for outcome in outcomes])
        mended = [kept.told(finding) for finding in self._before.pop(domain, []) if finding.key() not in left]
        if self._wishes.repair:
            findings = [finding.unmended() for finding in findings]
        for finding in [*mended, *map(self._named, findings), *kept.rest()]:
            self._count(finding)
        sound = not left and self._index_is_whole() and not self.summary.failures
        if left:
            withdraw_verified(self._archive.repository(domain).git_dir)
        for outcome in outcomes:
            self.summary.versions += outcome.versions
            self.summary.files += outcome.files
            if outcome.tip is not None and sound:
                remember_verified(self._archive.repository(domain).git_dir, outcome.tip)
        if self._done is not None:
            self._done(domain)
        return []

    def _look_for_lost_domains(self) -> None:
        """The index still knows domains whose repository is gone: all of their history is."""
        if not self._index_is_whole() or not _index_exists(self._database):
            return
        there = set(self._archive.domains())
        with suppress(WebarcError), closing(Index.to_read(self._database)) as index:
            lost = [(name, index.version_count(name)) for name in index.domains() if name not in there]
            for name, versions in lost:
                if versions:
                    what = f"its repository is gone, and with it {versions} versions that the index knows"
                    self._count(Finding(name, "repository", what, _GONE))

    def _named(self, finding: Finding) -> Finding:
        """The finding with the number of the version and its URL, as far as the index knows them."""
        place = arc_file(finding.path)
        if finding.version is not None or not (place or finding.object_id):
            return finding
        # The path of a lost folder may be that of an ARC.
        arc = place[0] if place else finding.path
        rows = self._rows(finding.domain, arc) if arc else []
        # What differs from an older commit that the user checked out has not the number of the newest version.
        newest = not finding.commit_tag and not (finding.kind == "worktree" and finding.severity == NOTE)
        same = [row for row in rows if newest or row.commit_tag == finding.commit_tag]
        if same:
            return finding.numbered(same[-1].number, same[-1].url)
        return finding.numbered(None, rows[-1].url if rows else _url(finding.domain, arc) if place else "")

    def _rows(self, domain: str, arc: str) -> list[VersionRow]:
        if not self._index_is_whole():
            return []
        with suppress(WebarcError), closing(Index.to_read(self._database)) as index:
            return index.history(domain, arc)
        return []

    # -- what belongs to none ---------------------------------------------------------------------------------

    def _count(self, finding: Finding) -> None:
        self.summary.count(finding)
        self._tell(finding)

    def _keep_index(self) -> None:
        """Keep a copy of the index as it was, once."""
        file = index_file(self._database)
        if file is None or self._kept is not None:
            return
        self._kept = keep_index(file, times.xml(times.now()))
        what = f"a copy of the index as it was is in {self._kept}"
        self._count(note("", "index", what, "delete it if you need it no more"))

    def _rebuilt_index(self, finding: Finding) -> Finding:
        self._keep_index()
        with closing(Index(self._database)) as index:
            # What git cannot give is a finding of its own.
            recover(self._archive, index)
            if index.set_aside is not None:
                # It was not even a database, and has been kept already.
                index.set_aside.unlink()
        return finding.repaired()

    def _look_at_staging(self) -> None:
        if not self._archive.is_writable():
            return  # nobody can go on with a crawl here
        if self._wishes.repair:
            self._archive.clear_stale_staging()
        resumable = len(self._archive.resumable_staging())
        if resumable:
            what = "1 crawl was interrupted" if resumable == 1 else f"{resumable} crawls were interrupted"
            self._count(note("", "staging", what, "run `webarc crawl --resume` to go on"))


def _url(domain: str, arc: str) -> str:
    """The URL that a path tells; a shortened one does not, and what stands there may be damaged."""
    with suppress(WebarcError):
        return url_of(f"{domain_folder(domain)}/{arc}")
    return ""


def _index_exists(database: str) -> bool:
    """Whether there is an index to ask; a look must not make one."""
    file = index_file(database)
    return file is None or file.exists()
