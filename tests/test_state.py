"""The state: schedules that survive a restart and are given to one caller only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from webarc.errors import DatabaseProblem, UsageProblem
from webarc.sql import schema
from webarc.sql.state import Schedule, State

NOW = "2026-11-15 12:00:00"
LATER = "2026-11-15 18:00:00"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def state(file: Path) -> Iterator[State]:
    state = State.at(file)
    yield state
    state.close()


def add(state: State, name: str, due: str = NOW) -> None:
    state.add(name, "every", "6h", ["--depth", "3", "http://example.org/é"], "2026-11-01 00:00:00", due)


def later(_schedule: Schedule) -> str:
    return LATER


def test_a_schedule_survives_a_restart(state: State, file: Path) -> None:
    add(state, "daily")
    state.close()
    assert State.at(file).list() == [
        Schedule(
            name="daily",
            kind="every",
            spec="6h",
            argv=("--depth", "3", "http://example.org/é"),
            created="2026-11-01 00:00:00",
            last_start=None,
            last_end=None,
            last_exit=None,
            next_due=NOW,
        )
    ]


def test_names_are_unique_and_known(state: State) -> None:
    add(state, "daily")
    with pytest.raises(UsageProblem, match="already"):
        add(state, "daily")
    state.remove("daily")
    with pytest.raises(UsageProblem, match="no schedule 'daily'"):
        state.remove("daily")
    assert state.list() == []


def test_what_is_due_is_given_once_however_many_runs_were_missed(state: State) -> None:
    add(state, "missed", "2026-11-01 00:00:00")
    add(state, "now")
    add(state, "not yet", "2026-11-15 12:00:01")
    claimed = state.claim_due(NOW, later)
    assert [schedule.name for schedule in claimed] == ["missed", "now"]
    assert claimed == [schedule for schedule in state.list() if schedule.name != "not yet"]
    assert state.claim_due(NOW, later) == []
    missed = state.list()[0]
    assert (missed.last_start, missed.next_due, missed.last_end) == (NOW, LATER, None)


def test_a_busy_schedule_stays_due(state: State) -> None:
    add(state, "a")
    assert state.claim_due(NOW, later, busy={"a"}) == []
    assert [schedule.name for schedule in state.claim_due(NOW, later)] == ["a"]


def test_how_a_run_ended_is_noted(state: State) -> None:
    add(state, "a")
    state.claim_due(NOW, later)
    state.finish("a", "2026-11-15 12:30:00", 8)
    assert (state.list()[0].last_end, state.list()[0].last_exit) == ("2026-11-15 12:30:00", 8)
    state.finish("removed meanwhile", NOW, 0)


def test_a_claim_that_fails_is_undone(state: State) -> None:
    def fail(_schedule: Schedule) -> str:
        raise ZeroDivisionError

    add(state, "a")
    with pytest.raises(ZeroDivisionError):
        state.claim_due(NOW, fail)
    assert len(state.claim_due(NOW, later)) == 1


def test_many_processes_share_the_due_schedules_out(state: State, file: Path, tmp_path: Path) -> None:
    for number in range(100):
        add(state, f"s{number}")

    def work(number: int) -> None:
        names = [schedule.name for schedule in State.at(file).claim_due(NOW, later)]
        (tmp_path / f"claimed-{number}").write_text("\n".join(names))

    fork = get_context("fork")
    processes = [fork.Process(target=work, args=(number,)) for number in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    claimed = "\n".join(path.read_text() for path in tmp_path.glob("claimed-*")).split()
    assert sorted(claimed) == sorted(f"s{number}" for number in range(100))


def test_a_damaged_state_is_refused_and_left_alone(state: State, file: Path) -> None:
    add(state, "a")
    state.close()
    file.write_bytes(b"\0" * 8192)
    with pytest.raises(DatabaseProblem, match="damaged; restore it from a backup"):
        State.at(file).list()
    assert file.read_bytes() == b"\0" * 8192


def test_the_state_of_a_newer_webarc_is_refused(state: State, file: Path) -> None:
    add(state, "a")
    state.close()
    database = sqlite3.connect(file)
    with database:
        database.execute("UPDATE schema_version SET version = 999")
    database.close()
    with pytest.raises(DatabaseProblem, match="update webarc"):
        State.at(file).list()


def test_an_unknown_kind_of_schedule_is_refused(state: State) -> None:
    with pytest.raises(DatabaseProblem):
        state.add("a", "sometimes", "x", [], NOW, NOW)


def test_a_skipped_run_and_what_there_is_to_say_of_one(state: State) -> None:
    add(state, "a")
    state.skip("a", NOW, "it is busy", LATER)
    (row,) = state.list()
    assert (row.skipped, row.remark, row.next_due, row.last_start) == (NOW, "it is busy", LATER, None)
    (begun,) = state.claim_due(LATER, lambda _: "2026-11-16 00:00:00")
    assert (begun.skipped, begun.remark, begun.last_start) == (None, None, LATER) and [begun] == state.list()
    state.finish("a", LATER, 2, "a file is missing")
    state.finish("a", LATER, 2)
    assert state.list()[0].remark == "a file is missing"


def test_the_state_of_an_older_webarc_is_upgraded(file: Path) -> None:
    script = Path(schema.__file__).parent / "state_001.sql"
    database = sqlite3.connect(file)
    with database:
        database.executescript(script.read_text())
        database.execute("INSERT INTO schema_version VALUES (1)")
        database.execute(
            "INSERT INTO schedule VALUES ('a', 'every', '6h', '[\"https://e.org/\"]', ?, ?, ?, 8, ?)",
            (NOW, NOW, NOW, LATER),
        )
    database.close()
    state = State.at(file)
    (row,) = state.list()
    assert (row.argv, row.last_exit, row.archive, row.skipped) == (("https://e.org/",), 8, None, None)
    state.skip("a", NOW, "why", LATER)
    assert state.list()[0].skipped == NOW
    state.close()
