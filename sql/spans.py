"""Times in a condition as people write them: `'yesterday'` or `'2026-11-15'` is a whole day, not its first second.

A comparison with such a text becomes one with its first or last second: `=` means within it, `<=` until its end, `>`
after it. It is the tree of the condition that is changed, before anything is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from sqlglot import exp

from webarc.sql.fields import TIME, kind_of

# The first and the last second that a text means, as the index has them.
Span = Callable[[str], tuple[str, str]]
_TURNED: dict[type, type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def with_spans(tree: Any, span: Span) -> Any:
    """The same condition with every time that a field is compared with written out."""
    return tree.transform(lambda node: _changed(node, span))


def _changed(node: Any, span: Span) -> Any:
    kind = type(node)
    if kind in _TURNED:
        return _compared(node, span)
    if kind is exp.Between and _is_time(node.this):
        low, high = node.args.get("low"), node.args.get("high")
        if _is_value(low) and _is_value(high):
            return exp.Between(this=node.this, low=_text(span(low.this)[0]), high=_text(span(high.this)[1]))
    if kind is exp.In and _is_time(node.this) and node.expressions and all(map(_is_value, node.expressions)):
        days: list[Any] = [_within(node.this, span(value.this)) for value in node.expressions]
        return exp.Paren(this=reduce(lambda one, other: exp.Or(this=one, expression=other), days))
    return node


def _compared(node: Any, span: Span) -> Any:
    kind, field, value = type(node), node.this, node.expression
    if _is_value(field) and _is_time(value):
        kind, field, value = _TURNED[kind], value, field
    if not (_is_time(field) and _is_value(value)):
        return node
    first, last = span(value.this)
    if kind in (exp.EQ, exp.NEQ):
        found = _within(field, (first, last))
        return found if kind is exp.EQ else exp.Not(this=found)
    return kind(this=field, expression=_text(last if kind in (exp.LTE, exp.GT) else first))


def _within(field: Any, seconds: tuple[str, str]) -> exp.Between:
    first, last = map(_text, seconds)
    return exp.Between(this=field.copy(), low=first, high=last)


def _text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def _is_value(node: Any) -> bool:
    return type(node) is exp.Literal


def _is_time(node: Any) -> bool:
    return type(node) is exp.Column and kind_of(node.name) == TIME
