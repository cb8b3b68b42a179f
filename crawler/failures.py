"""libcurl's error codes in our own few words."""

from __future__ import annotations

from errno import ECONNREFUSED

_TLS = (35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98, 101)
_BY_CODE = {
    1: "bad-response",
    3: "dns",
    5: "dns",
    6: "dns",
    8: "bad-response",
    16: "bad-response",
    18: "truncated",
    27: "header-too-large",
    28: "timeout",
    43: "bad-response",
    61: "bad-response",
    63: "too-large",
    100: "header-too-large",
    **dict.fromkeys(_TLS, "tls"),
}
# Receiving, sending and HTTP/2 or HTTP/3 streams: what broke depends on how far the answer had come.
_BROKEN_OFF = frozenset((55, 56, 92, 95))
_COULD_NOT_CONNECT = 7


def error_class(code: int, message: str, *, head_done: bool, number: int = 0) -> str:
    """The error class of a libcurl error; `number` is the system's errno for it."""
    if code in _BROKEN_OFF:
        if "chunk" in message:
            return "bad-response"
        return "truncated" if head_done else "connection"
    if code == _COULD_NOT_CONNECT and number == ECONNREFUSED:
        return "refused"
    return _BY_CODE.get(code, "connection")
