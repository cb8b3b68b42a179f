"""Reading texts from git: what the cache does not have yet, in this process or shared out to several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from types import TracebackType
from typing import NamedTuple

from webarc.archive.contents import Contents
from webarc.archive.crew import Crew, Line
from webarc.archive.store import Archive
from webarc.diff.packing import FULL_PART, Texts
from webarc.diff.pagelines import PageLines
from webarc.diff.phrases import Phrase, letters, lines_of, settled
from webarc.diff.text import LARGEST_READ, TextReader, kind_of
from webarc.errors import Damaged, WebarcError
from webarc.sql.rows import VersionRow

# Fewer versions are read sooner than processes are started.
_WORTH_A_CREW = 1_000
_PER_TASK = 100
# A larger document is read alone, so that few of them are in memory at once.
_LARGE = 1_000_000


class Task(NamedTuple):
    """Versions of one page to be read, by key, and the packed texts that theirs are to be put to, if any."""

    place: int
    missing: Mapping[str, VersionRow]
    last: bytes | None


class Result(NamedTuple):
    """Packed texts, the first in place of the task's `last`; which keys hold the phrase, and what could not be read."""

    place: int
    packed: list[bytes]
    holding: set[str]
    unread: dict[str, str]


class Filler:
    """Reads texts of one domain and looks for a phrase in them; made in the process that works."""

    def __init__(self, archive: Archive, domain: str, phrase: Phrase) -> None:
        self._phrase = phrase
        self._reader = archive.repository(domain).reader()
        self._contents = Contents(archive)
        self._texts = TextReader(letters)

    def close(self) -> None:
        """End the git processes."""
        self._reader.close()
        self._contents.close()

    def fill(self, task: Task) -> Result:
        """Read what a task wants."""
        parts = [Texts.unpacked(task.last) if task.last is not None else Texts()]
        lines = PageLines(self._texts.markup, parts[-1])
        unread: dict[str, str] = {}
        for (key, row), data in zip(task.missing.items(), self._data(task.missing.values()), strict=True):
            if not isinstance(data, bytes):
                unread[key] = _left_out(row, data)
                continue
            if parts[-1].size >= FULL_PART:
                parts.append(Texts())
                lines = PageLines(self._texts.markup, parts[-1])
            numbers = lines.numbers(data, row.charset) if kind_of(row.mime_type) == "html" else None
            parts[-1].add(key, parts[-1].numbers(self._lines(data, row)) if numbers is None else numbers)
        holding = {key for part in parts for key in part.holding(self._phrase)}
        is_new = len(unread) < len(task.missing)
        return Result(task.place, [part.packed() for part in parts] if is_new else [], holding, unread)

    def _data(self, rows: Iterable[VersionRow]) -> Iterator[bytes | Damaged | None]:
        rows = list(rows)
        small = self._reader.read_many(row.data_blob or "" for row in rows if row.length <= _LARGE)
        return (next(small) if row.length <= _LARGE else self._beginning(row) for row in rows)

    def _beginning(self, row: VersionRow) -> bytes | Damaged:
        try:
            return self._contents.read(row, LARGEST_READ + 1)
        except Damaged as problem:
            return problem

    def _lines(self, data: bytes, row: VersionRow) -> list[str]:
        text = self._texts.text(data, row.mime_type, row.charset) or ""
        return lines_of(text) if kind_of(row.mime_type) == "plain" else list(filter(None, settled(text).split("\n")))


class Fillers:
    """Has tasks done, by a crew if they are many; to be used in a `with`."""

    def __init__(self, archive: Archive, domain: str, phrase: Phrase) -> None:
        self._make: Callable[[], Filler] = lambda: Filler(archive, domain, phrase)
        self._own: Filler | None = None
        self._crew: Crew | None = None
        self._held = ExitStack()

    def __enter__(self) -> Fillers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._held.close()

    def fill(self, tasks: list[Task], hear: Callable[[Result], None]) -> None:
        """Do all tasks; `hear` gets every result as soon as it is there."""
        if self._crew is None and sum(len(task.missing) for task in tasks) < _WORTH_A_CREW:
            for task in tasks:
                hear(self._mine().fill(task))
            return
        if self._crew is None:
            self._crew = self._held.enter_context(Crew(self._work))
        self._crew.run(_bundles(tasks), lambda _, result: hear(result), _ended)

    def _work(self, bundle: list[Task], line: Line) -> None:
        for task in bundle:
            line.tell(self._mine().fill(task))

    def _mine(self) -> Filler:
        if self._own is None:
            self._own = self._make()
            self._held.callback(self._own.close)
        return self._own


def _left_out(row: VersionRow, problem: Damaged | None) -> str:
    name = f"version {row.number} of {row.url}"
    if problem is None:
        return f"{name} was left out, for git does not have its bytes; restore the repository from a backup."
    return str(problem) if str(problem).startswith(name) else f"{name} was left out: {problem}"


def _bundles(tasks: list[Task]) -> Iterator[list[Task]]:
    """Pages together that have about as many versions as are worth being sent."""
    pending = iter(tasks)
    for first in pending:
        more = max(_PER_TASK // max(len(first.missing), 1) - 1, 0)
        yield [first, *islice(pending, more)]


def _ended(_bundle: list[Task], problem: WebarcError | None) -> tuple[()]:
    if problem is not None:
        raise problem
    return ()
