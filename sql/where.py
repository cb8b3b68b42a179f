"""Conditions over versions, as in `status = 200 AND title LIKE '%tide%'`.

A condition is parsed to a tree and a new one is built from it, of the few kinds of nodes below and nothing else: fields
by name, values as parameters. No text of it ever reaches a database.
"""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import sqlglot
from sqlalchemy import ColumnElement, and_, func, not_, or_
from sqlglot import exp
from sqlglot.errors import SqlglotError

from webarc.errors import BadExpression
from webarc.sql.fields import NUMBER, TEXT, Operand, bound, field, number_value, text_value
from webarc.sql.patterns import globbed, liked
from webarc.sql.spans import Span, with_spans

# What it cannot parse is told by our own error; its remarks on the way there would only be noise.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
_LONGEST = 4000
_DEEPEST = 25
_STRING = re.compile(r"'[^']*'")
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
_FUNCTIONS: dict[type, tuple[Callable[..., Any], str]] = {
    exp.Lower: (func.lower, TEXT),
    exp.Upper: (func.upper, TEXT),
    exp.Length: (func.length, NUMBER),
}
_ALLOWED = (
    "a condition may have =, <>, <, >, LIKE, GLOB, IN, BETWEEN, IS NULL, AND, OR, NOT, lower, upper, length, and values"
)


_IS = "IS takes NULL or NOT NULL only; use = to compare."
_LIST = "IN takes a list of values in round brackets, as in status IN (200, 404); write one."


def condition(text: str, span: Span | None = None) -> ColumnElement[bool]:
    """The condition that a text means, ready for `Index.matching`; raises BadExpression naming what is wrong.

    `span` gives the first and last second of a time as people write it; without it times must be as they are stored.
    """
    if len(text) > _LONGEST:
        raise BadExpression(f"a condition has at most {_LONGEST} characters; make it shorter.")
    # Looked at before the parser, which would go as deep as it is led.
    plain = _STRING.sub("''", text)
    if max(_depths(plain), default=0) > _DEEPEST:
        raise BadExpression(f"a condition has at most {_DEEPEST} brackets inside each other; make it simpler.")
    try:
        parsed = sqlglot.parse(text, dialect="sqlite")
        if len(parsed) != 1 or parsed[0] is None:
            raise BadExpression("it is not one condition; write one, as in \"status = 200 AND title LIKE '%tide%'\".")
        return _condition(with_spans(parsed[0], span) if span else parsed[0], 0)
    except SqlglotError as problem:
        raise BadExpression(f"the condition cannot be read{_place(problem)}; {_ALLOWED}.") from None
    except RecursionError:
        raise BadExpression("the condition goes too deep; make it simpler.") from None


def _condition(node: Any, depth: int) -> ColumnElement[bool]:
    """A node that is true or false."""
    if depth > _DEEPEST:
        raise BadExpression("the condition goes too deep; make it simpler.")
    kind = type(node)
    if kind is exp.Paren:
        return _condition(_parts(node, "this")[0], depth + 1)
    if kind is exp.Not:
        return not_(_condition(_parts(node, "this")[0], depth + 1))
    if kind in (exp.And, exp.Or):
        join = and_ if kind is exp.And else or_
        return join(*[_condition(part, depth + 1) for part in _chain(node, kind)])
    if kind in _COMPARISONS:
        left, right = map(_operand, _parts(node, "this", "expression"))
        return _compared(_COMPARISONS[kind], left, right)
    if kind in _LEAVES:
        return _LEAVES[kind](node)
    if kind in (exp.Column, exp.Literal, exp.Boolean, exp.Null):
        raise BadExpression(f"{_written(node)} alone is no condition; compare it with something, as in status = 200.")
    raise _refused(node)


def _compared(compare: Callable[[Any, Any], Any], left: Operand, right: Operand) -> ColumnElement[bool]:
    if left.clause is None and right.clause is None:
        raise BadExpression("two values are compared; compare a field with a value, as in status = 200.")
    found: ColumnElement[bool] = compare(bound(left, right), bound(right, left))
    return found


def _in(node: Any) -> ColumnElement[bool]:
    # A value without brackets, or a query, is no list.
    if not node.expressions:
        raise BadExpression(_LIST)
    tested = _tested(_parts(node, "this", lists=("expressions",))[0])
    values = [_operand(part) for part in node.expressions]
    if any(value.clause is not None for value in values):
        raise BadExpression(_LIST)
    return _clause(tested).in_([bound(value, tested) for value in values])


def _between(node: Any) -> ColumnElement[bool]:
    this, low, high = _parts(node, "this", "low", "high")
    tested = _tested(this)
    return _clause(tested).between(bound(_operand(low), tested), bound(_operand(high), tested))


def _is(node: Any) -> ColumnElement[bool]:
    this, what = _parts(node, "this", "expression")
    if type(what) is not exp.Null:
        raise BadExpression(_IS)
    return _clause(_tested(this)).is_(None)


def _like(node: Any, escape: str = "") -> ColumnElement[bool]:
    this, pattern = _parts(node, "this", "expression", flags=("negate",))
    found = liked(_clause(_text(this, "LIKE")), _pattern(pattern, "LIKE"), escape)
    return not_(found) if node.args.get("negate") else found


def _glob(node: Any) -> ColumnElement[bool]:
    this, pattern = _parts(node, "this", "expression", flags=("negate",))
    found = globbed(_clause(_text(this, "GLOB")), _pattern(pattern, "GLOB"))
    return not_(found) if node.args.get("negate") else found


def _escape(node: Any) -> ColumnElement[bool]:
    like, escape = _parts(node, "this", "expression")
    if type(like) not in (exp.Like, exp.ILike) or len(_pattern(escape, "ESCAPE")) != 1:
        raise BadExpression("ESCAPE takes one character, behind a LIKE.")
    return _like(like, _pattern(escape, "ESCAPE"))


_LEAVES: dict[type, Callable[[Any], ColumnElement[bool]]] = {
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Glob: _glob,
    exp.Escape: _escape,
}


def _operand(node: Any) -> Operand:
    """A node that is a value, a field, or a function of one."""
    kind = type(node)
    if kind is exp.Paren:
        return _operand(_parts(node, "this")[0])
    if kind is exp.Literal:
        return text_value(node.this) if node.is_string else number_value(node.this)
    if kind is exp.Neg and type(node.this) is exp.Literal and not node.this.is_string:
        return number_value(f"-{node.this.this}")
    if kind is exp.Column:
        return _field(node)
    if kind in _FUNCTIONS:
        function, result = _FUNCTIONS[kind]
        inner = _operand(_parts(node, "this")[0])
        if inner.kind == NUMBER:
            raise BadExpression(f"{kind.__name__.lower()} is for texts; compare a number as it is.")
        return Operand(result, function(bound(inner, inner)))
    raise _refused(node)


def _field(node: Any) -> Operand:
    (name,) = _parts(node, "this")
    if type(name) is not exp.Identifier:
        raise _refused(node)
    if name.args.get("quoted"):
        raise BadExpression(f"{name.name[:80]!r} stands in quotes for names; put a text in 'single quotes'.")
    return field(name.name)


def _tested(node: Any) -> Operand:
    operand = _operand(node)
    if operand.clause is None:
        raise BadExpression("a value is tested; name a field first, as in status IN (200, 404).")
    return operand


def _text(node: Any, purpose: str) -> Operand:
    operand = _tested(node)
    if operand.kind == NUMBER:
        raise BadExpression(f"{purpose} is for texts; compare a number with =, <, >, IN or BETWEEN.")
    return operand


def _pattern(node: Any, purpose: str) -> str:
    if type(node) is not exp.Literal or not node.is_string:
        raise BadExpression(f"{purpose} takes a text in 'single quotes'; write one, as in title LIKE '%tide%'.")
    return str(text_value(node.this).value)


def _clause(operand: Operand) -> ColumnElement[Any]:
    assert operand.clause is not None
    return operand.clause


def _parts(node: Any, *names: str, lists: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> list[Any]:
    """The named parts of a node, which has no others: an option of some dialect is refused, not overlooked."""
    others = [name for name, value in node.args.items() if value and name not in (*names, *lists, *flags)]
    if others or not all(isinstance(node.args.get(name), exp.Expression) for name in names):
        raise _refused(node)
    return [node.args[name] for name in names]


def _chain(node: Any, kind: type) -> Iterator[Any]:
    """The members of a AND b AND c, which the parser nests to the left."""
    members = []
    while type(node) is kind:
        node, last = _parts(node, "this", "expression")
        members.append(last)
    return iter([node, *reversed(members)])


def _depths(text: str) -> Iterator[int]:
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        yield depth


def _written(node: Any) -> str:
    return repr(str(node.sql())[:80])


def _refused(node: Any) -> BadExpression:
    if type(node) is exp.NullSafeEQ:
        return BadExpression(_IS)
    name = node.name if type(node) is exp.Anonymous else node.key
    return BadExpression(f"{str(name)[:80].upper()!r} is not allowed; {_ALLOWED}.")


def _place(problem: SqlglotError) -> str:
    errors = getattr(problem, "errors", None) or [{}]
    found = errors[0].get("highlight") or ""
    return f" at {found[:80]!r}" if found else ""
