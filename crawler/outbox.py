"""Messages on their way to another process, sent by a thread so that the sender does not wait for the receiver.

A pipe holds a few pages only; without room between them, the side that fetches and the side that stores would take
turns instead of working at the same time.
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from queue import Queue
from threading import Thread

_AHEAD = 32


class Outbox:
    """A line of messages to a connection; `broken` tells that the other end is gone.

    Bytes go as they are, other messages as `Connection.send` would send them.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._line: Queue[object] = Queue(_AHEAD)
        self.broken = False
        self._thread = Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def put(self, message: object) -> None:
        """Add a message; waits only if many are on their way."""
        self._line.put(message)

    def close(self) -> None:
        """Wait until everything is sent, or cannot be."""
        self._line.put(self)
        self._thread.join()

    def _send_all(self) -> None:
        while (message := self._line.get()) is not self:
            if not self.broken:
                try:
                    if isinstance(message, bytes):
                        self._connection.send_bytes(message)
                    else:
                        self._connection.send(message)
                except OSError:
                    self.broken = True
