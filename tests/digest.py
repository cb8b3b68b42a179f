"""A guard for the test server that asks for Digest (RFC 7616) and believes nobody else."""

from __future__ import annotations

import hashlib
import re

from tests.servers import Page, Request, Route

USER, PASSWORD, REALM = "anna", "s:ecret", "the archive"
_FIELD = re.compile(r'(\w+)=(?:"([^"]*)"|([^\s,]+))')


class Guard:
    """Lets through to `pages` who knows the password; every answer to others is a page of its own, which is no page.

    A nonce is good for `lasts` requests and is then refused, with the word `stale` or, as some servers do, without.
    """

    def __init__(
        self,
        pages: dict[str, Route],
        *,
        also_basic: bool = False,
        lasts: int = 1 << 30,
        says_stale: bool = True,
        algorithm: str = "SHA-256",
    ) -> None:
        self.pages = pages
        self.algorithm = algorithm
        self.also_basic = also_basic
        self.lasts = lasts
        self.says_stale = says_stale
        self.nonces: dict[str, int] = {}
        self.proofs: list[str] = []

    def __call__(self, request: Request) -> Route:
        header = request.headers.get("authorization", "")
        self.proofs.append(header.partition(" ")[0])
        known, nonce = self._is_known(request, header)
        if known and self.nonces[nonce] < self.lasts:
            self.nonces[nonce] += 1
            page = self.pages.get(request.target, Page("not here", 404))
            return page(request) if callable(page) else page
        return self._demand(stale=known and self.says_stale)

    def _is_known(self, request: Request, header: str) -> tuple[bool, str]:
        if not header.startswith("Digest "):
            return False, ""
        fields = {name: quoted or plain for name, quoted, plain in _FIELD.findall(header)}
        nonce = fields.get("nonce", "")
        if nonce not in self.nonces or fields.get("uri") != request.target:
            return False, ""
        user, what = self._hash(f"{USER}:{REALM}:{PASSWORD}"), self._hash(f"{request.method}:{request.target}")
        proof = self._hash(":".join((user, nonce, fields["nc"], fields["cnonce"], fields["qop"], what)))
        return fields.get("response") == proof, nonce

    def _demand(self, *, stale: bool) -> Page:
        nonce = f"n{len(self.nonces)}"
        self.nonces[nonce] = 0
        challenge = (
            f'Digest realm="{REALM}", qop="auth", algorithm={self.algorithm}, nonce="{nonce}"' + ", stale=true" * stale
        )
        basic = [("WWW-Authenticate", f'Basic realm="{REALM}"')] if self.also_basic else []
        headers = [("WWW-Authenticate", challenge), ("Set-Cookie", "seen=1"), *basic]
        return Page("<title>keep out</title><a href=/trap>x</a>" * 500, 401, headers)

    def _hash(self, text: str) -> str:
        return hashlib.new(self.algorithm.replace("-", ""), text.encode()).hexdigest()
