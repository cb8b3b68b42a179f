"""Regular expressions of the rooms: right on every Python 3.11, and small and quick on hostile text."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from re import _constants as codes
from re import _parser as parser
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import webarc
from tests.archives import PROJECT, finish, start
from webarc.crawler.expressions import many

ROOMS = ("archive", "config", "crawler", "diff", "filters", "schema", "sql", "webarc")
SINGLE = (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY)
# A possessive repeat behind the bracket of a group, or an atomic group.
WRITTEN = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")


def bad_parts(parsed: Any) -> Iterator[str]:
    """Atomic groups and possessive repeats of groups, wherever they are.

    Python before 3.11.5, such as Debian 12 has, matches them wrongly if their content can be matched in several ways
    (github.com/python/cpython/issues/106052 and 101955). A possessive repeat of one character or class is right.
    """
    # Two signs of a range are a tuple of numbers, too, which compare equal to the codes.
    code = parsed[0] if isinstance(parsed, tuple) and parsed else None
    if code is codes.ATOMIC_GROUP:
        yield "an atomic group"
    if code is codes.POSSESSIVE_REPEAT:
        item = list(parsed[1][2])
        if len(item) != 1 or item[0][0] not in SINGLE:
            yield "a possessive repeat of a group"
    if isinstance(parsed, tuple | list | parser.SubPattern):
        for part in parsed:
            yield from bad_parts(part)


def patterns(thing: object) -> Iterator[re.Pattern[Any]]:
    """The compiled expressions in the names of a module, and in what our own objects and dictionaries there hold."""
    if isinstance(thing, re.Pattern):
        yield thing
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from patterns(each)
    elif type(thing).__module__.startswith("webarc."):
        yield from (each for each in getattr(thing, "__dict__", {}).values() if isinstance(each, re.Pattern))


def texts(source: Path) -> Iterator[str]:
    """The texts in a module, except those that only explain it."""
    tree = ast.parse(source.read_text())
    explanations = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in explanations:
            yield node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)


@pytest.mark.parametrize("expression", ["(?:ab?c)*+", "(?>a|ab)c", "x(?:y|zz)?+", "((?:ab){2,3}+)", "(a+)++"])
def test_bad_expressions_are_recognized(expression: str) -> None:
    assert list(bad_parts(parser.parse(expression)))
    assert WRITTEN.search(expression)


@pytest.mark.parametrize("expression", ["[^a]*+b++", "(?:a[bc]?+)*", "a{1,3}+", r"\)?+[)]*+\s++", "(?i:.*+)+"])
def test_good_expressions_are_left_alone(expression: str) -> None:
    assert not list(bad_parts(parser.parse(expression)))
    assert not WRITTEN.search(expression)


def test_no_expression_needs_a_newer_python() -> None:
    names = [module.name for module in pkgutil.walk_packages(webarc.__path__, "webarc.")]
    loaded = [import_module(name) for name in names if not name.endswith("__main__")]
    found = {(module.__name__, each) for module in loaded for each in patterns(vars(module))}
    assert len(found) > 60
    assert [each for each in found if any(bad_parts(parser.parse(each[1].pattern, each[1].flags)))] == []


def test_no_text_looks_like_such_an_expression() -> None:
    sources = [path for room in ROOMS for path in (PROJECT / room).rglob("*.py")]
    assert len(sources) > 100
    # PCRE has always read them rightly.
    sources = [path for path in sources if "import pcre2" not in path.read_text()]
    assert [(path.name, text) for path in sources for text in texts(path) if WRITTEN.search(text)] == []


@given(st.text("ab\\\"'", max_size=40), st.sampled_from([r"\\.", r"ab?", r"a|b\\", r"\\[^'\"]*+"]))
def test_many_takes_all_there_is(text: str, item: str) -> None:
    end = 0
    while found := re.compile(item).match(text, end):
        end = found.end()
    taken = re.compile(many(item, "x")).match(text)
    assert taken is not None
    assert taken.end() == end


def test_many_are_quick_to_take_and_to_give_up() -> None:
    began = perf_counter()
    assert not re.compile(many("ab?", "x") + "c").match("ab" * 1_000_000)
    assert perf_counter() - began < 2


HOSTILE = {
    "attributes": "html._TAGS.find(b'<a ' + b'a ' * 2_000_000 + b'>')",
    "attributes without end": "html._TAGS.find(b'<p ' + b'a= ' * 1_000_000)",
    "tags": "html._TAGS.find(b'<p><b x>' * 500_000)",
    "script": "html._TAGS.find(b'<script>' + b'<' * 4_000_000)",
    "comment": "css.references('/*' + '*x' * 2_000_000)",
    "string": "css.references('url(\"' + '\\\\a' * 1_000_000)",
    "bare": "css.references('url(' + '\\\\a' * 1_000_000)",
    "set": "css.references('image-set(' + '()' * 1_000_000)",
    "strings in a set": "css.references('image-set(' + '\"\"' * 1_000_000)",
    "srcset": "srcset.read_srcset('a ' + '()' * 2_000_000)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_does_not_pile_up(name: str) -> None:
    code = f"""
from pathlib import Path
from webarc.crawler import css, html, srcset
def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
before = peak()
for _ in {HOSTILE[name]}:
    pass
print(peak() - before)
"""
    # Some times the text itself; remembering each part of it would be a hundred times.
    assert int(finish(start(code))) < 60 * 1024
