"""Regular expressions that users write, with a limit on the time each may take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from webarc.errors import UsageProblem

_LONGEST_SEARCH = 0.1
_MOST_TIME_OUTS = 20


class Patterns:
    """Some expressions, asked together whether one of them is found in a text."""

    def __init__(self, expressions: Iterable[str], limit: float = _LONGEST_SEARCH) -> None:
        self._patterns = [_compiled(expression) for expression in expressions]
        self._limit = limit
        self._time_outs: dict[str, int] = {}
        self.problems: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def found_in(self, text: str) -> bool:
        """Whether an expression matches somewhere in the text; one that takes too long does not."""
        return any(self._found(pattern, text) for pattern in tuple(self._patterns))

    def _found(self, pattern: Any, text: str) -> bool:
        try:
            return pattern.search(text, timeout=self._limit) is not None
        except TimeoutError:
            self._remember(pattern)
            return False

    def _remember(self, pattern: Any) -> None:
        count = self._time_outs[pattern.pattern] = self._time_outs.get(pattern.pattern, 0) + 1
        if count == 1:
            self.problems.append(
                f"the expression {pattern.pattern!r} takes too long and then counts as not found; write it more simply."
            )
        if count >= _MOST_TIME_OUTS:
            self._patterns.remove(pattern)
            self.problems.append(
                f"the expression {pattern.pattern!r} took too long {count} times; it is not tried again."
            )


def _compiled(expression: str) -> Any:
    import regex  # takes long to load, and most crawls have no expressions

    try:
        return regex.compile(expression)
    except (regex.error, OverflowError, RecursionError) as problem:
        raise UsageProblem(f"{expression!r} is not a regular expression ({problem}); correct it.") from None
