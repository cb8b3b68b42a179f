"""What GitPython does for us where speed is no matter: new repositories, their configuration, single tags.

It is imported when needed only: it is heavy, and most commands never need it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from webarc.archive.failures import failure
from webarc.archive.gitenv import environment
from webarc.archive.history import Commit
from webarc.archive.tags import tag_name


def initialise(folder: Path, configuration: Mapping[tuple[str, str], str]) -> None:
    """Make an empty repository with a branch main."""
    from git import Repo

    with _undisturbed("making a repository"):
        made = Repo.init(folder, initial_branch="main", object_format="sha1")
        with made as repo, repo.config_writer() as writer:
            for (section, option), value in configuration.items():
                writer.set_value(section, option, value)


def setting(git_dir: Path, section: str, option: str) -> str:
    """One value of a repository's own configuration, empty if there is none."""
    from git import GitConfigParser

    file = os.fspath(git_dir / "config")
    with _undisturbed("reading a repository's configuration"), GitConfigParser(file, read_only=True) as reader:
        return str(reader.get_value(section, option, default=""))


def add_tag(folder: Path, commit: Commit) -> None:
    """Give a commit the annotated tag of its commitTag."""
    from git import Repo

    moment = f"{int(commit.time.timestamp())} {commit.time:%z}"
    with _undisturbed("tagging a commit"), Repo(folder) as repo:
        repo.git.update_environment(GIT_COMMITTER_DATE=moment)
        repo.create_tag(tag_name(commit.tag), ref=commit.id, message=commit.tag)


@contextmanager
def _undisturbed(what: str) -> Iterator[None]:
    """GitPython looks into our own environment: meanwhile it is the clean one that git gets, too."""
    from git.exc import GitError

    saved = dict(os.environ)
    _replace_environment(environment())
    try:
        yield
    except GitError as error:
        raise failure(what, str(error)) from error
    finally:
        _replace_environment(saved)


def _replace_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
