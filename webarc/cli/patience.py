"""A word now and then for somebody who waits."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webarc.cli.context import Context

_EVERY = 2.0


class Patience:
    """Says on standard error what is being done, if it has taken a while since the last time."""

    def __init__(self, context: Context) -> None:
        self._context, self._said = context, monotonic()

    def __call__(self, text: str) -> None:
        """Say it, if it is time to."""
        if monotonic() - self._said >= _EVERY:
            self._said = monotonic()
            self._context.note(text)
