"""A process beside the fetch side ends when the fetch side does: soon if it moves, and by force if it does not."""

from __future__ import annotations

import subprocess
import sys
import time
from math import inf

import pytest

from tests.crawls import ROOT, Webarc, environment
from tests.servers import Site
from webarc.crawler import companion
from webarc.crawler.companion import Companion, Inbox
from webarc.heartbeat import FETCH, WRITE, Heartbeats, beat


def computes(_: Inbox) -> None:
    """For ever, as a catastrophic expression does."""
    while True:
        pass


def moves(_: Inbox) -> None:
    """Takes a while, step by step."""
    for _step in range(15):
        time.sleep(0.1)
        beat()


def waits_for_a_program(_: Inbox) -> None:
    """As for git that computes."""
    subprocess.run([sys.executable, "-S", "-c", "import time\nwhile time.process_time() < 1.5: pass"], check=True)


def ended(work: companion.Work, *, longest_end: float = inf) -> tuple[float, int]:
    """How long the end of a companion took, and how many steps of the fetch side it was said to be."""
    beats = Heartbeats()
    beats.use(FETCH)
    began = time.monotonic()
    with Companion("x", work, (int,), beats=beats, side=WRITE, longest_end=longest_end):
        pass
    return time.monotonic() - began, beats.counts()[FETCH]


def test_one_that_computes_for_ever_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companion, "_STANDSTILL", 0.5)
    seconds, steps = ended(computes)
    assert (seconds < 3, steps) == (True, 0)


def test_one_with_nothing_to_lose_has_only_so_long() -> None:
    seconds, steps = ended(moves, longest_end=0.3)
    assert (seconds < 1.2, steps) == (True, 0)


def test_one_that_moves_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companion, "_STANDSTILL", 0.5)
    assert ended(moves)[0] > 1.4


def test_one_whose_programs_move_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companion, "is_same_program", lambda pid, other: False)
    monkeypatch.setattr(companion, "_STANDSTILL", 1.0)
    assert ended(waits_for_a_program)[0] > 1.4


SPINNING = """
import sys
import webarc.crawler.reader as reader
answer = reader._Reader.answer
def never(self, question):
    while question.url.endswith("/b"):
        pass
    return answer(self, question)
reader._Reader.answer = never
from webarc.cli.start import main
main()
"""


def test_a_reader_that_computes_for_ever_does_not_hold_up_the_end(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a><a href=/b>b</a>", "/a": "a", "/b": "b"}) as site:
        command = [sys.executable, "-c", SPINNING, "--archive", str(webarc.archive), "crawl", "--json"]
        done = subprocess.run(
            [*command, "--stall-timeout", "2s", site.url()],
            env=environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=40,
            check=False,
        )
        assert (done.returncode, '"errorClass": "Stalled"' in done.stdout) == (1, True), (done.stdout, done.stderr)
        assert len(webarc.commits(site.url())) == 1
