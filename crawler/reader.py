"""Reading pages in a process of its own, so that links are found on one core while the other one fetches and stores.

It also remembers what pages named when they were read last, and does not repeat what it has lately told.

The protocol on top of the channel: `Begin` comes first and once, then any number of `Ask`, `Forget` and `Sync`, then
`Close`. Every `Ask` has a number of its own and gets one `Told` with that number; their order does not matter. `Synced`
repeats the number of a `Sync` and says that every question before it has been answered, which shows at once if an
answer is missing. The fetch side stops starting requests while `has_room` is false, which bounds what is under way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple

from webarc.crawler.channel import Disordered
from webarc.crawler.companion import Companion, Inbox
from webarc.crawler.processes import die_with
from webarc.crawler.reading import LARGEST_READ, Reading, body_of, read, with_link_header, with_words
from webarc.crawler.recollection import Recollection
from webarc.crawler.ring import Ring
from webarc.heartbeat import READ, Heartbeats, beat
from webarc.waiting import Manner, use

_NAME = "the process that reads pages"
_TOGETHER = 16
_MOST_WAITING = 128
_MOST_BYTES = 1024 * 1024
_SILENCE = 1.0
_LATELY = 20_000
_ROUGHLY = 200
# It owns nothing but a cache, so nobody waits long for a page that takes it for ever.
_LONGEST_END = 3.0
Heard = Callable[[Reading | None], None]


class Question(NamedTuple):
    """A document to be read; only plain values, since ten thousands of these go through a pipe.

    Its body is in the ring (`start` is not negative), in a file (`place`) or in `body`; if it is nowhere, the reader is
    asked what it remembers. The rules are part of what it remembers by, since they decide what may be followed.
    """

    url: str
    sha256: str
    declared: str
    charset: str
    rules: str
    content_type: str
    follow: bool
    agent: str | None
    length: int
    start: int = -1
    place: str = ""
    body: bytes | None = None
    link: str = ""
    """The `Link:` headers of the answer."""
    compare: bool = False
    """Whether it matters what the document says, which is not remembered."""


class Begin(NamedTuple):
    """The crawl has its time."""

    crawl_time: str


class Ask(NamedTuple):
    """A question, as a plain tuple, with its number."""

    number: int
    question: tuple[object, ...]


class Forget(NamedTuple):
    """Tell everything again from now on."""


class Sync(NamedTuple):
    """Say when every question before this has been answered."""

    number: int


class Close(NamedTuple):
    """Nothing more will be asked; after a whole crawl, what was not needed is forgotten."""

    sweep: bool


class Told(NamedTuple):
    """The answer to the question of that number: a Reading as a plain tuple, or None for what is not remembered."""

    number: int
    reading: tuple[object, ...] | None


class Synced(NamedTuple):
    """Every question before that number has been answered."""

    number: int


READER_TYPES = (Begin, Ask, Forget, Sync, Close, Told, Synced)


class ReaderLine:
    """The fetch side's end: questions go out, and each answer is heard by who asked.

    Nothing here is called back while it waits: `ask` only queues, and whoever hears an answer may ask again, but never
    `listen`.
    """

    def __init__(self, companion: Companion) -> None:
        self._companion = companion
        self._channel = companion.channel
        self._waiting: dict[int, tuple[Heard, int]] = {}
        self._asked = self._unsent = self._weight = 0
        self._synced_at: int | None = None
        self._last_heard = monotonic()
        self._listening = False

    @classmethod
    def begin(
        cls, ring: Ring, cache: Path, *, beats: Heartbeats | None = None, closing: Sequence[int] = ()
    ) -> ReaderLine:
        """Start the process that reads."""
        work = partial(_work, ring, cache, os.getpid())
        return cls(
            Companion(_NAME, work, READER_TYPES, beats=beats, side=READ, closing=closing, longest_end=_LONGEST_END)
        )

    def __enter__(self) -> ReaderLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._companion.__exit__(kind, error, at)

    @property
    def pending(self) -> int:
        """Questions that have not been answered."""
        return len(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether more may be asked now."""
        return len(self._waiting) < _MOST_WAITING and self._weight < _MOST_BYTES

    def fileno(self) -> int:
        """What becomes readable when there are answers."""
        return self._companion.fileno()

    def know(self, crawl_time: str) -> None:
        """The crawl has its time."""
        self._channel.send(Begin(crawl_time))

    def forget(self) -> None:
        """Tell everything again: what was out of scope may not be so any more."""
        self._channel.send(Forget())

    def ask(self, question: Question, heard: Heard) -> None:
        """Have a document read; `heard` gets what it says, or None for what is not remembered."""
        weight = _ROUGHLY + len(question.url) + len(question.link) + len(question.body or b"")
        if not self._waiting:
            self._last_heard = monotonic()
        self._waiting[self._asked] = heard, weight
        self._weight += weight
        self._channel.send(Ask(self._asked, tuple(question)))
        self._asked += 1
        self._unsent += 1
        if self._unsent >= _TOGETHER:
            self._push()

    def listen(self) -> bool:
        """Hear the answers that are there; says whether there were any."""
        if self._listening:
            raise Disordered("an answer about a page is heard while another one is being heard; please report this.")
        self._push_if_idle()
        if not self._waiting:
            return False
        self._listening = True
        try:
            return self._hear(self._companion.heard())
        finally:
            self._listening = False

    def wait(self, seconds: float) -> None:
        """Wait until there are answers, at most so long."""
        self._push()
        self._channel.wait(seconds)

    def settle(self, until: float | None = None) -> None:
        """Hear everything that is still to come, until then at the longest."""
        while self._waiting and (until is None or monotonic() < until):
            self.wait(_SILENCE if until is None else min(_SILENCE, max(until - monotonic(), 0.0)))
            if self.listen():
                beat()

    def drop(self) -> None:
        """What has not been answered is of no interest any more."""
        self._waiting.clear()
        self._weight = 0

    def close(self, *, sweep: bool) -> None:
        """Nothing more will be asked; after a whole crawl, what was not needed is forgotten."""
        self._channel.send(Close(sweep))
        self._push()

    def _push_if_idle(self) -> None:
        """While the reader has something to do, questions may wait for company: that saves it from waking up."""
        if self._unsent >= _TOGETHER or self._unsent == len(self._waiting) or self._channel.held > _MOST_BYTES:
            self._push()
        elif self._waiting and monotonic() - self._last_heard > _SILENCE:
            self._sync()

    def _push(self) -> None:
        self._unsent = 0
        self._channel.push()

    def _sync(self) -> None:
        """The reader has been silent for a while: it is slow, or it has lost a question."""
        if self._synced_at is None:
            self._synced_at = self._asked
            self._channel.send(Sync(self._asked))
        self._push()

    def _hear(self, messages: list[Any]) -> bool:
        for message in messages:
            if isinstance(message, Told):
                self._hear_one(message)
            elif isinstance(message, Synced):
                self._check_none_is_missing(message)
            else:
                raise Disordered(f"{_NAME} said {message!r}, which is no answer; please report this.")
        if messages:
            self._last_heard = monotonic()
        return bool(messages)

    def _hear_one(self, told: Told) -> None:
        heard, weight = self._waiting.pop(told.number, (None, 0))
        if heard is None:
            raise Disordered(f"{_NAME} answered question {told.number}, which is not open; please report this.")
        self._weight -= weight
        heard(None if told.reading is None else Reading(*told.reading))  # type: ignore[arg-type]

    def _check_none_is_missing(self, synced: Synced) -> None:
        self._synced_at = None
        missing = [number for number in self._waiting if number < synced.number]
        if missing:
            raise Disordered(f"{_NAME} gave no answer to question {missing[0]}; please report this.")


class _Reader:
    """The reader's side."""

    def __init__(self, ring: Ring, recollection: Recollection) -> None:
        self._ring, self._recollection = ring, recollection
        self._told: tuple[set[str], set[str]] = (set(), set())

    def forget(self) -> None:
        for told in self._told:
            told.clear()

    def close(self, *, sweep: bool) -> None:
        self._recollection.close(sweep=sweep)

    def answer(self, question: Question) -> tuple[object, ...] | None:
        reading = self._reading(question)
        if reading is None:
            return None
        links, requisites = self._news(reading.links, False), self._news(reading.requisites, True)
        cut = reading.cut or question.length > LARGEST_READ
        return reading.title, reading.charset, links, requisites, reading.unfollowed, cut, reading.words

    def _reading(self, question: Question) -> Reading | None:
        memory = self._recollection
        url, sha256, declared, rules = question.url, question.sha256, question.declared, question.rules
        follow, agent, link = question.follow, question.agent, question.link
        if question.start < 0 and not question.place and question.body is None:
            if question.compare:
                return None
            known = memory.get(memory.key(url, sha256, f"{declared};{question.charset}", rules))
            # An answer of 304 seldom repeats these headers; what it says is added to what was there.
            return with_link_header(known, link, url, follow=follow, agent=agent) if known and link else known
        body, content_type = self._body(question), question.content_type
        reading = read(body, url, content_type, follow=follow, agent=agent, link=link)
        reading = with_words(reading, body, url, content_type) if question.compare else reading
        # What was asked for by the encoding that the archive knows is asked for so again.
        memory.put(memory.key(url, sha256, f"{declared};{question.charset or reading.charset}", rules), reading)
        return reading

    def _body(self, question: Question) -> bytes:
        if question.start >= 0:
            return bytes(self._ring.body(question.start, question.length))
        return body_of(question.body, Path(question.place))

    def _news(self, urls: Sequence[str], requisite: bool) -> list[str]:
        """The pages of a site name the same URLs over and over; what was told lately need not be told again."""
        told = self._told[requisite]
        news = [url for url in urls if url not in told]
        if len(told) > _LATELY:
            told.clear()
        told.update(news)
        return news


def _work(ring: Ring, cache: Path, parent: int, inbox: Inbox) -> None:
    """The reader's process: answers one question after the other until the other end is closed."""
    die_with(parent)
    use(Manner())
    reader: _Reader | None = None
    while True:
        for message in inbox.messages():
            if isinstance(message, Begin):
                reader = _Reader(ring, Recollection(cache, message.crawl_time))
            elif reader is None:
                raise Disordered("a page came to be read before the crawl had begun; please report this.")
            elif isinstance(message, Ask):
                inbox.answer(Told(message.number, reader.answer(Question._make(message.question))))
                beat()
            elif isinstance(message, Sync):
                inbox.answer(Synced(message.number))
            elif isinstance(message, Forget):
                reader.forget()
            else:
                reader.close(sweep=message.sweep)
        inbox.flush()
