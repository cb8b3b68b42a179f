"""A command line that is still being typed: its words, and how the last one has to go on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_SAFE = re.compile(r"[A-Za-z0-9_./:=@%+,-]")
_REDIRECTION = re.compile(r"&>>?|>>|>[|&?]?|<<<|<<-?|<[>&]?")
# A number or name before a redirection says what is redirected.
_HANDLE = re.compile(r"\d+|\{\w+\}", re.ASCII)
_IN_DOUBLE_QUOTES = re.compile(r'(["\\$`])')


@dataclass(slots=True)
class TypedLine:
    """The words before the last one, the last one as it is meant, as it is typed, and the quote it stands in.

    Redirections are none of the words. If the last word is where one goes to or comes from, `redirection` is its sign.
    """

    words: list[str] = field(default_factory=list)
    last: str = ""
    typed: str = ""
    quote: str = ""
    redirection: str = ""

    def __init__(self, line: str) -> None:
        self.words, self.last, self.typed, self.quote, self.redirection = [], "", "", "", ""
        place = 0
        while place < len(line):
            sign = None if self.quote else _REDIRECTION.match(line, place)
            place += self._redirect(sign[0]) if sign else self._read(line[place : place + 2])

    def _read(self, ahead: str) -> int:
        """Take one character, or two if the first escapes the second."""
        char = ahead[0]
        if not self.quote and char in " \t\n":
            self._end_word()
            return 1
        escaped = char == "\\" and self.quote != "'" and (not self.quote or ahead[1:] in ("", *'"\\$`'))
        taken = ahead if escaped else char
        self.typed += taken
        if escaped:
            self.last += taken[1:]
        elif char == self.quote:
            self.quote = ""
        elif not self.quote and char in "'\"":
            self.quote = char
        else:
            self.last += char
        return len(taken)

    def _redirect(self, sign: str) -> int:
        """Take the sign of a redirection."""
        if _HANDLE.fullmatch(self.typed):
            self.last = self.typed = ""
        self._end_word()
        self.redirection = sign
        return len(sign)

    def _end_word(self) -> None:
        if self.typed and not self.redirection:
            self.words.append(self.last)
        self.redirection = "" if self.typed else self.redirection
        self.last = self.typed = ""

    def continued(self, text: str, breaks: str) -> str | None:
        """A new last word as bash wants it: quoted as the old one, from behind the last character that parts words."""
        if not self.quote:
            return _escaped(text)[self._broken_at(breaks) :] if not set(self.typed) & {"'", '"'} else None
        if self.typed.count(self.quote) != 1 or self.typed[0] != self.quote or (self.quote == "'" and "'" in text):
            return None
        return _IN_DOUBLE_QUOTES.sub(r"\\\1", text) if self.quote == '"' else text

    def _broken_at(self, breaks: str) -> int:
        """How long the part of the new word is that readline does not replace."""
        plain = self.last
        return max((len(_escaped(plain[: at + 1])) for at, char in enumerate(plain) if char in breaks), default=0)


def _escaped(text: str) -> str:
    return "".join(char if _SAFE.fullmatch(char) or not char.isascii() else f"\\{char}" for char in text)
