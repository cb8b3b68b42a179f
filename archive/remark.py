"""What is good to know though nothing is wrong: it goes where warnings go, and is told apart at the end."""

from __future__ import annotations


class Remark(str):
    """A sentence that is no warning."""

    __slots__ = ()
