"""Taking versions out of a domain's history for good, so that a crash at any moment leaves the old or the new state.

Order: (1) the decision is noted in the journal; (2) one ordinary commit takes the pages from the tip and adds the
tombstone, and the work tree follows; (3) the history is written anew beside the repository, proven and swapped in;
(4) the old one, the rows of the index and all other traces are removed; (5) the journal is struck. Whoever finds a
journal does the rest of it; one whose tombstone was never committed is struck. Both locks are held all the time, and
every step may be done twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from webarc.archive import takedown_journal, times
from webarc.archive.burial import Burial
from webarc.archive.doom import Doom, owner
from webarc.archive.gitenv import fields
from webarc.archive.going import Choice, Going
from webarc.archive.importer import MAIN
from webarc.archive.indexing import catch_up
from webarc.archive.metadata import commit_tag
from webarc.archive.objects import sizes
from webarc.archive.repository import Repository
from webarc.archive.rewriting import check_rewritable, is_rewritten, remove_remains, rewrite
from webarc.archive.store import Archive
from webarc.archive.takedown_journal import Decision
from webarc.archive.temp_dirs import clear_staging
from webarc.archive.tombstones import FORGOTTEN
from webarc.archive.traces import clear_links, clear_old_indexes, clear_rescued, clear_texts
from webarc.archive.worktree import SHOWN, mend
from webarc.errors import GitProblem, Locked, UsageProblem
from webarc.sql.index import Index
from webarc.sql.scrubbing import scrub
from webarc.waiting import left_of

# Takes the texts of blobs out of what is kept to be searched; whoever knows that well need not throw all of it away.
ForgetText = Callable[[Archive, str, list[str]], object]
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Order:
    """What to forget in a domain, and what the tombstone says of it; `everything` takes every page, known or not."""

    domain: str
    choice: Choice
    reason: str
    by: str
    takedown: bool = True
    everything: bool = False


@dataclass(slots=True)
class Forgotten:
    """What was forgotten."""

    domain: str
    commit_tag: str = ""
    going: list[Going] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def versions(self) -> int:
        """How many versions went."""
        return sum(len(page.numbers) for page in self.going)

    @property
    def size(self) -> int:
        """How many bytes they had."""
        return sum(page.size for page in self.going)


class Forgetting:
    """Forgets in one archive with the index at a database URL."""

    def __init__(self, archive: Archive, database: str, forget_text: ForgetText = clear_texts) -> None:
        self._archive, self._database, self._forget_text = archive, database, forget_text

    def forget(self, order: Order, wait: float | None = None) -> Forgotten:
        """Do it; nothing is done where nothing is chosen. Waits so long for both locks together."""
        began, done = monotonic(), Forgotten(order.domain)
        archive, domain = self._archive, order.domain
        with archive.lock_crawl(domain, wait), archive.lock_tree(domain, wait=left_of(wait, began)):
            index = Index(self._database)
            try:
                done.warnings += self._finish(domain, index)
                self._forget(order, index, done)
            finally:
                index.close()
        done.seconds = monotonic() - began
        return done

    def finish(self, domain: str, wait: float | None = None) -> list[str]:
        """Complete or undo what was interrupted in a domain; the caller holds the crawl lock. Returns warnings."""
        if takedown_journal.noted(self._archive, domain) is None:
            return []
        with self._archive.lock_tree(domain, wait=wait):
            index = Index(self._database)
            try:
                return self._finish(domain, index)
            finally:
                index.close()

    def finish_interrupted(self, wait: float) -> Iterator[tuple[str, list[str] | Locked]]:
        """Complete or undo all that was interrupted: domains with warnings, or with who is at work there.

        No longer than so many seconds are waited for locks in all: the next command tries again.
        """
        if not os.access(self._archive.locks, os.W_OK):
            return
        began = monotonic()
        for decision in takedown_journal.all_noted(self._archive):
            try:
                with self._archive.lock_crawl(decision.domain, wait=0):
                    done = self.finish(decision.domain, left_of(wait, began))
            except Locked as error:
                yield decision.domain, error
            else:
                yield decision.domain, done

    def _forget(self, order: Order, index: Index, done: Forgotten) -> None:
        repo = self._archive.repository(order.domain)
        done.warnings += mend(repo)
        catch_up(repo, index)
        done.going = list(order.choice(index))
        if not done.going:
            return
        moment = self._archive.reserve(order.domain, times.now())
        done.commit_tag = commit_tag(moment, order.domain)
        burial = Burial(repo, _doom(order, done.going), done.going, done.commit_tag, order.reason, order.by)
        check_rewritable(repo, burial.doom)
        _check_staged(repo, burial.doom, {blob for page in done.going for blob in page.blobs})
        if not order.takedown:
            burial.summarise()
        decision = _decision(order, burial)
        takedown_journal.note(self._archive, decision)
        done.warnings += burial.commit()
        done.warnings += self._complete(decision, index)

    def _finish(self, domain: str, index: Index) -> list[str]:
        decision = takedown_journal.noted(self._archive, domain)
        if decision is None:
            return []
        repo = self._archive.repository(domain)
        if is_rewritten(repo, decision.tag) or _is_buried(repo, decision):
            return self._complete(decision, index)
        remove_remains(repo)
        takedown_journal.strike(self._archive, domain)
        return []

    def _complete(self, decision: Decision, index: Index) -> list[str]:
        repo, doom = self._archive.repository(decision.domain), decision.doom()
        warnings = mend(repo)
        if not is_rewritten(repo, decision.tag):
            if repo.ref(SHOWN) != repo.tip():
                raise GitProblem(f"git is at work in {repo.folder}; let it end, then run the command again.")
            rewrite(repo, doom, decision.tag)
        remove_remains(repo)
        catch_up(repo, index)
        if decision.takedown:
            warnings += _left_in_git(repo, index, decision.blobs)
            warnings += self._clear_traces(repo, decision, doom)
        takedown_journal.strike(self._archive, decision.domain)
        return warnings

    def _clear_traces(self, repo: Repository, decision: Decision, doom: Doom) -> list[str]:
        self._forget_text(self._archive, decision.domain, decision.blobs)
        scrub(self._database)
        clear_links(self._archive)
        clear_old_indexes(self._archive)
        clear_staging(self._archive, decision.domain)
        left = clear_rescued(repo.folder, doom, set(decision.blobs))
        return [_edited(left)] if left else []


def _doom(order: Order, found: list[Going]) -> Doom:
    if order.everything:
        return Doom(everything=True)
    arcs = {page.arc: None if page.whole and order.takedown else frozenset(page.tags) for page in found}
    return Doom(arcs, blobs=frozenset(blob for page in found for blob in page.blobs if order.takedown))


def _decision(order: Order, burial: Burial) -> Decision:
    doom = burial.doom
    arcs = {arc: None if tags is None else sorted(tags) for arc, tags in doom.arcs.items()}
    blobs = [blob for page in burial.going for blob in page.blobs] if order.takedown else []
    files = [name for name, _ in burial.files]
    return Decision(order.domain, burial.tag, order.takedown, doom.everything, arcs, blobs, files)


def _is_buried(repo: Repository, decision: Decision) -> bool:
    """Whether the commit with the tombstone is there."""
    tip = repo.tip() if repo.exists() else None
    specs = [f"{tip}:{FORGOTTEN}/{name}" for name in decision.files]
    return tip is not None and -1 not in sizes(repo.git_dir, specs)


def _check_staged(repo: Repository, doom: Doom, blobs: set[str]) -> None:
    """Raises UsageProblem if git's index alone holds doomed bytes at a place of the user's own."""
    held = []
    for entry in fields(["diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", "-z", MAIN], repo.git_dir):
        if entry.startswith(":"):
            blob = entry.split(" ")[3]
        elif blob in blobs and not doom.touches(owner(entry)):
            held.append(entry)
    if held:
        names = ", ".join(held[:_MOST_NAMED])
        raise UsageProblem(
            f"you have the same bytes in git's index of {repo.folder} as {names}; `git rm --cached` them first."
        )


def _left_in_git(repo: Repository, index: Index, blobs: list[str]) -> list[str]:
    """A warning if the history holds the bytes at a place that is no page; pages that hold them were named before."""
    left = {blob for blob, size in zip(blobs, sizes(repo.git_dir, blobs), strict=True) if size != -1}
    if left:
        left -= {row.data_blob for row in index.versions(repo.domain)}
    if not left:
        return []
    return [
        f"files of your own in the history of {repo.folder} hold the same bytes; "
        f"`git log --all --find-object={min(left)}` there finds them."
    ]


def _edited(left: list[Path]) -> str:
    names = ", ".join(map(str, left[:_MOST_NAMED])) + (" ..." if len(left) > _MOST_NAMED else "")
    return f"files of these pages that you changed by hand stay: {names}; delete them if they hold what must go."
