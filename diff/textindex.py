"""Which versions of pages hold a phrase, over the whole history of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from webarc.archive.store import Archive
from webarc.diff.packing import key_of
from webarc.diff.phrases import Phrase
from webarc.diff.text import kind_of
from webarc.diff.textcache import Part, TextCache, cache_file
from webarc.diff.textfill import Fillers, Result, Task
from webarc.sql.rows import VersionRow

Progress = Callable[[int], None]
# Reading goes on in rounds, so that the versions of a large domain need not all be in memory.
_MOST_MISSING = 5_000
_MOST_WAITING = 2_000


@dataclass(slots=True)
class Found:
    """The versions of one page, oldest first, and the numbers of those that hold the phrase or cannot be read."""

    rows: Sequence[VersionRow]
    holding: set[int]
    unread: set[int]


@dataclass(slots=True)
class _Page:
    rows: Sequence[VersionRow]
    missing: dict[str, VersionRow]
    holding: set[str]
    last: Part | None
    unread: set[str] = field(default_factory=set)

    def found(self) -> Found:
        """What is known when all of its texts have been searched."""
        if not self.holding and not self.unread:
            return Found(self.rows, set(), set())
        by_key = [(row.number, key_of_version(row)) for row in self.rows]
        return Found(
            self.rows,
            {number for number, key in by_key if key in self.holding},
            {number for number, key in by_key if key in self.unread},
        )

    def task(self, place: int) -> Task:
        """What has to be read."""
        return Task(place, self.missing, self.last.packed if self.last and not self.last.is_full else None)


def key_of_version(row: VersionRow) -> str | None:
    """What the text of a version is known by; None if it has none."""
    kind = kind_of(row.mime_type)
    return key_of(row.data_blob, kind, row.charset) if kind and row.data_blob else None


class TextIndex:
    """The texts of all versions of one domain, read from git where the cache does not have them yet."""

    def __init__(
        self, archive: Archive, domain: str, warn: Callable[[str], None], on_progress: Progress | None = None
    ) -> None:
        self._archive, self._domain = archive, domain
        self._warn, self._on_progress = warn, on_progress
        self._read = 0

    def search(self, pages: Iterable[Sequence[VersionRow]], phrase: Phrase) -> Iterator[Found]:
        """Look at the pages, each given by all its versions; those that have to be read first come last."""
        file = cache_file(self._archive, self._domain)
        with TextCache(file) as cache, Fillers(self._archive, self._domain, phrase) as fillers:
            waiting: list[_Page] = []
            for rows in pages:
                page = _looked_up(rows, cache, phrase)
                if not page.missing:
                    yield page.found()
                    continue
                waiting.append(page)
                if sum(len(page.missing) for page in waiting) >= _MOST_MISSING or len(waiting) >= _MOST_WAITING:
                    yield from self._filled(waiting, cache, fillers)
                    waiting = []
            yield from self._filled(waiting, cache, fillers)

    def _filled(self, pages: list[_Page], cache: TextCache, fillers: Fillers) -> Iterator[Found]:
        """Read what is missing and keep it."""

        def hear(result: Result) -> None:
            self._take(pages[result.place], result, cache)

        fillers.fill([page.task(place) for place, page in enumerate(pages)], hear)
        for page in pages:
            yield page.found()

    def _take(self, page: _Page, result: Result, cache: TextCache) -> None:
        page.holding |= result.holding
        page.unread |= result.unread.keys()
        for sentence in result.unread.values():
            self._warn(sentence)
        cache.save(page.rows[0].arc, page.last, result.packed)
        self._read += len(page.missing)
        if self._on_progress is not None:
            self._on_progress(self._read)


def _looked_up(rows: Sequence[VersionRow], cache: TextCache, phrase: Phrase) -> _Page:
    """Search what the cache has of a page."""
    parts = cache.parts(rows[0].arc)
    known = {key for _, texts in parts for key in texts.documents()}
    holding = {key for _, texts in parts for key in texts.holding(phrase)}
    missing = {key: row for row in rows if (key := key_of_version(row)) is not None and key not in known}
    return _Page(rows, missing, holding, parts[-1][0] if parts else None)
