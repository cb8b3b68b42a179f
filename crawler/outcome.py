"""What is true of a crawl that did not reach its end; git alone knows whether it was committed."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from webarc.archive.gitenv import git
from webarc.archive.metadata import commit_tag
from webarc.archive.store import Archive
from webarc.crawler.job import COUNTS, Result
from webarc.errors import WebarcError
from webarc.heartbeat import RESUMABLE, Heartbeats

_FIGURE = re.compile(rf"\b({'|'.join(COUNTS)}) (\d+)\b")


def look_up_commit(archive: Path, beats: Heartbeats, result: Result) -> None:
    """Give a result the commitTag and the figures of the crawl's commit, if there is one."""
    if not beats.crawl_time or (result.commit_tag and any(result.counts.values())):
        return
    tag = commit_tag(beats.crawl_time, result.domain)
    with suppress(WebarcError, OSError):
        repository = Archive(archive).repository(result.domain)
        newest = repository.newest(("crawl",)) if repository.exists() else None
        if newest is None or newest.tag != tag:
            return
        result.commit_tag = tag
        if not any(result.counts.values()):
            body = git(["show", "--no-patch", "--format=%b", newest.id], repository.git_dir).decode("utf-8", "replace")
            result.counts.update((name, int(number)) for name, number in _FIGURE.findall(body.partition("\n")[0]))


def what_remains(result: Result, beats: Heartbeats) -> str:
    """What became of the pages that a crawl had fetched when it ended early."""
    if result.commit_tag:
        return f"what was whole is committed as {result.commit_tag}"
    if beats.is_marked(RESUMABLE):
        return f"nothing of {result.domain} was committed, `webarc crawl --resume` goes on with it"
    return f"nothing of {result.domain} was committed"
