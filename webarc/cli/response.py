"""A stored response as HTTP writes it."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webarc.archive.metadata import Metadata

_BREAKS = re.compile(r"[\x00\r\n]+")


def head(meta: Metadata) -> bytes:
    """The status line and the headers, up to and with the empty line."""
    answer = meta.response
    lines = [f"HTTP/{answer.http_version or '1.1'} {answer.status} {_phrase(answer.status)}".rstrip()]
    # A line end inside would make two headers of one.
    lines += [_BREAKS.sub(" ", f"{name}: {value}") for name, value in answer.headers]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("utf-8", "surrogateescape")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
