"""When schedules are due, their crontab and systemd texts, and the foreground scheduler with real processes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from webarc.archive import times
from webarc.crawler.schedule import checked, following
from webarc.crawler.timetable import crontab, systemd
from webarc.errors import UsageProblem
from webarc.sql.state import Schedule, State

ROOT = Path(__file__).parent.parent
BERLIN = ZoneInfo("Europe/Berlin")
LONG_AGO = "2020-01-01 00:00:00"


@contextmanager
def time_zone(name: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


def at(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold)


@pytest.mark.parametrize(
    ("spec", "after", "due"),
    [
        ("0 3 * * *", at("2026-11-15T02:59:59"), at("2026-11-15T03:00:00")),
        ("0 3 * * *", at("2026-11-15T03:00:00"), at("2026-11-16T03:00:00")),
        ("*/15 * * * *", at("2026-11-15T03:01:00"), at("2026-11-15T03:15:00")),
        ("0 0 1 1 *", at("2026-11-15T03:01:00"), at("2027-01-01T00:00:00")),
        ("30 8 * * mon-fri", at("2026-11-14T12:00:00"), at("2026-11-16T08:30:00")),
        ("@weekly", at("2026-11-14T12:00:00"), at("2026-11-15T00:00:00")),
        # Summer: local time is what people mean.
        ("0 3 * * *", at("2026-07-01T12:00:00"), at("2026-07-02T03:00:00")),
        # 02:30 does not exist on this day; it is run once, when the clock has moved on.
        ("30 2 * * *", at("2026-03-29T01:00:00"), at("2026-03-29T03:30:00")),
        ("30 2 * * *", at("2026-03-29T03:30:00"), at("2026-03-30T02:30:00")),
        # 02:30 comes twice on this day; it is run once.
        ("30 2 * * *", at("2026-10-25T01:00:00"), at("2026-10-25T02:30:00", fold=0)),
        ("30 2 * * *", at("2026-10-25T02:30:00", fold=0), at("2026-10-26T02:30:00")),
        # In the second of the two hours, what is due must still lie ahead.
        ("*/5 * * * *", at("2026-10-25T02:11:00", fold=1), at("2026-10-25T02:15:00", fold=1)),
    ],
)
def test_cron(spec: str, after: datetime, due: datetime) -> None:
    with time_zone("Europe/Berlin"):
        found = following("cron", spec, after)
    assert found.timestamp() == due.timestamp()
    assert found > after


def test_due_times_move_on_when_the_clocks_go_back() -> None:
    with time_zone("Europe/Berlin"):
        moment = at("2026-10-24T20:00:00").astimezone(times.CET)
        seen = []
        while moment < at("2026-10-25T12:00:00"):
            moment = following("cron", "*/20 * * * *", moment)
            seen.append(moment)
    assert seen == sorted(set(seen))
    assert max(later - earlier for earlier, later in pairwise(seen)) <= timedelta(minutes=80)


def test_every() -> None:
    now = times.now()
    assert following("every", "6h", now) == now + timedelta(hours=6)
    assert checked("every", "90m") == "1h30m"


@pytest.mark.parametrize("spec", ["0", "500ms", "soon", "-1h", "20000d", ""])
def test_what_is_no_time_between_crawls(spec: str) -> None:
    with pytest.raises(UsageProblem):
        checked("every", spec)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "0 0 30 2 *",
        "0 0 L * *",
        "H * * * *",
        "R * * * *",
        "@reboot",
        "0 3 * * * ; rm -rf /",
        "0 3 * * xyz",
        "*/0 * * * *",
        "1-70 * * * *",
    ],
)
def test_what_is_no_cron_expression(spec: str) -> None:
    with pytest.raises(UsageProblem):
        checked("cron", spec)


def schedule(name: str, kind: str, spec: str, *argv: str) -> Schedule:
    return Schedule(name, kind, spec, argv, LONG_AGO, None, None, None, LONG_AGO)


@pytest.mark.parametrize(
    ("kind", "spec", "when"),
    [
        ("cron", "0 3 * * 1", "0 3 * * 1"),
        ("every", "10m", "*/10 * * * *"),
        ("every", "1h", "0 */1 * * *"),
        ("every", "6h", "0 */6 * * *"),
        ("every", "1d", "0 0 * * *"),
        ("every", "1w", "0 0 * * 0"),
        ("every", "7h", ""),
        ("every", "7m", ""),
        ("every", "90s", ""),
        ("every", "2d", ""),
    ],
)
def test_crontab(kind: str, spec: str, when: str) -> None:
    url = "https://e.org/a%20b?x='y'"
    text = crontab([schedule("n", kind, spec, "--depth", "3", url)], ["/bin/webarc", "--archive", "/a b"], Path("/a b"))
    line = text.splitlines()[-1]
    fields = line.split(None, 5)
    command = shlex.split(fields[5].replace(r"\%", "%"))
    assert command[:3] == ["/bin/webarc", "--archive", "/a b"]
    assert "%" not in line.replace(r"\%", "")
    if when:
        assert " ".join(fields[:5]) == when
        assert command[3:] == ["crawl", "-q", "--depth", "3", url]
    else:
        assert command[3:] == ["schedule", "run", "-q", "--once", "n"]


def test_systemd() -> None:
    text = systemd(["/opt/my env/webarc", "--archive", "/50%/$x"], Path("/50%/$x"))
    assert 'ExecStart="/opt/my env/webarc" --archive /50%%/$$x schedule run\n' in text
    assert "KillMode=mixed" in text
    assert "[Install]" in text


# The scheduler is run with a stand-in for `python -m webarc` that leaves traces instead of crawling; the real crawl
# behind the real command is in test_cli.py.
CRAWL = """
import json, os, sys, threading, time
from pathlib import Path
resumes = "--resume" in sys.argv
if "--resume" in sys.argv:
    sys.argv.remove("--resume")
folder, url, seconds = Path(sys.argv[2]), sys.argv[-1], float(sys.argv[3])
def note(what):
    with open(folder / "trace", "a") as file:
        file.write(json.dumps([what, url, time.time(), os.environ.get("MARK")]) + "\\n")
def listen():
    said = os.read(0, 1)
    note("told to stop" if said else "left alone")
    os._exit(13)
threading.Thread(target=listen, daemon=True).start()
note("start again" if resumes else "start")
time.sleep(seconds)
note("end")
print("said by the crawl")
sys.exit(int(sys.argv[4]))
"""
RUN = """
import os, sys
from pathlib import Path
from webarc.crawler.schedule_runner import Runner, alone
from webarc.sql.state import State
folder = Path(sys.argv[1])
def say(text):
    print(text, flush=True)
class Around:
    def found(self, each):
        return each
    def domains(self, each):
        return frozenset(each.argv[-1].split(","))
    def busy(self, domains):
        return "busy.org is busy" if domains == {"busy.org"} else ""
with alone(folder / "lock"):
    state = State(folder / "state.db")
    runner = Runner(
        state, [sys.executable, str(folder / "crawl.py"), "crawl"], folder / "log", surroundings=Around(),
        environ={**os.environ, "MARK": "x"}, at_once=int(sys.argv[2]), say=say,
    )
    sys.exit(runner.run(once=sys.argv[3] == "once", names=sys.argv[4:]))
"""


class Stage:
    """A folder with schedules, the stand-in for the crawl, and what it left behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "crawl.py").write_text(CRAWL)
        self.state = State(folder / "state.db")

    def add(self, name: str, domains: str, *, seconds: float = 0.0, code: int = 0, every: str = "1h") -> None:
        argv = [str(self.folder), str(seconds), str(code), domains]
        self.state.add(name, "every", every, argv, LONG_AGO, LONG_AGO)

    def start(self, mode: str = "once", *names: str, at_once: int = 4) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", RUN, str(self.folder), str(at_once), mode, *names],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *names: str, at_once: int = 4) -> int:
        process = self.start("once", *names, at_once=at_once)
        self.output, self.errors = process.communicate(timeout=60)
        return process.returncode

    def trace(self, what: str = "") -> list[tuple[str, str, float]]:
        file = self.folder / "trace"
        lines = file.read_text().splitlines() if file.exists() else []
        found = [json.loads(line) for line in lines]
        assert all(entry[3] == "x" for entry in found)
        return [(entry[0], entry[1], entry[2]) for entry in found if what in entry[0]]

    def wait_for(self, what: str, count: int = 1) -> None:
        end = time.monotonic() + 30
        while len(self.trace(what)) < count:
            assert time.monotonic() < end, f"no {what} in {self.trace()}"
            time.sleep(0.05)

    def wait_until_told(self, process: subprocess.Popen[str]) -> None:
        """Until the scheduler says that a crawl ended: a stop would still kill one that is only on its way out."""
        assert process.stdout is not None
        assert any("ended with exit code" in line for line in process.stdout)

    def row(self, name: str) -> Schedule:
        return next(each for each in self.state.list() if each.name == name)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.state.close()


def test_what_is_due_runs_once_however_often_it_was_missed(stage: Stage) -> None:
    stage.add("a", "a.org")
    assert stage.run() == 0, stage.errors
    assert [what for what, _, _ in stage.trace()] == ["start", "end"]
    row = stage.row("a")
    assert row.last_start and row.last_end and row.last_end >= row.last_start
    assert row.last_exit == 0
    assert row.next_due > times.text(times.now() + timedelta(minutes=55))
    assert (stage.folder / "log" / "schedule-a.log").read_text() == "said by the crawl\n"
    assert stage.run() == 0
    assert len(stage.trace("start")) == 1


def test_the_worst_exit_code_is_told(stage: Stage) -> None:
    stage.add("a", "a.org", code=8)
    stage.add("b", "b.org", code=4)
    stage.add("c", "c.org")
    assert stage.run() == 4
    assert [stage.row(name).last_exit for name in "abc"] == [8, 4, 0]


def test_names_choose_what_runs(stage: Stage) -> None:
    stage.add("a", "a.org")
    stage.add("b", "b.org")
    assert stage.run("b") == 0
    assert [url for _, url, _ in stage.trace("start")] == ["b.org"]
    assert stage.row("a").next_due == LONG_AGO


def test_crawls_with_a_domain_in_common_wait_for_each_other(stage: Stage) -> None:
    stage.add("a", "x.org,y.org", seconds=0.5)
    stage.add("b", "y.org,z.org", seconds=0.5)
    stage.add("c", "z.org", seconds=0.5)
    stage.add("d", "other.org", seconds=0.5)
    assert stage.run(at_once=4) == 0, stage.errors
    when = {(what, url): moment for what, url, moment in stage.trace()}
    assert when["end", "x.org,y.org"] <= when["start", "y.org,z.org"]
    assert when["end", "y.org,z.org"] <= when["start", "z.org"]
    assert when["start", "other.org"] < when["end", "x.org,y.org"]


def test_never_more_at_once_than_allowed(stage: Stage) -> None:
    for number in range(4):
        stage.add(f"s{number}", f"{number}.org", seconds=0.3)
    assert stage.run(at_once=2) == 0
    running = most = 0
    for what, _, _ in sorted(stage.trace(), key=lambda entry: entry[2]):
        running += 1 if what == "start" else -1
        most = max(most, running)
    assert most == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_passed_on_and_waited_for(stage: Stage, number: signal.Signals) -> None:
    stage.add("a", "a.org", seconds=30)
    stage.add("b", "a.org", seconds=30)
    process = stage.start("forever")
    stage.wait_for("start")
    process.send_signal(number)
    assert process.wait(timeout=20) == 13
    assert [what for what, _, _ in stage.trace()] == ["start", "told to stop"]
    # Neither has ended, so both go on next time.
    assert stage.row("a").last_end is None
    assert stage.row("b").last_end is None


def test_an_idle_scheduler_ends_well(stage: Stage) -> None:
    process = stage.start("forever")
    time.sleep(1.0)
    process.terminate()
    assert process.wait(timeout=20) in (0, -signal.SIGTERM)


def test_a_scheduler_that_was_killed_makes_up_for_what_it_began(stage: Stage) -> None:
    stage.add("a", "a.org", seconds=2)
    process = stage.start("forever")
    stage.wait_for("start")
    process.kill()
    process.wait()
    stage.wait_for("left alone")
    assert stage.row("a").last_end is None
    assert stage.run() == 0
    assert "a: was interrupted, goes on" in stage.output
    assert len(stage.trace("start")) == 2
    assert stage.row("a").last_exit == 0
    assert stage.run() == 0
    assert len(stage.trace("start")) == 2


def test_it_runs_again_and_again(stage: Stage) -> None:
    stage.add("a", "a.org", seconds=1.5, every="1s")
    process = stage.start("forever")
    stage.wait_for("start", 3)
    process.terminate()
    assert process.wait(timeout=20) == 13
    assert [what for what, _, _ in stage.trace()] == ["start", "end"] * 2 + ["start", "told to stop"]


def test_a_schedule_added_later_is_seen(stage: Stage) -> None:
    process = stage.start("forever")
    time.sleep(0.5)
    stage.add("late", "a.org")
    stage.wait_until_told(process)
    process.terminate()
    assert process.wait(timeout=20) == 0


def test_only_one_scheduler_serves_an_archive(stage: Stage) -> None:
    stage.add("a", "a.org", seconds=30)
    process = stage.start("forever")
    stage.wait_for("start")
    stage.run()
    assert "Locked" in stage.errors
    process.terminate()
    process.wait(timeout=20)


def test_what_comes_due_while_others_crawl_its_domain_is_skipped(stage: Stage) -> None:
    stage.add("a", "busy.org")
    stage.add("b", "b.org")
    assert stage.run() == 12
    assert [url for _, url, _ in stage.trace("start")] == ["b.org"]
    row = stage.row("a")
    assert (row.last_start, row.last_end, row.remark) == (None, None, "busy.org is busy")
    assert row.skipped and row.next_due > row.skipped
    assert "a: skipped; busy.org is busy" in stage.output
    assert stage.run() == 0
    assert stage.row("b").skipped is None


def test_what_comes_due_while_its_run_before_is_not_over_is_skipped(stage: Stage) -> None:
    stage.add("a", "a.org", seconds=2.5, every="1s")
    process = stage.start("forever")
    stage.wait_for("start")
    end = time.monotonic() + 10
    while not (row := stage.row("a")).skipped:
        assert time.monotonic() < end and not stage.trace("end")
        time.sleep(0.05)
    assert row.remark == "its run before was not over"
    assert row.last_start and row.last_end is None and row.last_exit is None
    stage.wait_for("start", 2)
    process.terminate()
    assert process.wait(timeout=20) == 13
    # What was skipped is not made up for: the second run begins when it is due, and knows of no skipped one.
    assert stage.row("a").skipped is None


def test_a_run_that_goes_on_does_not_show_how_the_one_before_ended(stage: Stage) -> None:
    stage.add("a", "a.org", code=8)
    assert stage.run() == 8
    assert stage.row("a").last_exit == 8
    stage.state.remove("a")
    stage.add("a", "a.org", seconds=30, code=8)
    stage.state.finish("a", LONG_AGO, 8)
    process = stage.start("once")
    stage.wait_for("start", 2)
    row = stage.row("a")
    assert row.last_start and (row.last_end, row.last_exit) == (None, None)
    process.terminate()
    assert process.wait(timeout=20) == 13


@pytest.mark.parametrize("code", [12, 137])
def test_a_run_that_got_no_lock_or_was_killed_is_gone_on_with_by_the_next_one(stage: Stage, code: int) -> None:
    stage.add("a", "a.org", code=code)
    stage.run()
    stage.state.skip("a", LONG_AGO, "", LONG_AGO)
    stage.run()
    assert [what for what, _, _ in stage.trace("start")] == ["start", "start again"]


def test_a_run_that_ended_is_not_gone_on_with(stage: Stage) -> None:
    stage.add("a", "a.org", code=8)
    stage.run()
    stage.state.skip("a", LONG_AGO, "", LONG_AGO)
    stage.run()
    assert [what for what, _, _ in stage.trace("start")] == ["start", "start"]


def test_what_was_interrupted_and_is_crawled_by_others_is_skipped_and_gone_on_with_later(stage: Stage) -> None:
    stage.add("a", "busy.org")
    stage.state.claim_due(times.text(times.now()), lambda _: LONG_AGO)
    assert stage.run() == 12
    assert not stage.trace() and "a: skipped; busy.org is busy" in stage.output
    assert stage.row("a").last_end is None and stage.row("a").skipped
    assert stage.run() == 12, "it is tried again"
