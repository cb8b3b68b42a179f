"""The same changes so that people can read them: whole lines where it was lines, passages where it was passages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webarc.diff.wording import Words

# More words in common than this are never shown as changed.
_LONGEST_COINCIDENCE = 8
# No change is moved over more words than this.
_FURTHEST = 100


class Run(NamedTuple):
    """Words a..a_end of the old text that became b..b_end of the new one, or are the same in both."""

    same: bool
    a: int
    a_end: int
    b: int
    b_end: int


def readable(runs: Iterable[Run], old: Words, new: Words) -> list[Run]:
    """The runs with changes at the beginnings of lines where they can be, and without words in common by chance."""
    return _without_coincidences(_at_line_starts(list(runs), old, new), old, new)


def _at_line_starts(runs: list[Run], old: Words, new: Words) -> list[Run]:
    """Move what was only removed or only added back to the beginning of its line, if the text stays the same.

    Of "line 3, line 4" the words "3, line" are removed as well as "line 3,", and the latter is what happened.
    """
    for place in range(1, len(runs) - 1):
        before, change, after = runs[place - 1 : place + 2]
        if not change.same and (change.a == change.a_end) != (change.b == change.b_end):
            steps = _steps_back(change, before, old if change.a < change.a_end else new)
            runs[place - 1] = before._replace(a_end=before.a_end - steps, b_end=before.b_end - steps)
            runs[place] = Run(False, *(end - steps for end in change[1:]))
            runs[place + 1] = after._replace(a=after.a - steps, b=after.b - steps)
    return runs


def _steps_back(change: Run, before: Run, text: Words) -> int:
    """How far back the words of a change can be moved to begin a line; 0 if they do or cannot."""
    start, end = (change.a, change.a_end) if change.a < change.a_end else (change.b, change.b_end)
    for steps in range(min(before.a_end - before.a, _FURTHEST)):
        if "\n" in text.gap(start - steps):
            return steps
        if text.words[start - steps - 1] != text.words[end - steps - 1]:
            return 0
    return 0


def _without_coincidences(runs: list[Run], old: Words, new: Words) -> list[Run]:
    """Join two changes when what they have between them is shorter than both: a rewritten passage is one change."""
    found: list[Run] = []
    for run in runs:
        found.append(run)
        while len(found) > 2 and not run.same and _coincide(found[-3], found[-2], found[-1], old, new):
            first, _, last = found[-3:]
            found[-3:] = [Run(False, first.a, last.a_end, first.b, last.b_end)]
    return found


def _coincide(before: Run, same: Run, after: Run, old: Words, new: Words) -> bool:
    if same.a_end - same.a > _LONGEST_COINCIDENCE:
        return False
    length = len(new.text(same.b, same.b_end))
    return _is_longer(before, length, old, new) and _is_longer(after, length, old, new)


def _is_longer(change: Run, length: int, old: Words, new: Words) -> bool:
    """Whether changed words are longer than a length, on the side that has more of them."""
    _, a, a_end, b, b_end = change
    # A word has a letter at least; so no more are looked at than it takes to know.
    if a_end - a > length or b_end - b > length:
        return True
    return len(old.text(a, a_end)) > length or len(new.text(b, b_end)) > length
