"""The hosts of a crawl: what waits for each, and what its robots.txt says."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from webarc.crawler.frontier import Item
from webarc.crawler.robots import Robots


@dataclass(slots=True)
class Host:
    """One host and port: a queue of URLs to ask for, held back until its robots.txt is known."""

    name: str
    ready: deque[Item] = field(default_factory=deque)
    robots: Robots | None = None
    asking: bool = False
    unusable: str = ""
    """Why nothing may be asked of it: its robots.txt could not be had, and so nothing is allowed."""


class Hosts:
    """All hosts of a crawl, by name."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self.ready = 0

    def get(self, name: str) -> Host:
        """The host of that name, known from now on."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(name)
        return host

    def push(self, name: str, item: Item) -> None:
        """Let a URL wait for its host."""
        self.get(name).ready.append(item)
        self.ready += 1

    def pop(self, host: Host) -> Item:
        """The next URL of a host."""
        self.ready -= 1
        return host.ready.popleft()

    def busy(self) -> list[Host]:
        """Hosts for which something waits."""
        return [host for host in self._hosts.values() if host.ready]
