"""The filters of a crawl in their order; one that fails or hangs is reported, and the file stays."""

from __future__ import annotations

import signal
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webarc.filters.alarm import Alarm
from webarc.filters.catalog import find
from webarc.filters.plugin import Keep, keep_all

TIME_LIMIT = 10.0
_KEPT = ("it was kept", "those files were kept")
_REWRITTEN = ("it was kept as it was fetched", "those files were kept as they were fetched")
_DROPPED = ("it counts as dropped", "those files count as dropped")


@dataclass(slots=True)
class _Problem:
    """One way in which a filter failed: the first case of it, how often, and what became of one file or of several."""

    sentence: str
    outcomes: tuple[str, str]
    count: int = 0

    def __str__(self) -> str:
        one, several = self.outcomes
        return f"{self.sentence} ({self.count} files); {several}." if self.count > 1 else f"{self.sentence}; {one}."


class Chain:
    """Asks each filter in turn whether a file stays."""

    def __init__(self, filters: Sequence[tuple[str, Keep]], time_limit: float = TIME_LIMIT) -> None:
        self._filters = list(filters)
        self._time_limit = time_limit
        self._alarm = Alarm(time_limit)
        self._problems: dict[tuple[str, str], _Problem] = {}

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
    def asks(self) -> bool:
        """Whether any filter is asked at all, and so may do something to the files."""
        return any(keep is not keep_all for _, keep in self._filters)

    def blame(self, path: Path | str) -> None:
        """A file is not what it was before the filters were asked."""
        self._report(" or ".join(self.names), "change", f"changed {path}, which it may only look at", _REWRITTEN)

    @property
    def problems(self) -> list[str]:
        """One sentence for each way in which a filter failed, with how often."""
        return [str(problem) for problem in self._problems.values()]

    def verdict(self, path: Path | str) -> str | None:
        """The name of the filter that drops this file, or that took it away itself; None if it stays."""
        for name, keep in self._filters:
            # Asking costs 10 µs, and the usual filter has nothing to ask.
            if keep is keep_all:
                continue
            path = Path(path)
            if not (self._stays(name, keep, path) and self._is_there(name, path)):
                return name
        return None

    def _stays(self, name: str, keep: Keep, path: Path) -> bool:
        answer: Any = None
        failure: BaseException | None = None
        try:
            answer = self._alarm.ask(keep, path)
        except BaseException as error:  # a filter may fail in any way, sys.exit() among them
            if _is_ctrl_c(error):
                raise
            failure = error
        if self._alarm.late:
            self._report(name, "time", f"took longer than {self._time_limit:g} s for {path}")
        elif failure is not None:
            self._report(name, type(failure).__name__, f"failed ({_told(failure)}) for {path}")
        elif not isinstance(answer, bool):
            kind = type(answer).__name__
            self._report(name, f"answer {kind}", f"answered {kind} instead of true or false for {path}")
        else:
            return answer
        return True

    def _is_there(self, name: str, path: Path) -> bool:
        """Whether the filter left the file where it was; a link in its place would bring in what nobody fetched."""
        try:
            there = stat.S_ISREG(path.lstat().st_mode)
        except OSError:
            there = False
        if not there:
            self._report(name, "away", f"took {path} away instead of answering false", _DROPPED)
        return there

    def _report(self, name: str, kind: str, what: str, outcomes: tuple[str, str] = _KEPT) -> None:
        problem = self._problems.setdefault((name, kind), _Problem(f"the filter {name!r} {what}", outcomes))
        problem.count += 1


def _is_ctrl_c(error: BaseException) -> bool:
    """Whether the user, not the filter, may have stopped the work; a crawl's own processes are deaf to Ctrl-C."""
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _told(error: BaseException) -> str:
    """The error on one short line; even asking it for its text may fail."""
    kind = type(error).__name__
    try:
        return " ".join(f"{kind}: {error}".split())[:200]
    except Exception:  # noqa: BLE001
        return kind
