"""A repository that is gone while the index still knows what was in it: often the only trace of the loss."""

from __future__ import annotations

from webarc.archive.repository import Repository
from webarc.errors import Damaged
from webarc.sql.index import Index


def refuse_loss(repo: Repository, index: Index) -> None:
    """Raises Damaged if the repository is gone and the index knows versions of it."""
    if repo.exists() or not index.knows(repo.domain):
        return
    if versions := index.version_count(repo.domain):
        counted = "1 version" if versions == 1 else f"{versions} versions"
        lost = f"the repository of {repo.domain} is gone, and with it {counted} that the index knows"
        raise Damaged(f"{lost}; {_cure(repo)} `webarc db-recover` to begin anew.")


def _cure(repo: Repository) -> str:
    if repo.folder.is_dir():
        return f"restore {repo.folder} from a backup or a clone, or move it out of the archive and run"
    return f"restore {repo.folder} from a backup or a clone, or run"
