"""Reading pages in a process of its own, so that links are found on one core while the other one fetches and stores.

It also remembers what pages named when they were read last, and does not repeat what it has lately told.
"""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from select import POLLIN, poll
from types import TracebackType
from typing import Any, NamedTuple

from webarc.crawler.companion import Companion
from webarc.crawler.reading import LARGEST_READ, Reading, body_of, read, with_words
from webarc.crawler.recollection import Recollection
from webarc.crawler.ring import Ring

_NAME = "the process that reads pages"
_TOGETHER = 16
_MOST_PENDING = 128
# So much always fits into the pipe, even while the reader waits until what it says is heard.
_MOST_BYTES = 64 * 1024
_LATELY = 20_000
_ROUGHLY = 200
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
    compare: bool = False
    """Whether it matters what the document says, which is not remembered."""


class ReaderLine:
    """The fetch side's end: questions go out, and each answer is heard by who asked, in the same order."""

    def __init__(self, ring: Ring, cache: Path, others: tuple[Companion, ...] = ()) -> None:
        self.companion = Companion(_NAME, partial(_work, ring, cache), others)
        self._held: list[tuple[object, ...]] = []
        self._weight = 0
        self._waiting: deque[tuple[Heard, int]] = deque()
        self._on_the_way = 0
        self._poll = poll()
        self._poll.register(self.companion.connection.fileno(), POLLIN)

    def __enter__(self) -> ReaderLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.companion.__exit__(kind, error, at)

    @property
    def pending(self) -> int:
        """Questions that have not been answered."""
        return len(self._waiting)

    def fileno(self) -> int:
        """What becomes readable when there are answers."""
        return self.companion.connection.fileno()

    def begin(self, crawl_time: str) -> None:
        """The crawl has its time."""
        self.companion.tell(marshal.dumps(crawl_time))

    def forget(self) -> None:
        """Tell everything again: what was out of scope may not be so any more."""
        self.flush()
        self.companion.tell(marshal.dumps(None))

    def ask(self, question: Question, heard: Heard) -> None:
        """Have a document read; `heard` gets what it says, or None for what is not remembered."""
        weight = _ROUGHLY + len(question.url) + len(question.body or b"")
        self._held.append(tuple(question))
        self._waiting.append((heard, weight))
        self._weight += weight
        if len(self._held) >= _TOGETHER or self._weight > _MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send what is held back to be sent together; never so much that both sides would wait for each other."""
        if not self._held:
            return
        held, weight = self._held, self._weight
        self._held, self._weight = [], 0
        while self._on_the_way and (self._on_the_way + weight > _MOST_BYTES or len(self._waiting) > _MOST_PENDING):
            self._hear()
        self._on_the_way += weight
        self.companion.tell(marshal.dumps(held))

    def listen(self) -> None:
        """Hear the answers that are there."""
        if not self._on_the_way:
            self.flush()  # while the reader has something to do, questions may wait for company
        while self._on_the_way and self._poll.poll(0):
            self._hear()

    def settle(self) -> None:
        """Hear everything that is still to come."""
        self.flush()
        while self._waiting:
            self._hear()
            self.flush()

    def close(self, *, sweep: bool) -> None:
        """Nothing more will be asked; after a whole crawl, what was not needed is forgotten."""
        self.companion.tell(marshal.dumps(sweep))

    def _hear(self) -> None:
        for values in self.companion.answer():
            heard, weight = self._waiting.popleft()
            self._on_the_way -= weight
            heard(None if values is None else Reading(*values))


class _Reader:
    """The reader's side."""

    def __init__(self, ring: Ring, recollection: Recollection) -> None:
        self._ring, self._recollection = ring, recollection
        self._told: tuple[set[str], set[str]] = (set(), set())

    def answers(self, questions: list[Any]) -> list[tuple[object, ...] | None]:
        return [self._answer(Question._make(values)) for values in questions]

    def forget(self) -> None:
        for told in self._told:
            told.clear()

    def _answer(self, question: Question) -> tuple[object, ...] | None:
        reading = self._reading(question)
        if reading is None:
            return None
        links, requisites = self._news(reading.links, False), self._news(reading.requisites, True)
        cut = reading.cut or question.length > LARGEST_READ
        return reading.title, reading.charset, links, requisites, reading.unfollowed, cut, reading.words

    def _reading(self, question: Question) -> Reading | None:
        memory = self._recollection
        url, sha256, declared, rules = question.url, question.sha256, question.declared, question.rules
        if question.start < 0 and not question.place and question.body is None:
            key = memory.key(url, sha256, f"{declared};{question.charset}", rules)
            return None if question.compare else memory.get(key)
        body, content_type = self._body(question), question.content_type
        reading = read(body, url, content_type, follow=question.follow, agent=question.agent)
        reading = with_words(reading, body, url, content_type) if question.compare else reading
        memory.put(memory.key(url, sha256, f"{declared};{reading.charset}", rules), reading)
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


def _work(ring: Ring, cache: Path, connection: Connection) -> None:
    reader: _Reader | None = None
    recollection: Recollection | None = None
    while True:
        message = marshal.loads(connection.recv_bytes())  # noqa: S302 - written by our own other half
        if isinstance(message, str):
            recollection = Recollection(cache, message)
            reader = _Reader(ring, recollection)
        elif recollection is None or reader is None:
            raise AssertionError("a reader is told of its crawl before anything else")
        elif isinstance(message, bool):
            recollection.close(sweep=message)
        elif message is None:
            reader.forget()
        else:
            connection.send(reader.answers(message))
