"""The filters of a crawl in their order; one that fails or hangs is reported, and the file stays."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from webarc.filters.catalog import find
from webarc.filters.plugin import Keep, keep_all

TIME_LIMIT = 10.0


class _TimeUp(BaseException):
    """The time limit; not an Exception, so that a filter's own `except Exception` does not swallow it."""


class Chain:
    """Asks each filter in turn whether a file stays."""

    def __init__(self, filters: Sequence[tuple[str, Keep]], time_limit: float = TIME_LIMIT) -> None:
        self._filters = list(filters)
        self._time_limit = time_limit
        self._problems: dict[tuple[str, str], tuple[str, int]] = {}
        self._asking = False

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        settings_dir: Path | None = None,
        modules: Mapping[str, str] | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> Chain:
        """The named filters, made with their settings; raises UnknownFilter or ConfigProblem."""
        return cls([(name, find(name, modules or {}).make(settings_dir)) for name in names], time_limit)

    @property
    def names(self) -> list[str]:
        """The filters in their order."""
        return [name for name, _ in self._filters]

    @property
    def problems(self) -> list[str]:
        """One sentence for each way in which a filter failed, with how often."""
        return [
            f"{sentence} ({count} files); those files were kept." if count > 1 else f"{sentence}; it was kept."
            for sentence, count in self._problems.values()
        ]

    def verdict(self, path: Path) -> str | None:
        """The name of the filter that drops this file, or None if it stays."""
        for name, keep in self._filters:
            # Asking costs 10 µs, and the usual filter has nothing to ask.
            if keep is not keep_all and not self._stays(name, keep, path):
                return name
        return None

    def _stays(self, name: str, keep: Keep, path: Path) -> bool:
        try:
            answer: Any = self._asked(keep, path)
        except _TimeUp:
            # Again, in case it rang when the filter had just answered and the alarm was about to be taken back.
            self._asking = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            return self._report(name, "time", f"took longer than {self._time_limit:g} s for {path}")
        except Exception as error:  # noqa: BLE001  a filter may fail in any way, and its file is kept
            detail = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            return self._report(name, type(error).__name__, f"failed ({detail}) for {path}")
        if not isinstance(answer, bool):
            kind = type(answer).__name__
            return self._report(name, f"answer {kind}", f"answered {kind} instead of true or false for {path}")
        return answer

    def _report(self, name: str, kind: str, what: str) -> bool:
        sentence, count = self._problems.get((name, kind), (f"the filter {name!r} {what}", 0))
        self._problems[name, kind] = (sentence, count + 1)
        return True

    def _asked(self, keep: Keep, path: Path) -> Any:
        """The filter's answer within the time limit; that needs the main thread, since only it gets signals."""
        if threading.current_thread() is not threading.main_thread():
            return keep(path)
        handler = signal.signal(signal.SIGALRM, self._ring)
        # It rings again and again, for filters that catch everything. Whose alarm was set before gets it back.
        before = signal.setitimer(signal.ITIMER_REAL, self._time_limit, max(self._time_limit, 0.1))
        self._asking = True
        try:
            return keep(path)
        finally:
            self._asking = False
            signal.setitimer(signal.ITIMER_REAL, *before)
            signal.signal(signal.SIGALRM, handler)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._asking:
            raise _TimeUp
