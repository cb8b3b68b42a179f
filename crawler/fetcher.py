"""The one way to the network: requests in, answers out, as many at a time as the limits allow.

A bad server never makes it raise: whatever happens is an Answer with an error class. Redirects are answers like any
other, so that every hop passes scope, robots and address checks of its own.
"""

from __future__ import annotations

import heapq
import itertools
import re
import ssl
import time
from collections import deque
from pathlib import Path
from select import select
from types import TracebackType
from typing import Any, Self

import certifi
import pycurl

from webarc.archive.times import now
from webarc.archive.urls import canonical
from webarc.crawler.addresses import AddressPolicy, hostname, refusal, refused_host
from webarc.crawler.authentication import Authentication
from webarc.crawler.cookies import CookieJar
from webarc.crawler.exchange import ERRORS, Answer, Request
from webarc.crawler.headers import RequestHeaders
from webarc.crawler.limits import FetchLimits, FetchOptions
from webarc.crawler.throttle import LARGEST_BUFFER, Throttle
from webarc.crawler.transfer import Transfer
from webarc.errors import BadURL, UsageProblem

__all__ = ["ERRORS", "Answer", "FetchLimits", "FetchOptions", "Fetcher", "Request"]

_PROXY = re.compile(r"(https?|socks4a?|socks5h?)://[^\s]+")
_LOOK_FOR_SILENCE = 0.25
_MOST_HOSTS = 10_000
_UNAUTHORIZED = 401
# libcurl has no socket to watch for a while, as when a name is being looked up.
_NOTHING_TO_WATCH = 0.002


class Fetcher:
    """Fetches over reused connections; not for use by several threads."""

    def __init__(
        self,
        limits: FetchLimits | None = None,
        options: FetchOptions | None = None,
        policy: AddressPolicy | None = None,
    ) -> None:
        self._limits = limits or FetchLimits()
        self._options = options or FetchOptions()
        self._policy = policy or AddressPolicy()
        if self._options.proxy and not _PROXY.fullmatch(self._options.proxy):
            raise UsageProblem("The proxy is no http, https or socks URL; write it like 'socks5h://localhost:1080'.")
        self._headers = RequestHeaders(self._options)
        self._authentication = Authentication(self._headers, self._options.credentials)
        self._ca_file = str(self._options.ca_file or _authorities())
        self._throttle = Throttle(self._limits.rate) if self._limits.rate else None
        self._cookies = CookieJar(self._options.cookie_file)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, self._limits.parallel + 8)
        self._idle: list[Transfer] = []
        self._running: dict[Any, Transfer] = {}
        self._line: deque[tuple[Request, str]] = deque()
        self._later: list[tuple[float, int, Request, str]] = []
        self._order = itertools.count()
        self._done: list[Answer] = []
        self._active = 0
        self._looked = 0.0
        self._hosts: dict[str, bool] = {}
        self._watched: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def active(self) -> int:
        """Requests whose answers have not been collected yet."""
        return self._active

    @property
    def problems(self) -> list[str]:
        """What the user should know, each in a sentence."""
        return self._authentication.problems

    def watch(self, descriptor: int) -> None:
        """End waiting for answers early when there is something to read here."""
        self._watched = descriptor

    def submit(self, request: Request) -> None:
        """Ask for a URL; its answer comes out of collect()."""
        self._active += 1
        try:
            url = request.url if request.canonical else canonical(request.url)
        except BadURL as error:
            self._done.append(_unasked(request, request.url, "scheme", str(error)))
            return
        host = hostname(url)
        if self._refuses(host):
            self._done.append(_unasked(request, url, "address-refused", refusal(host)))
        elif request.not_before > time.monotonic():
            heapq.heappush(self._later, (request.not_before, next(self._order), request, url))
        else:
            self._line.append((request, url))

    def cookies(self, url: str) -> int:
        """A number that is another one once cookies that a URL's host may get have changed."""
        return self._cookies.state(hostname(url)) if self._cookies else 0

    def collect(self, timeout: float) -> list[Answer]:
        """The answers that are there, waiting at most `timeout` seconds for the first one."""
        until = time.monotonic() + timeout
        while True:
            self._start()
            self._perform()
            if self._done or not self._active:
                break
            if self._line and len(self._running) < self._limits.parallel:
                continue  # something is asked again
            left = until - time.monotonic()
            if left <= 0 or self._wait(left):
                break
        answers, self._done = self._done, []
        self._active -= len(answers)
        return answers

    def close(self) -> None:
        """Drop what is under way and all connections."""
        for curl, transfer in self._running.items():
            self._multi.remove_handle(curl)
            transfer.body.discard()
            curl.close()
        for transfer in self._idle:
            transfer.curl.close()
        self._running.clear()
        self._idle.clear()
        self._line.clear()
        self._later.clear()
        self._multi.close()
        self._cookies.close()

    def _refuses(self, host: str) -> bool:
        known = self._hosts.get(host)
        if known is None:
            if len(self._hosts) > _MOST_HOSTS:
                self._hosts.clear()
            known = self._hosts[host] = refused_host(host, self._policy)
        return known

    # -- the loop ---------------------------------------------------------------------------------------------

    def _start(self) -> None:
        moment = time.monotonic()
        while self._later and self._later[0][0] <= moment:
            _, _, request, url = heapq.heappop(self._later)
            self._line.append((request, url))
        while self._line and len(self._running) < self._limits.parallel:
            request, url = self._line.popleft()
            transfer = self._idle.pop() if self._idle else self._new_transfer()
            lines, cookie = self._headers.lines(url, request.headers), self._headers.cookie(url)
            transfer.way = self._authentication.way(url) if self._authentication else ""
            login = self._authentication.login(url) if transfer.way == "digest" else None
            transfer.begin(request, url, lines, cookie, login)
            self._running[transfer.curl] = transfer
            self._multi.add_handle(transfer.curl)

    def _perform(self) -> None:
        if self._throttle is not None:
            self._resume(self._throttle)
        self._multi.perform()
        _, good, bad = self._multi.info_read()
        for curl in good:
            self._finish(curl, 0, "")
        for curl, code, message in bad:
            self._finish(curl, code, message)
        moment = time.monotonic()
        if moment - self._looked > _LOOK_FOR_SILENCE:
            self._looked = moment
            for transfer in [transfer for transfer in self._running.values() if transfer.silent(moment)]:
                self._finish(transfer.curl, pycurl.E_OPERATION_TIMEDOUT, "the server has fallen silent")

    def _finish(self, curl: Any, code: int, message: str) -> None:
        transfer = self._running.pop(curl)
        self._multi.remove_handle(curl)
        answer = transfer.answer(code, message)
        if "set-cookie" in answer.fields:
            values = (value for name, value in answer.headers if name.lower() == "set-cookie")
            self._cookies.count(curl, answer.url, values)
        if self._authentication and self._is_asked_again(transfer, answer):
            self._line.appendleft((transfer.request, transfer.url))
        else:
            self._done.append(answer)
        if transfer.way == "digest" and answer.status == _UNAUTHORIZED:
            curl.close()  # it would go on with what the server has just refused
        else:
            self._idle.append(transfer)

    def _is_asked_again(self, transfer: Transfer, answer: Answer) -> bool:
        """Whether an answer is a demand for user name and password that asking again may meet."""
        if transfer.way == "digest":
            # A server that forgets its nonces refuses the next request that is made with one of them.
            stale = transfer.has_nonce and answer.status == _UNAUTHORIZED
            transfer.has_nonce = True
            return stale
        return self._authentication.is_wanted(answer, transfer.way)

    def _resume(self, throttle: Throttle) -> None:
        for transfer in self._running.values():
            if transfer.paused and throttle.wait() == 0:
                transfer.resume()

    def _wait(self, left: float) -> bool:
        """Wait for something to happen; returns whether it happened at what is watched besides."""
        pause = min(left, _LOOK_FOR_SILENCE)
        if self._later:
            pause = min(pause, max(0.0, self._later[0][0] - time.monotonic()))
        if self._throttle is not None:
            pause = min(pause, self._throttle.wait() or pause)
        due = self._multi.timeout()
        if due >= 0:
            pause = min(pause, due / 1000)
        also = [] if self._watched is None else [self._watched]
        reading, writing, failing = self._multi.fdset() if self._running else ([], [], [])
        if self._running and not (reading or writing or failing):
            pause = min(pause, _NOTHING_TO_WATCH)
        ready, _, _ = select([*reading, *also], writing, failing, pause)
        return self._watched in ready

    # -- handles ----------------------------------------------------------------------------------------------

    def _new_transfer(self) -> Transfer:
        curl = pycurl.Curl()
        limits = self._limits
        for option, value in (
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.NETRC, pycurl.NETRC_IGNORED),
            (pycurl.HTTP_CONTENT_DECODING, 0),
            (pycurl.CONNECTTIMEOUT_MS, max(1, int(limits.timeout * 1000))),
            (pycurl.TIMEOUT_MS, max(1, int(limits.deadline * 1000))),
            (pycurl.BUFFERSIZE, self._throttle.buffer if self._throttle else LARGEST_BUFFER),
            (pycurl.SSL_VERIFYPEER, 1),
            (pycurl.SSL_VERIFYHOST, 2),
            (pycurl.CAINFO, self._ca_file),
            # An empty text, unlike no option at all, also keeps proxies from the environment out.
            (pycurl.PROXY, self._options.proxy or ""),
            (pycurl.NOPROXY, ""),
        ):
            curl.setopt(option, value)
        self._cookies.join(curl)
        # Through a proxy the socket leads to the proxy, which the user has named.
        return Transfer(curl, limits, None if self._options.proxy else self._policy, self._throttle)


def _authorities() -> Path:
    """The machine's certificate authorities, which its owner may have added to; else the bundled ones."""
    own = ssl.get_default_verify_paths().cafile
    return Path(own or certifi.where())


def _unasked(request: Request, url: str, error: str, detail: str) -> Answer:
    return Answer(request, url, 0, "", [], {}, None, 0, "", error, detail, 0.0, now(), "", None, False)
