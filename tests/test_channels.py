"""The lines between the processes of a crawl, with the other side played by the test: late, in any order, in pieces."""

from __future__ import annotations

import marshal
import socket
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.support_channels import Played
from webarc import waiting
from webarc.crawler.capture import Capture, Committed, Landed, LeftOut, Own, Verdicts
from webarc.crawler.channel import Channel, Disordered, Gone, pair
from webarc.crawler.companion import Failed
from webarc.crawler.control import CONTROL_TYPES, Control, Done, Note, Stop
from webarc.crawler.job import Progress, Result
from webarc.crawler.keeping import KEEPER_TYPES, Captured, Judge, KeeperLine, Owned, Remark, Reply, Write
from webarc.crawler.reader import READER_TYPES, Ask, Question, ReaderLine, Sync, Synced, Told
from webarc.crawler.reading import Reading
from webarc.crawler.ring import Ring
from webarc.errors import Stopped, StorageProblem, WebarcError
from webarc.heartbeat import STOPPED, Heartbeats

QUESTION = Question("http://h/", "0", "text/html", "", "", "text/html", True, None, 0)
EMPTY = Verdicts({}, {}, {}, [], [])
EXAMPLES = settings(max_examples=40, stateful_step_count=60, deadline=None)
"""A model of each line; the other side answers when and how it likes."""


class Pair(NamedTuple):
    number: int
    text: str


def reading(number: int) -> tuple[Any, ...]:
    return (f"title {number}", "utf-8", [f"http://h/{number}"], [], [], False)


# -- the channel itself ---------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 300_000), st.booleans()), max_size=12), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_messages_arrive_whole_and_in_order_however_the_pipe_is_filled(
    sizes: list[tuple[int, bool]], every: int
) -> None:
    ours, theirs = pair((Pair, Note))
    other = Channel(theirs, (Pair, Note))
    sent: list[Pair | Note] = []
    got: list[Any] = []
    for number, (size, plain) in enumerate(sizes):
        message = Pair(number, "x" * size) if plain else Note("y" * size)
        ours.send(message)
        sent.append(message)
        if number % every == 0:
            ours.push()
            got += other.receive()
    while ours.held:
        ours.push()
        got += other.receive()
    assert got + other.receive() == sent
    ours.close()
    with pytest.raises(Gone):
        other.receive()


@pytest.mark.parametrize("number", [0, 2, 7])
def test_a_message_that_is_repeated_or_lost_is_noticed(number: int) -> None:
    end, raw = socket.socketpair()
    channel = Channel(end, (Pair,))
    content = marshal.dumps([(1, "x")])
    head = Played.HEAD.pack
    raw.sendall(head(len(content), 0, 0, 1) + content)
    assert channel.receive() == [Pair(1, "x")]
    raw.sendall(head(len(content), number, 0, 1) + content)
    with pytest.raises(Disordered, match=f"message {number} of kind 0 came, 1 was due"):
        channel.receive()


def test_a_sender_never_waits_for_somebody_who_does_not_read() -> None:
    ours, theirs = pair((Pair,))
    for number in range(1000):
        ours.send(Pair(number, "x" * 1000))
        ours.push()
    assert ours.held > 0
    theirs.close()
    ours.push()
    assert ours.held == 0


# -- the line to the reader -----------------------------------------------------------------------------------


class ReaderModel(RuleBasedStateMachine):
    """Every question gets its own answer, once, and nobody is called back while he waits."""

    @initialize()
    def begin(self) -> None:
        self.played = Played(READER_TYPES)
        self.line = ReaderLine(self.played.companion)
        self.heard: dict[int, Any] = {}
        self.asked = 0
        self.open: list[int] = []
        self.synced: deque[int] = deque()

    def hear(self, number: int) -> Callable[[Reading | None], None]:
        def heard(found: Reading | None) -> None:
            assert number not in self.heard, "an answer was heard twice"
            self.heard[number] = found
            if number % 5 == 3:  # as a page whose links nobody remembers: it is asked about again
                self.ask()

        return heard

    @rule()
    def ask(self) -> None:
        self.line.ask(QUESTION, self.hear(self.asked))
        self.asked += 1

    @rule()
    def take(self) -> None:
        for message in self.played.messages():
            if isinstance(message, Ask):
                self.open.append(message.number)
            elif isinstance(message, Sync):
                self.synced.append(message.number)

    @rule(data=st.data(), remembered=st.booleans(), split=st.integers(1, 60))
    def answer(self, data: st.DataObject, remembered: bool, split: int) -> None:
        many = data.draw(st.lists(st.sampled_from(self.open), unique=True) if self.open else st.just([]))
        for number in many:
            self.open.remove(number)
            self.played.say(Told(number, reading(number) if remembered else None))
        self.played.write(split)

    @rule()
    def listen(self) -> None:
        self.line.listen()

    @rule()
    def let_all_come(self) -> None:
        self.played.write(None)

    @invariant()
    def own_answers(self) -> None:
        for number, found in getattr(self, "heard", {}).items():
            assert found is None or (found.title, found.links) == (f"title {number}", [f"http://h/{number}"])

    def teardown(self) -> None:
        for _ in range(200):
            if not self.line.pending:
                break
            self.line.wait(0)
            self.take()
            for number in self.open:
                self.played.say(Told(number, None))
            self.open.clear()
            self.played.write(None)
            self.line.listen()
        assert sorted(self.heard) == list(range(self.asked))
        assert self.line.has_room


def test_every_page_gets_its_own_reading() -> None:
    run_state_machine_as_test(ReaderModel, settings=EXAMPLES)


def asked(count: int) -> tuple[Played, ReaderLine, list[Any]]:
    played = Played(READER_TYPES)
    line, heard = ReaderLine(played.companion), []
    for _ in range(count):
        line.ask(QUESTION, heard.append)
    line.wait(0)
    return played, line, heard


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ([Told(1, None), Told(1, None)], "answered question 1, which is not open"),
        ([Told(2, None)], "answered question 2, which is not open"),
        ([Told(1, None), Synced(2)], "gave no answer to question 0"),
        ([Sync(1)], "which is no answer"),
        ([Failed(StorageProblem("the disk is gone."))], "the disk is gone"),
    ],
)
def test_a_wrong_answer_ends_the_crawl_loudly(said: list[Any], complaint: str) -> None:
    played, line, _ = asked(2)
    for message in said:
        played.say(message)
    played.write(None)
    with pytest.raises(WebarcError, match=complaint):
        line.listen()


def test_a_silent_reader_is_asked_whether_it_has_lost_a_question() -> None:
    played, line, heard = asked(2)
    until = Played.later(1.2)
    while not until():
        line.wait(0.05)
        line.listen()
    assert [message for message in played.messages() if isinstance(message, Sync)] == [Sync(2)]
    played.say(Told(1, None))
    played.say(Told(0, reading(0)))
    played.say(Synced(2))
    played.write(None)
    assert line.listen() and len(heard) == 2


def test_whoever_hears_an_answer_may_not_listen_for_others() -> None:
    played = Played(READER_TYPES)
    line = ReaderLine(played.companion)
    line.ask(QUESTION, lambda _: line.listen() and None)
    played.say(Told(0, None))
    played.write(None)
    with pytest.raises(Disordered, match="while another one is being heard"):
        line.listen()


def test_what_is_under_way_is_bounded() -> None:
    played = Played(READER_TYPES)
    line = ReaderLine(played.companion)
    count = 0
    while line.has_room:
        line.ask(QUESTION, lambda _: None)
        count += 1
    assert count <= 200
    played.messages()
    played.say(Told(0, None))
    played.write(None)
    line.wait(1)
    line.listen()
    assert line.has_room
    line.ask(QUESTION._replace(body=b"x" * 2_000_000), lambda _: None)
    assert not line.has_room


def test_a_reader_that_dies_is_noticed() -> None:
    played, line, _ = asked(1)
    played.channel.close()
    with pytest.raises(WebarcError, match="died"):
        line.listen()


# -- the line to the archive side -----------------------------------------------------------------------------


def capture(row: int) -> Capture:
    return Capture(row, "http://h/", "h", "%_", 200, "1.1", (), "text/html", "", 0, "0", None, 0.0, None)


class KeeperModel(RuleBasedStateMachine):
    """Captures arrive in order, requests get their own replies, late and in pieces, and what is handed over is bounded.

    Remarks may come at any time.
    """

    @initialize()
    def begin(self) -> None:
        self.played = Played(KEEPER_TYPES)
        self.ring = Ring(1 << 16)
        self.heard: list[str] = []
        self.line = KeeperLine(self.played.companion, self.ring, self.idle, self.heard.append)
        self.kept = self.remarked = 0
        self.rows: list[int] = []
        self.late, self.piece = 0, 1 << 16

    def idle(self) -> None:
        self.late -= 1
        if self.late < 0:
            self.played.write(self.piece)

    @rule(many=st.integers(1, 40))
    def keep(self, many: int) -> None:
        for _ in range(many):
            if self.line.has_room:
                self.line.keep(capture(self.kept), self.ring.put(b"x"))
                self.kept += 1

    @rule(urgent=st.booleans())
    def listen(self, urgent: bool) -> None:
        self.line.listen(at_once=urgent)

    @rule()
    def take(self) -> None:
        for message in self.played.messages():
            assert isinstance(message, Captured)
            self.rows.append(Capture._make(message.capture).row)  # type: ignore[arg-type]
            self.ring.count(len(self.rows))

    @rule(split=st.integers(0, 60))
    def remark(self, split: int) -> None:
        self.played.say(Remark(str(self.remarked)))
        self.remarked += 1
        self.played.write(split)

    @rule(late=st.integers(0, 3), piece=st.integers(1, 400))
    def slow_down(self, late: int, piece: int) -> None:
        self.late, self.piece = late, piece

    @invariant()
    def bounded(self) -> None:
        assert not hasattr(self, "kept") or self.kept - len(self.rows) <= 512

    def teardown(self) -> None:
        if not hasattr(self, "line"):
            return
        events = [Landed("h", b"x" * 700), Committed("h", "tag", "1", ()), LeftOut("g", ((1, True),), "locked")]
        self.played.say(Reply(1, EMPTY))
        assert self.line.verdicts() == EMPTY
        late = self.late = 2
        for event in (events[0], Remark("last"), *events[1:], None):
            self.played.say(event if isinstance(event, Remark) else Reply(2, event))
        assert list(self.line.commit([])) == events and self.late < late
        *captures, judge, write = self.played.messages()
        rows = self.rows + [Capture._make(message.capture).row for message in captures]
        assert (rows, judge, write) == (list(range(self.kept)), Judge(1), Write(2, []))
        assert self.heard == [*map(str, range(self.remarked)), "last"]
        with pytest.raises(Disordered, match="after it had been asked to judge"):
            self.line.keep(capture(0), None)


def test_the_archive_side_gets_everything_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webarc.crawler.keeping._LISTEN", 0.001)
    run_state_machine_as_test(KeeperModel, settings=EXAMPLES)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (Reply(2, EMPTY), "unasked"),
        (Reply(1, None), "gave no verdicts"),
        (Owned(Own("h", "")), "unasked"),
        (Failed(WebarcError("no room.")), "no room"),
    ],
)
def test_a_wrong_reply_ends_the_crawl_loudly(said: Any, complaint: str) -> None:
    played = Played(KEEPER_TYPES)
    line = KeeperLine(played.companion, Ring(100), lambda: None, print)
    played.say(said)
    played.write(None)
    with pytest.raises(WebarcError, match=complaint):
        line.verdicts()


def test_requests_have_an_order() -> None:
    line = KeeperLine(Played(KEEPER_TYPES).companion, Ring(100), lambda: None, print)
    with pytest.raises(Disordered, match="out of turn"):
        list(line.commit([]))


# -- the line to the scheduler --------------------------------------------------------------------------------


def progress(number: int) -> Progress:
    return Progress("h", number, 0, 0, 0, 0, "fetching")


class ControlModel(RuleBasedStateMachine):
    """Remarks and progress arrive in order, none twice; the first wish to end that has come whole is heeded."""

    @initialize()
    def begin(self) -> None:
        self.played = Played(CONTROL_TYPES)
        self.beats = Heartbeats()
        self.control = Control(self.played.companion.channel, self.beats)
        self.said = self.shown = 0
        self.notes: list[int] = []
        self.progress: list[int] = []
        self.reasons: list[str] = []

    @rule(size=st.sampled_from([1, 100, 2_000]), many=st.integers(1, 60))
    def say(self, size: int, many: int) -> None:
        for _ in range(many):
            self.control.say(f"{self.said} {'x' * size}")
            self.said += 1

    @rule(many=st.integers(1, 20))
    def show_progress(self, many: int) -> None:
        for _ in range(many):
            self.control._said = 0.0
            self.control.progress(lambda: progress(self.shown))
            self.shown += 1

    @rule(reason=st.sampled_from(["stopped", "stalled"]), piece=st.integers(0, 90))
    def tell_to_stop(self, reason: str, piece: int) -> None:
        self.played.say(Stop(reason))
        self.reasons.append(reason)
        self.played.write(piece)

    @rule(piece=st.integers(1, 90))
    def let_some_come(self, piece: int) -> None:
        self.played.write(piece)

    @rule()
    def check(self) -> None:
        before = self.control.reason
        self.control._listen_at = 0.0
        assert self.control.check() == self.control.stopped == bool(self.control.reason)
        assert self.control.reason == (before or self.control.reason)
        assert self.control.reason in ("", *self.reasons[:1])
        assert self.beats.is_marked(STOPPED) == self.control.stopped

    @rule()
    def hear(self) -> None:
        for message in self.played.messages():
            if isinstance(message, Note):
                self.notes.append(int(message.text.split()[0]))
            else:
                assert isinstance(message, Progress)
                self.progress.append(message.pages)

    @invariant()
    def in_order(self) -> None:
        for heard in (getattr(self, "notes", []), getattr(self, "progress", [])):
            assert all(one < next_ for one, next_ in pairwise(heard))

    @invariant()
    def bounded(self) -> None:
        assert not hasattr(self, "control") or self.control._channel.held < 3 * 64 * 1024

    def teardown(self) -> None:
        if not hasattr(self, "control"):
            return
        self.played.write(None)
        self.check()
        assert self.control.reason == (self.reasons or [""])[0]
        while self.control._channel.held:
            self.control._channel.push()
            self.hear()
        self.hear()
        self.control.done(Result("h"))
        assert self.played.messages() == [Done(Result("h"))]
        self.in_order()


def test_what_an_instance_and_its_scheduler_say_arrives_in_order() -> None:
    run_state_machine_as_test(ControlModel, settings=EXAMPLES)


def test_a_wait_ends_when_the_scheduler_is_gone_and_when_it_says_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended() -> None:
        raise ConnectionAbortedError

    monkeypatch.setattr("webarc.crawler.control._abandoned", ended)
    for end in ("stop", "close"):
        ours, theirs = pair(CONTROL_TYPES)
        control, scheduler = Control(ours, Heartbeats()), Channel(theirs, CONTROL_TYPES)
        said: list[str] = []
        monkeypatch.setattr(waiting, "_manner", waiting.Manner(60.0, control.check, said.append))
        if end == "stop":
            scheduler.send(Stop())
            scheduler.push()
        else:
            scheduler.close()
        wait = waiting.Wait(lambda: "it is locked.", waiting.longest())
        until = Played.later(5)
        expected: tuple[type[Exception], str] = (
            (Stopped, "while it is") if end == "stop" else (ConnectionAbortedError, "$")
        )
        with pytest.raises(expected[0], match=expected[1]):
            while not until():
                wait.pause()
        assert not until() and said == (["waiting: it is locked."] if end == "stop" else [])


def test_progress_is_dropped_and_nothing_waits_while_nobody_listens() -> None:
    ours, theirs = pair(CONTROL_TYPES)
    control = Control(ours, Heartbeats())
    for number in range(20_000):
        control._said = 0.0
        control.progress(lambda number=number: progress(number))
        control.say(f"remark {number} {'x' * 100}")
    scheduler = Channel(theirs, CONTROL_TYPES)
    heard = scheduler.receive()
    assert 0 < len([message for message in heard if isinstance(message, Progress)]) < 20_000
    assert isinstance(heard[0], Progress) and isinstance(heard[1], Note)
    scheduler.send(Stop("stalled"))
    scheduler.push()
    control._listen_at = 0.0
    assert control.check() and control.reason == "stalled"


def test_the_result_arrives_after_all_that_was_said() -> None:
    ours, theirs = pair(CONTROL_TYPES)
    control = Control(ours, Heartbeats())
    control.say("first")
    control.done(Result("h"))
    assert Channel(theirs, CONTROL_TYPES).receive() == [Note("first"), Done(Result("h"))]
