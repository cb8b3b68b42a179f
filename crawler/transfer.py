"""One curl handle and the exchange it is busy with: the head line by line, the body piece by piece, the outcome."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import pycurl

from webarc.archive.failures import storage_problem
from webarc.archive.times import CET
from webarc.crawler.addresses import AddressPolicy, allowed, hostname, refusal
from webarc.crawler.body import Body
from webarc.crawler.decoding import BadEncoding, TooLarge
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.failures import error_class
from webarc.crawler.limits import FetchLimits
from webarc.crawler.retry import retry_after
from webarc.crawler.throttle import Throttle

# These never reached the server, or not for sure: a status seen on the way was a proxy's.
_NO_ANSWER = frozenset(("dns", "refused", "tls", "connection", "address-refused"))
_ABORT = 0
Login = tuple[str, str]


class Transfer:
    """A reusable handle; begin() arms it for a request, answer() reads off what came of it."""

    def __init__(self, curl: Any, limits: FetchLimits, policy: AddressPolicy | None, throttle: Throttle | None) -> None:
        self.curl = curl
        self._limits = limits
        self._most_bytes, self._most_lines = limits.max_header_bytes, limits.max_headers + 1
        self._policy = policy
        self._throttle = throttle
        self._lines_set: list[bytes] | None = None
        self._cookie_set = b""
        self._login_set: tuple[str, str] | None = None
        self.way = ""
        """How user name and password go with the request."""
        self.has_nonce = False
        """Whether the handle was used for Digest before and begins with what it knows from then."""
        self._method = "GET"
        curl.setopt(pycurl.HEADERFUNCTION, self._header)
        curl.setopt(pycurl.WRITEFUNCTION, self._write)
        if policy is not None:
            curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def begin(
        self, request: Request, url: str, lines: list[bytes], cookie: bytes = b"", login: Login | None = None
    ) -> None:
        """Arm the handle for a canonical URL; `login` is for Digest."""
        self.request = request
        self.url = url
        self.body = Body(request.target, request.keep, self._limits.max_size, request.lazy)
        self.paused = False
        self.problem: OSError | None = None
        self._host = hostname(url) if self._policy else ""
        self._head: list[bytes] = []
        self._head_bytes = 0
        self._in_head = False
        self._head_done = False
        self._status = 0
        self._version = ""
        self._headers: list[tuple[str, str]] = []
        self._fields: dict[str, str] = {}
        self._error = self._detail = ""
        self._blocked = ""
        self._received = 0.0
        self._started = self._touched = time.monotonic()
        self._arm(request.method, lines, cookie)
        if login != self._login_set:
            self._log_in(login)

    def _arm(self, method: str, lines: list[bytes], cookie: bytes) -> None:
        self.curl.setopt(pycurl.URL, self.url)
        if lines is not self._lines_set:
            self.curl.setopt(pycurl.HTTPHEADER, lines)
            self._lines_set = lines
        if cookie != self._cookie_set:
            self.curl.setopt(pycurl.COOKIE, cookie or None)
            self._cookie_set = cookie
        if method != self._method:
            self.curl.setopt(pycurl.NOBODY if method == "HEAD" else pycurl.HTTPGET, 1)
            self._method = method

    def _log_in(self, login: Login | None) -> None:
        for option, value in zip((pycurl.USERNAME, pycurl.PASSWORD), login or (), strict=False):
            self.curl.setopt(option, value.encode())
        if login is None:
            self.curl.unsetopt(pycurl.USERNAME)
            self.curl.unsetopt(pycurl.PASSWORD)
        self.curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_DIGEST if login else pycurl.HTTPAUTH_NONE)
        self._login_set = login

    def silent(self, now: float) -> bool:
        """Whether nothing has come for longer than the time-out; connecting has a time-out of its own."""
        if self.paused or now - self._touched <= self._limits.timeout:
            return False
        ready = self.curl.getinfo(pycurl.PRETRANSFER_TIME)
        if ready:
            self._touched = max(self._touched, self._started + ready)
        return bool(ready) and now - self._touched > self._limits.timeout

    def resume(self) -> None:
        """Go on after a pause for the rate limit."""
        self.paused = False
        self._touched = time.monotonic()
        self.curl.pause(pycurl.PAUSE_CONT)

    # -- what libcurl calls -----------------------------------------------------------------------------------

    def _open_socket(self, purpose: int, address: Any) -> Any:
        assert self._policy is not None
        where = str(address.addr[0]) if address.family in (socket.AF_INET, socket.AF_INET6) else ""
        if not where or not allowed(where, self._policy, self._host):
            self._blocked = where or "not an internet address"
            return pycurl.SOCKET_BAD
        try:
            return socket.socket(address.family, address.socktype, address.protocol)
        except OSError:
            return pycurl.SOCKET_BAD

    def _header(self, line: bytes) -> int | None:
        self._head_bytes += len(line)
        if self._head_bytes > self._most_bytes or len(self._head) > self._most_lines:
            return self._abort("header-too-large", "the head of the answer is larger than the limit")
        if self._in_head:
            if line in (b"\r\n", b"\n"):
                return self._end_head()
            self._head.append(line)
            return None
        # A line after the head is a trailer, unless another head begins (1xx answers, a proxy's tunnel).
        if line.startswith(b"HTTP/") and not self.body.started:
            self._head = [line]
            self._in_head, self._head_done = True, False
            self._touched = time.monotonic()
            self._received = time.time()
        return None

    def _end_head(self) -> int | None:
        self._in_head = False
        first = self._head[0].decode("latin-1").split(None, 2)
        self._version = first[0][5:]
        self._status = int(first[1]) if len(first) > 1 and first[1].isdigit() else 0
        self._headers = _pairs(self._head[1:])
        self._fields = by_name(self._headers)
        self._head_done = self._status >= 200
        if not self._head_done:
            return None
        try:
            self.body.begin(self._status, self._fields.get("content-encoding", ""))
        except BadEncoding as error:
            return self._abort("bad-encoding", str(error))
        if not _sound_length(self._fields.get("content-length", "")):
            return self._abort("bad-response", "the Content-Length is no number")
        return None

    def _write(self, data: bytes) -> int | None:
        if self._throttle is not None and not self._throttle.take(len(data)):
            self.paused = True
            return int(pycurl.WRITEFUNC_PAUSE)
        self._touched = time.monotonic()
        try:
            self.body.feed(data)
        except TooLarge:
            return self._abort("too-large", "the body is larger than the limit")
        except BadEncoding as error:
            return self._abort("bad-encoding", str(error))
        except OSError as error:
            self.problem = error
            return _ABORT
        return None

    def _abort(self, error: str, detail: str) -> int:
        self._error, self._detail = error, detail
        return _ABORT

    # -- the outcome ------------------------------------------------------------------------------------------

    def answer(self, code: int = 0, message: str = "") -> Answer:
        """What came of it, given libcurl's verdict; raises StorageProblem when the body could not be written."""
        content: bytes | None = None
        digest = ""
        error, detail = self._verdict(code, message)
        if not error and self.problem is None:
            try:
                content, digest = self.body.finish()
            except BadEncoding as bad:
                error, detail = "bad-encoding", str(bad)
            except OSError as bad:
                self.problem = bad
        if error or self.problem is not None:
            self.body.discard()
        if self.problem is not None:
            raise storage_problem("writing a fetched file", self.problem)
        if error == "too-large" and self.request.target is None:
            content = self.body.head()
        return self._assemble(error, detail, content, digest)

    def _verdict(self, code: int, message: str) -> tuple[str, str]:
        if self._error:
            return self._error, self._detail
        if code:
            if self._blocked and not self._head_done:
                return "address-refused", refusal(self._blocked)
            number = self.curl.getinfo(pycurl.OS_ERRNO)
            return error_class(
                code, message, head_done=self._head_done, number=number
            ), message or f"libcurl error {code}"
        if self._in_head:
            return "truncated", "the connection was closed in the middle of the head"
        if not self._head_done:
            return "bad-response", "no final answer came"
        return "", ""

    def _assemble(self, error: str, detail: str, content: bytes | None, digest: str) -> Answer:
        reached = error not in _NO_ANSWER
        later = self._fields.get("retry-after", "") if reached else ""
        return Answer(
            request=self.request,
            url=self.url,
            status=self._status if reached else 0,
            http_version=self._version if reached else "",
            headers=self._headers if reached else [],
            fields=self._fields if reached else {},
            body=content,
            length=self.body.length,
            sha256=digest,
            error=error,
            detail=detail,
            seconds=time.monotonic() - self._started,
            received=datetime.fromtimestamp(int(self._received or time.time()), CET),
            address=self.curl.getinfo(pycurl.PRIMARY_IP) or "",
            retry_after=retry_after(later) if later else None,
            stored=self.body.stored,
        )


def _pairs(lines: list[bytes]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for text in b"".join(lines).decode("latin-1").split("\n"):
        if text[:1] in (" ", "\t") and pairs:
            name, value = pairs[-1]
            pairs[-1] = (name, f"{value} {text.strip()}")
            continue
        name, colon, value = text.partition(":")
        if colon:
            pairs.append((name.strip(), value.strip().replace("\r", " ")))
    return pairs


def by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by lower-case name, several lines joined by commas."""
    fields: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        fields[key] = f"{fields[key]}, {value}" if key in fields else value
    return fields


def _sound_length(value: str) -> bool:
    """Several lengths must agree; older libcurls take the first number of whatever is there."""
    if not value or value.isdecimal():
        return value.isascii()
    numbers = {number.strip() for number in value.split(",")}
    return len(numbers) == 1 and all(number.isascii() and number.isdigit() for number in numbers)
