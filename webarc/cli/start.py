"""Where `webarc` begins: what takes longest to load is begun first, before anything else is imported."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

_NOTHING_IS_CRAWLED = {"-h", "--help", "help", "--dry-run"}


def main() -> None:
    """Run the command line."""
    _open_closed()
    _write_anything()
    if "crawl" in sys.argv and _NOTHING_IS_CRAWLED.isdisjoint(sys.argv):
        from webarc.crawler.nursery import begin

        # Should another command be meant by it, this only costs a process that ends with this one.
        begin()
    from webarc.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        _end(end.code)


def _write_anything() -> None:
    """A title or a path may have signs that the terminal's encoding has not; they are shown as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end(code: object) -> NoReturn:
    """End at once: what a command holds is released when it returns, and taking the interpreter apart takes 20 ms."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _open_closed() -> None:
    """Where standard output, say, is closed, the next file to be opened would get its number, and what is printed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
