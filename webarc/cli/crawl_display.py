"""Shows a running crawl, without ever holding it up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from webarc.cli.background import Background

if TYPE_CHECKING:
    from webarc.cli.crawl_view import View
    from webarc.crawler.job import Job, Progress, Result

_MUCH = 200


class Display:
    """Passes on to a view what it is to show. Progress that comes too fast to be shown is left out, nothing else is."""

    def __init__(self, view: View, patience: Callable[[], float], *, shown: bool = True) -> None:
        """One that is not shown only collects the results."""
        self._view = view
        self._printer = Background(patience, view) if shown else None
        self.results: list[Result] = []

    def __enter__(self) -> Self:
        if self._printer is not None:
            self._printer.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Wait until all is shown: the crawl is over, so only the reader of our output can be waited for."""
        if self._printer is not None:
            self._printer.__exit__(*error)

    @property
    def is_stuck(self) -> bool:
        """After the end: whether nobody reads what is still to be shown."""
        return self._printer is not None and self._printer.is_busy

    def give_up(self) -> None:
        """Do not wait for whoever reads our output; safe in a signal handler."""
        if self._printer is not None:
            self._printer.give_up()

    def started(self, job: Job) -> None:
        """An instance has begun."""
        self._show(self._view.started, job)

    def moved(self, progress: Progress) -> None:
        """An instance reports where it stands."""
        if self._printer is not None and self._printer.waiting < _MUCH:
            self._show(self._view.moved, progress)

    def ended(self, result: Result) -> None:
        """An instance has ended."""
        self.results.append(result)
        self._show(self._view.ended, result)

    def say(self, text: str) -> None:
        """A remark for people."""
        self._show(self._view.say, text)

    def warn(self, text: str) -> None:
        """Something that is not as it should be."""
        self._show(self._view.context.warn, text)

    def _show(self, show: Callable[[Any], None], value: object) -> None:
        if self._printer is not None:
            self._printer.call(show, value)
