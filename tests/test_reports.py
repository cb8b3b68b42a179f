"""crawl.xml and urls.xml: complete, valid, and small in git."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.archive.reports import CrawlRecord, UrlRow, crawl_paths, parse_crawl, read_urls, render_crawl, write_urls
from webarc.errors import BadDocument
from webarc.schema import schema_path

RECORD = CrawlRecord(
    commit_tag="2026-11-15T23:50:00@example.org",
    domain="example.org",
    crawl_time="2026-11-15 23:50:00",
    end_time="2026-11-15 23:51:00",
    definition="4f1a2b",
    complete=False,
    reason="stopped by --max-pages 10",
    options={"depth": "3", "exclude": "a|b\n<c>", "empty": ""},
    counts={"fetched": 10, "new": 3, "bytes": 2**40},
    held=("http://example.org/a", "http://example.org/b?x=1&y=2"),
)
ROWS = [
    UrlRow("http://example.org/", 200, "", "", ""),
    UrlRow("http://example.org/a", 404, "http-404", "", ""),
    UrlRow("http://example.org/b?x=1&y=2", 301, "", "http://example.org/c", ""),
    UrlRow("http://example.org/d", 0, "timeout", "", "unlinked"),
]
CHECKERS = {name: xmlschema.XMLSchema(str(schema_path(name))) for name in ("crawl", "urls")}
TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)


def written(rows: list[UrlRow]) -> bytes:
    target = BytesIO()
    write_urls(rows, target)
    return target.getvalue()


def test_a_crawl_is_read_back() -> None:
    assert parse_crawl(render_crawl(RECORD)) == RECORD
    empty = replace(RECORD, complete=True, reason="", options={}, counts={}, held=())
    assert parse_crawl(render_crawl(empty)) == empty


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_any_text_survives_in_a_crawl(reason: str, options: dict[str, str], held: list[str]) -> None:
    record = replace(RECORD, reason=reason, options=options, held=tuple(held))
    data = render_crawl(record)
    assert parse_crawl(data) == record
    assert CHECKERS["crawl"].is_valid(data.decode())


@pytest.mark.parametrize(
    "wrong",
    [{"definition": "../x"}, {"definition": ""}, {"counts": {"new": -1}}, {"end_time": ""}, {"commit_tag": "x"}],
)
def test_a_wrong_crawl_is_not_written(wrong: dict[str, object]) -> None:
    with pytest.raises(BadDocument):
        render_crawl(replace(RECORD, **wrong))  # type: ignore[arg-type]


def test_the_urls_are_one_a_line() -> None:
    assert written(ROWS).decode().splitlines() == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urls version="1">',
        '<url status="200">http://example.org/</url>',
        '<url status="404" error="http-404">http://example.org/a</url>',
        '<url status="301" target="http://example.org/c">http://example.org/b?x=1&amp;y=2</url>',
        '<url status="0" error="timeout" mark="unlinked">http://example.org/d</url>',
        "</urls>",
    ]


def test_the_urls_are_read_back() -> None:
    assert list(read_urls(written(ROWS))) == ROWS
    assert list(read_urls(written([]))) == []


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(TEXTS, st.tuples(st.integers(0, 999), TEXTS, TEXTS, TEXTS), max_size=6))
def test_any_text_survives_in_the_urls(found: dict[str, tuple[int, str, str, str]]) -> None:
    rows = [UrlRow(url, *rest) for url, rest in sorted(found.items())]
    data = written(rows)
    assert list(read_urls(data)) == rows
    assert data.count(b"\n") == len(rows) + 3
    assert CHECKERS["urls"].is_valid(data.decode())


@pytest.mark.parametrize("rows", [ROWS[::-1], [ROWS[0], replace(ROWS[0], status=404)]])
def test_unsorted_or_repeated_rows_are_refused(rows: list[UrlRow]) -> None:
    with pytest.raises(BadDocument, match="sort the rows"):
        written(rows)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        written(ROWS)[:-10],
        written(ROWS).replace(b'status="200"', b'status="many"'),
        written(ROWS).replace(b'status="200"', b""),
        written(ROWS).replace(b"<urls ", b"<!DOCTYPE urls [<!ENTITY a 'b'>]><urls "),
        written(ROWS).replace(b"</urls>", b"<other/></urls>"),
    ],
)
def test_damaged_urls_are_noticed(damage: bytes) -> None:
    with pytest.raises(BadDocument):
        list(read_urls(damage))


def test_many_rows_need_little_memory() -> None:
    def many() -> Iterator[UrlRow]:
        for number in range(20_000):
            yield UrlRow(f"http://example.org/{number:07}", 200, "", "", "")

    target = BytesIO()
    write_urls(many(), target)
    data = target.getvalue()
    tracemalloc.start()
    assert all(found == row for found, row in zip(read_urls(data), many(), strict=True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(data) + 2_000_000


def test_where_the_reports_lie() -> None:
    assert crawl_paths("4f1a") == (".webarc/crawls/4f1a/crawl.xml", ".webarc/crawls/4f1a/urls.xml")
