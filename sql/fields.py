"""The fields of a version that a condition may name, and the texts and numbers they are compared with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, String, column, literal

from webarc.errors import BadExpression

NUMBER, TEXT, TIME = "number", "text", "time"
_CET = timezone(timedelta(hours=1))
_LARGEST = 2**63 - 1
_WITH_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison: a column, something made of one, or a plain value (then `clause` is None)."""

    kind: str
    clause: ColumnElement[Any] | None = None
    value: str | int = ""


# Name -> its column and what it holds; the names are those of `--json` and of the specification.
FIELDS: dict[str, tuple[str, str]] = {
    "number": ("number", NUMBER),
    "url": ("url", TEXT),
    "crawlTime": ("crawl_time", TIME),
    "commitTag": ("commit_tag", TEXT),
    "status": ("status", NUMBER),
    "mimeType": ("mime_type", TEXT),
    "size": ("length", NUMBER),
    "sha256": ("sha256", TEXT),
    "title": ("title", TEXT),
    "domain": ("domain", TEXT),
    "path": ("path", TEXT),
    "createTime": ("create_time", TIME),
    "current": ("is_current", NUMBER),
}
_BY_NAME = {name.lower(): found for name, found in FIELDS.items()}


def kind_of(name: str) -> str | None:
    """What the field of a name holds; None if there is none."""
    found = _BY_NAME.get(name.replace("_", "").lower())
    return found[1] if found else None


def field(name: str) -> Operand:
    """The field of a name, in any case and with or without underscores."""
    found = _BY_NAME.get(name.replace("_", "").lower())
    if found is None:
        raise BadExpression(
            f"there is no field {name[:80]!r}; there are {', '.join(FIELDS)}, and a text stands in 'single quotes'."
        )
    kind = found[1]
    return Operand(kind, column(found[0], BigInteger if kind == NUMBER else String))


def text_value(value: str) -> Operand:
    """A text in a condition."""
    if _UNSTORABLE.search(value):
        raise BadExpression("a text with a NUL or half a character is in no version; leave it out.")
    return Operand(TEXT, value=value)


def number_value(digits: str) -> Operand:
    """A number in a condition."""
    try:
        value = float(digits) if re.search("[.eE]", digits) else int(digits)
    except ValueError:
        value = _LARGEST + 1
    if value != value // 1 or abs(value) > _LARGEST:
        raise BadExpression(
            f"{digits[:80]!r} is not a whole number that a version could have; write one, as in status = 200."
        )
    return Operand(NUMBER, value=int(value))


def bound(operand: Operand, other: Operand) -> ColumnElement[Any]:
    """An operand as it is compared with another: a value becomes a parameter of the other one's type."""
    if operand.clause is not None:
        if other.clause is not None and (operand.kind == NUMBER) != (other.kind == NUMBER):
            raise BadExpression("a number cannot be compared with a text; compare fields of the same kind.")
        return operand.clause
    if other.kind == NUMBER:
        return literal(_whole(operand.value), BigInteger)
    text = str(operand.value)
    return literal(_moment(text) if other.kind == TIME else text, String)


def _whole(value: str | int) -> int:
    found = value if isinstance(value, int) else number_value(value.strip() or "nothing").value
    assert isinstance(found, int)
    return found


def _moment(text: str) -> str:
    """A time as the index has it; a date alone or a part of one is left as it is, for they sort as well."""
    if not _WITH_CLOCK.fullmatch(text):
        return text
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(_CET) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return text
    return f"{moment:%Y-%m-%d %H:%M:%S}"
