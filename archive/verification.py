"""Proving that an archive is sound, and mending what is not: several domains at once, in processes of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from webarc.archive.crew import Crew, cores
from webarc.archive.foreman import Done, Foreman, Moved, Summary, Tell
from webarc.archive.gitenv import require_git
from webarc.archive.inspector import Inspector, Wishes
from webarc.archive.store import Archive
from webarc.errors import NoSpace, StorageProblem

__all__ = ["Summary", "Wishes", "verify"]


def verify(
    archive: Archive,
    database: str,
    domains: Iterable[str] | None,
    wishes: Wishes,
    *,
    tell: Tell,
    moved: Moved | None = None,
    done: Done | None = None,
) -> Summary:
    """Verify these domains, or all of them and what belongs to none; `tell` gets every finding as it is settled.

    `moved` gets a domain and how many of its versions were seen, `done` a domain that has been settled.
    """
    require_git()
    began = monotonic()
    chosen = archive.domains() if domains is None else list(domains)
    with _workshop(archive) as workshop:
        inspector = Inspector(archive.root, database, wishes, workshop)
        with Crew(inspector, min(cores(), 2 * len(chosen) + 1)) as crew:
            foreman = Foreman(archive, database, wishes, tell, moved, done)
            crew.run(foreman.tasks(chosen), foreman.hear, foreman.ended)
    foreman.finish(whole=domains is None)
    foreman.summary.seconds = monotonic() - began
    return foreman.summary


@contextmanager
def _workshop(archive: Archive) -> Iterator[Path]:
    """A place for the rebuilt index: in the archive, or elsewhere if that may only be read."""
    try:
        staging = archive.new_staging("verify")
    except NoSpace:
        raise
    except StorageProblem:
        with TemporaryDirectory(prefix="webarc-verify-") as place:
            yield Path(place)
        return
    with staging:
        yield staging.path
