"""Where an instance's process begins; the scheduler's own process never loads what only instances need."""

from __future__ import annotations

from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from webarc.crawler.job import Job

_PRELOADED = ["webarc.crawler.preload"]


def context() -> ForkServerContext:
    """A server process that has loaded the libraries once: its forks start at once and share its memory."""
    server = get_context("forkserver")
    server.set_forkserver_preload(_PRELOADED)
    return server


def warm_up() -> None:
    """Let the server process load the libraries while the command line loads its own and reads its arguments."""
    context()
    forkserver.ensure_running()


def run(job: Job, connection: Connection) -> None:
    """Crawl one domain."""
    from webarc.crawler.instance import run_instance

    run_instance(job, connection)
