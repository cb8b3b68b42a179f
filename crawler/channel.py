"""A line between two processes of a crawl: numbered, typed messages, and an end that never waits in order to send.

The protocol, for every channel:

- A message is an instance of one of the types that both ends were given, in the same order. A NamedTuple may hold plain
  values only, and several of one type that are sent one after the other travel together; anything else is pickled.
- Every message carries the number of messages that its sender sent before it. A number that is not the next one means
  that a message was lost or repeated: that ends the crawl.
- `send` puts a message into a buffer and returns. `push` writes what the pipe takes, `flush` waits for the
  rest. The side that drives the crawl only pushes, so two full pipes never make both sides wait for each other. How
  much may lie in the buffer is bounded by the protocol on top, which stops asking before it gets too much.
- When the other process ends, `receive` raises Gone after the last message.
"""

from __future__ import annotations

import marshal
import pickle
import select
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from webarc.errors import WebarcError

# How long what follows is, the number of its first message, their type, how many there are.
_HEAD = struct.Struct("!IIBH")
_MOST_TOGETHER = 64
_ROUGHLY = 256
_CHUNK = 1 << 18
_FOREVER = -1


class Gone(Exception):
    """The process at the other end has ended, or has closed its end."""


class Disordered(WebarcError):
    """A message is not the one that was due."""


class Channel:
    """One end."""

    def __init__(self, end: socket.socket, types: Sequence[type]) -> None:
        end.setblocking(False)
        self._end = end
        self._types = tuple(types)
        self._kinds = {kind: number for number, kind in enumerate(self._types)}
        self._plain = [issubclass(kind, tuple) for kind in self._types]
        self._together: list[tuple[object, ...]] = []
        self._kind = 0
        self._unsent = bytearray()
        self._unread = bytearray()
        self._sent = self._received = 0

    def fileno(self) -> int:
        """The descriptor that becomes readable when there are messages."""
        return self._end.fileno()

    @property
    def held(self) -> int:
        """About how many bytes wait to be written."""
        return len(self._unsent) + _ROUGHLY * len(self._together)

    def send(self, message: object) -> None:
        """Add a message to what is to be written."""
        kind = self._kinds[type(message)]
        if self._together and (kind != self._kind or len(self._together) >= _MOST_TOGETHER):
            self._finish()
        if self._plain[kind]:
            self._kind = kind
            self._together.append(tuple(message))  # type: ignore[arg-type]
        else:
            self._frame(kind, 1, pickle.dumps(message))

    def push(self) -> None:
        """Write what the other side takes now."""
        self._finish()
        while self._unsent:
            try:
                written = self._end.send(memoryview(self._unsent)[:_CHUNK])
            except BlockingIOError:
                return
            except OSError:
                self._unsent.clear()  # why it ended is in what it said last
                return
            del self._unsent[:written]

    def flush(self) -> None:
        """Write everything; for the side that may wait for the other one."""
        self.push()
        poll = select.poll()
        poll.register(self._end, select.POLLOUT)
        while self._unsent:
            poll.poll()
            self.push()

    def wait(self, seconds: float | None) -> bool:
        """Wait until there is something to receive, writing what is held meanwhile; None waits for ever."""
        self.push()
        poll = select.poll()
        poll.register(self._end, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        events = poll.poll(_FOREVER if seconds is None else seconds * 1000)
        return any(event & ~select.POLLOUT for _, event in events)

    def receive(self) -> list[Any]:
        """The messages that have come; raises Gone when there are none and will be none."""
        open_still = self._read()
        messages = self._messages()
        if not messages and not open_still:
            raise Gone
        return messages

    def close(self) -> None:
        """Let go of this end; the other side is then told so."""
        with suppress(OSError):
            self._end.close()

    def _finish(self) -> None:
        if self._together:
            self._frame(self._kind, len(self._together), marshal.dumps(self._together))
            self._together = []

    def _frame(self, kind: int, count: int, content: bytes) -> None:
        self._unsent += _HEAD.pack(len(content), self._sent, kind, count)
        self._unsent += content
        self._sent += count

    def _read(self) -> bool:
        """Take in what is there; False once nothing can come any more."""
        while True:
            try:
                piece = self._end.recv(_CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not piece:
                return False
            self._unread += piece
            if len(piece) < _CHUNK:
                return True

    def _messages(self) -> list[Any]:
        found: list[Any] = []
        position, unread = 0, self._unread
        while len(unread) - position >= _HEAD.size:
            length, number, kind, count = _HEAD.unpack_from(unread, position)
            end = position + _HEAD.size + length
            if len(unread) < end:
                break
            messages = self._decoded(self._checked(number, kind), unread[position + _HEAD.size : end])
            if len(messages) != count:
                raise _misunderstood(number, kind, self._received)
            self._received += count
            found += messages
            position = end
        del unread[:position]
        return found

    def _checked(self, number: int, kind: int) -> int:
        if number != self._received or kind >= len(self._types):
            raise _misunderstood(number, kind, self._received)
        return kind

    def _decoded(self, kind: int, content: bytearray) -> list[Any]:
        if self._plain[kind]:
            return list(map(self._types[kind]._make, marshal.loads(content)))  # type: ignore[attr-defined]  # noqa: S302
        return [pickle.loads(content)]  # noqa: S301 - both are written by our own other half


def _misunderstood(number: int, kind: int, due: int) -> Disordered:
    return Disordered(
        f"two processes of the crawl do not understand each other (message {number} of kind {kind} came, "
        f"{due} was due); nothing more is committed, please report this."
    )


def pair(types: Sequence[type]) -> tuple[Channel, socket.socket]:
    """Our end of a new line, and the socket that becomes the other end."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return Channel(ours, types), theirs
