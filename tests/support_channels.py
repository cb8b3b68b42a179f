"""The other end of a channel, played by a test: it says what it likes, in pieces, when it likes."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from webarc.crawler.channel import Channel
from webarc.crawler.companion import Companion, Failed
from webarc.errors import WebarcError


class Played:
    """A process at the other end of a line that is none."""

    HEAD = struct.Struct("!IIBH")

    def __init__(self, types: Sequence[type]) -> None:
        ours, theirs = socket.socketpair()
        self.companion = cast("Companion", _Ours(Channel(ours, (*types, Failed))))
        self.channel = Channel(theirs, (*types, Failed))
        self._pipe_in, self._pipe_out = theirs, Channel(socket.socketpair()[0], (*types, Failed))
        self._waiting = bytearray()

    def messages(self) -> list[Any]:
        """What has come from our side."""
        return self.channel.receive()

    def say(self, message: object) -> None:
        """Prepare a message."""
        self._pipe_out.send(message)
        self._pipe_out._finish()
        self._waiting += self._pipe_out._unsent
        self._pipe_out._unsent.clear()

    def write(self, most: int | None) -> None:
        """Let at most so many bytes of what was prepared through."""
        piece = bytes(self._waiting[:most])
        del self._waiting[: len(piece)]
        self._pipe_in.setblocking(True)
        self._pipe_in.sendall(piece)
        self._pipe_in.setblocking(False)

    @staticmethod
    def later(seconds: float) -> Callable[[], bool]:
        """Says when so many seconds have passed."""
        until = time.monotonic() + seconds
        return lambda: time.monotonic() > until


class _Ours:
    """What a line needs of a companion, without a process."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def fileno(self) -> int:
        return self.channel.fileno()

    def heard(self) -> list[Any]:
        messages = Companion.heard(cast("Companion", self))
        assert all(not isinstance(message, Failed) for message in messages)
        return messages

    _name = "the process played by the test"


__all__ = ["Played", "WebarcError"]
