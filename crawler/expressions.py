"""What regular expressions for hostile text are made of: repeats that neither go back nor pile up."""

from __future__ import annotations

_AT_ONCE = 500


def many(item: str, name: str) -> str:
    """Any number of an item; `name` is for a group of its own. What follows must not begin as an item does.

    `(?:item)*+` says the same, but Python before 3.11.5 matches possessive repeats of groups wrongly, and `(?:item)*`
    remembers the way back for each item, some hundred bytes long. What a look-ahead has found has no way back.
    """
    return rf"(?:(?=(?P<{name}>(?:{item}){{1,{_AT_ONCE}}}))(?-i:(?P={name})))*"
