"""Where `webarc` begins: what takes longest to load is begun first, before anything else is imported."""

from __future__ import annotations

import sys

_NOTHING_IS_CRAWLED = {"-h", "--help", "--dry-run"}


def main() -> None:
    """Run the command line."""
    if "crawl" in sys.argv and _NOTHING_IS_CRAWLED.isdisjoint(sys.argv):
        from webarc.crawler.nursery import begin

        # Should another command be meant by it, this only costs a process that ends with this one.
        begin()
    from webarc.cli.main import main as run

    run()
