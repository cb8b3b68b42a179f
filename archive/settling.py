"""Completing what a killed process left undone in a domain, by whoever touches it next."""

from __future__ import annotations

from contextlib import suppress

from webarc.archive.clone import is_clone
from webarc.archive.repository import Repository
from webarc.archive.worktree import SHOWN, mend
from webarc.errors import Locked, StorageProblem, UsageProblem


def settle(repo: Repository) -> list[str]:
    """Bring a work tree that is behind up to date; not while somebody is at work there, nor where nobody may write.

    Returns warnings.
    """
    if not is_clone(repo.git_dir) and (repo.ref(SHOWN) == repo.tip() or not repo.shows_main()):
        return []
    try:
        with suppress(Locked, StorageProblem), repo.archive.lock_tree(repo.domain, wait=0):
            return mend(repo)
    except UsageProblem as problem:
        # A clone that cannot be adopted can be read all the same.
        return [str(problem)]
    return []
