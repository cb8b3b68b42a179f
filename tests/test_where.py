"""Conditions over versions: they find what they say, and no text of them ever reaches a database."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

from tests import postgres
from tests.index_rows import batch, columns, tag
from webarc.archive.instants import span
from webarc.errors import BadExpression, BadTime
from webarc.sql.index import Index
from webarc.sql.where import condition

# What a compiled condition may consist of; a value is always a parameter.
HARMLESS = re.compile(
    r"""\s | [()] | , | = | != | < | > | <= | >= | \b(AND|OR|NOT|LIKE|ILIKE|GLOB|IN|BETWEEN|IS|NULL)\b
    | \b(lower|upper|length)(?=\() | ESCAPE\ '!'
    | \b(number|url|crawl_time|commit_tag|status|mime_type|length|sha256|title|domain|path|create_time|is_current)\b
    | (%\(|:|__\[POSTCOMPILE_)[a-z0-9_]+(\)s|\])?(::(VARCHAR|BIGINT))?""",
    re.VERBOSE,
)

QUERIES = {
    "status = 404": ["b1"],
    "status <> 200": ["b1"],
    "status IN (404, 500)": ["b1"],
    "status NOT IN (404)": ["a1", "a2", "c1", "d1"],
    "NOT status = 200": ["b1"],
    "number = 2": ["a2"],
    "number > -1 and number < 2 and url like '%/a'": ["a1"],
    "size >= 1000 AND size <= '2000'": ["a2"],
    "size between 1e3 and 2000": ["a2"],
    "size > number": ["a1", "a2", "b1", "c1", "d1"],
    "title IS NULL": ["b1", "c1"],
    "title IS NOT NULL": ["a1", "a2", "d1"],
    "title = 'It''s 100% \\ done_!'": ["a2"],
    "title LIKE '%100$%%' ESCAPE '$'": ["a2"],
    "title LIKE '%\\%'": ["a2"],
    "title LIKE '%e_!'": ["a2"],
    "title LIKE 'high tide'": ["a1"],
    "title NOT LIKE '%tide%'": ["a2", "d1"],
    "title GLOB '*Tide'": ["a1"],
    "title GLOB '*tide'": [],
    "title GLOB '?igh*'": ["a1"],
    "title GLOB '*100%*'": ["a2"],
    "lower(title) = 'high tide'": ["a1"],
    "upper(title) = upper('High Tide')": ["a1"],
    "length(title) = 9": ["a1"],
    "mimeType = 'application/pdf' OR (mime_type = 'image/png')": ["c1", "d1"],
    "domain = 'other.org'": ["d1"],
    "path = 'example.org/c'": ["c1"],
    "current = 0": ["a1"],
    "commitTag = '2026-01-02T00:00:00@example.org'": ["a2"],
    "crawlTime >= '2026-01-02'": ["a2", "d1"],
    "crawlTime = '2026-01-02T08:00:00'": ["a2", "d1"],
    "crawlTime = '2026-01-02T07:00:00Z'": ["a2", "d1"],
    "crawltime LIKE '2026-01-01%'": ["a1", "b1", "c1"],
    "CREATETIME < '2026'": ["c1"],
    "sha256 = '1111111111111111111111111111111111111111111111111111111111111111'": ["c1"],
    "title = 7": ["d1"],
    "url = 'a' OR url = 'b' OR ((status = 404))": ["b1"],
    "status = 200 AND size > 0 AND number = 2 AND title LIKE '%'": ["a2"],
    "NOT (status = 404 OR domain = 'other.org') AND NOT current = 0": ["a2", "c1"],
}


def fill(index: Index) -> None:
    rows = batch(None)
    rows.version("a", tag(1), columns("a", title="High Tide", length=10))
    rows.version("b", tag(1), columns("b", status=404, length=999))
    old = {"create_time": "2025-12-31 23:59:59", "sha256": "1" * 64}
    rows.version("c", tag(1), columns("c", mime_type="application/pdf", length=2001, **old))
    rows.end("commit-1")
    later = {"crawl_time": "2026-01-02 08:00:00"}
    rows.version("a", tag(2), columns("a", title="It's 100% \\ done_!", length=1500, **later))
    rows.end("commit-2")
    assert index.write(rows)
    other = batch(None, "other.org")
    other.version("d", tag(2, "other.org"), columns("d", title="7", mime_type="image/png", **later))
    other.end("commit-1")
    assert index.write(other)


def found(index: Index, where: str, domain: str | None = None) -> list[str]:
    return [f"{row.arc}{row.number}" for row in index.matching(condition(where), domain)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.at(tmp_path_factory.mktemp("where") / "index.db")
    fill(index)
    yield index
    index.close()


@pytest.mark.parametrize("where", QUERIES)
def test_what_a_condition_finds(index: Index, where: str) -> None:
    assert found(index, where) == QUERIES[where]


AS_PEOPLE_WRITE = {
    "crawlTime = '2026-01-02'": ["a2", "d1"],
    "crawlTime <> '2026-01-02'": ["a1", "b1", "c1"],
    "crawlTime <= '2026-01-02'": ["a1", "a2", "b1", "c1", "d1"],
    "crawlTime < '2026-01-02'": ["a1", "b1", "c1"],
    "crawlTime > '2026-01-01'": ["a2", "d1"],
    "crawlTime > '2026-01-02'": [],
    "'2026-01-02' <= crawlTime": ["a2", "d1"],
    "'2026-01-02' > crawlTime": ["a1", "b1", "c1"],
    "crawlTime IN ('2026-01-01', '2027')": ["a1", "b1", "c1"],
    "crawlTime NOT IN ('2026-01-01', '2027')": ["a2", "d1"],
    "crawlTime BETWEEN '2026-01-02' AND '2026-01-02'": ["a2", "d1"],
    "NOT crawlTime BETWEEN '2026-01' AND '2026-02'": [],
    "crawlTime >= 20260102070000": ["a2", "d1"],
    "crawlTime > '2026-01-02T07:00:00Z'": [],
    "crawl_time < 'yesterday'": ["a1", "a2", "b1", "c1", "d1"],
    "crawlTime > '30000 days ago' AND createTime < '2026-01-01'": ["c1"],
    "crawlTime >= createTime": ["a1", "a2", "b1", "c1", "d1"],
    "crawlTime LIKE '2026-01-01%' AND title = 'High Tide'": ["a1"],
}


@pytest.mark.parametrize("where", AS_PEOPLE_WRITE)
def test_times_are_read_as_people_write_them(index: Index, where: str) -> None:
    wanted = condition(where, span)
    assert [f"{row.arc}{row.number}" for row in index.matching(wanted)] == AS_PEOPLE_WRITE[where]


def test_a_text_that_is_no_time_is_refused() -> None:
    with pytest.raises(BadTime, match="'soon' is not a time"):
        condition("status = 200 AND crawlTime > 'soon'", span)


def test_one_domain_or_all(index: Index) -> None:
    assert found(index, "number = 1") == ["a1", "b1", "c1", "d1"]
    assert found(index, "number = 1", "other.org") == ["d1"]
    assert found(index, "number = 1 OR number = 2", "example.org") == ["a1", "a2", "b1", "c1"]
    assert found(index, "number = 1", "nowhere.org") == []


def test_postgresql_finds_the_same() -> None:
    with postgres.server() as url:
        index = Index(url)
        fill(index)
        assert {where: found(index, where) for where in QUERIES} == QUERIES
        assert found(index, "number = 1", "other.org") == ["d1"]
        index.close()


def test_more_matches_than_fit_into_a_page_come_once_each_and_in_order(tmp_path: Path) -> None:
    index = Index.at(tmp_path / "index.db")
    rows = batch(None)
    for day in range(1, 4):
        for number in range(900):
            rows.version(f"{number:04}", tag(day), columns("x", status=200 + number % 2))
        rows.end(str(day))
    assert index.write(rows)
    places = [(row.arc, row.number) for row in index.matching(condition("status = 201"))]
    assert places == sorted(set(places)) and len(places) == 3 * 450
    assert len(list(index.matching(condition("status > 0")))) == 3 * 900
    index.close()


ATTACKS = {
    "url = 'a'; DROP TABLE version": "not one condition",
    "1 = 1": "two values are compared",
    "status = (SELECT 1)": "SUBQUERY",
    "status IN (SELECT number FROM version)": "IN",
    "EXISTS (SELECT 1)": "EXISTS",
    "status = 1 UNION SELECT * FROM domain": "UNION",
    "SELECT 1": "SELECT",
    "ATTACH DATABASE '/etc/passwd' AS x": "ATTACH",
    "PRAGMA table_info(version)": "PRAGMA",
    "pragma_table_info('version') = 1": "PRAGMA_TABLE_INFO",
    "load_extension('x.so') = 1": "LOAD_EXTENSION",
    "readfile('/etc/passwd') = ''": "READFILE",
    "pg_sleep(10) = 1": "PG_SLEEP",
    "randomblob(1000000000) = url": "RANDOMBLOB",
    "url REGEXP '(a+)+$'": "REGEXPLIKE",
    "title MATCH 'x'": "MATCH",
    "\"url\" = 'x'": "quotes for names",
    "`url` = 'x'": "quotes for names",
    "[url] = 'x'": "quotes for names",
    'title = "x"': "single quotes",
    "version.url = 'x'": "COLUMN",
    "etag = 'x'": "no field 'etag'",
    "rowid = 1": "no field 'rowid'",
    "sqlite_master = 1": "no field",
    "url || title = 'x'": "DPIPE",
    "size + 1 = 2": "ADD",
    "CASE WHEN status = 1 THEN 1 END = 1": "CASE",
    "CAST(size AS TEXT) = 'x'": "CAST",
    "url = 'x' COLLATE nocase": "COLLATE",
    "url = ?": "PLACEHOLDER",
    "url = :url": "PLACEHOLDER",
    "url = @x": "PARAMETER",
    "url = x'00'": "HEXSTRING",
    "url = 'a' 'b'": "CONCAT",
    "(url, title) = ('a', 'b')": "TUPLE",
    "url LIKE title": "LIKE takes a text",
    "url LIKE ANY ('a')": "LIKE takes a text",
    "url LIKE 'a' ESCAPE 'ab'": "ESCAPE takes one character",
    "url GLOB '[a-z]*'": "GLOB takes",
    "status LIKE '4%'": "LIKE is for texts",
    "lower(size) = '1'": "lower is for texts",
    "size = 'large'": "not a whole number",
    "size = 1.5": "not a whole number",
    "size = 9223372036854775808": "not a whole number",
    "size = 1e400": "not a whole number",
    "size = title": "cannot be compared",
    "status IN ()": "IN takes a list",
    "status IN (number)": "IN takes a list",
    "1 IN (1, 2)": "a value is tested",
    "title IS 'x'": "use = to compare",
    "status": "'status' alone is no condition",
    "status AND 1": "'status' alone is no condition",
    "NOT 1": "'1' alone is no condition",
    "/* */": "not one condition",
    "": "not one condition",
    ";": "not one condition",
    "status =": "cannot be read",
    "status = 'a": "cannot be read",
    "title = '\x00'": "NUL",
    "title = '\ud800'": "half a character",
    "(" * 26 + "status = 1" + ")" * 26: "at most 25 brackets",
    "NOT " * 26 + "status = 1": "too deep",
    "NOT " * 990 + "status = 1": "too deep",
    "status = 1 OR " * 300 + "status = 1": "at most 4000 characters",
    "- " * 1500 + "1 = status": "too deep",
}


@pytest.mark.parametrize("where", ATTACKS)
def test_anything_else_is_refused_by_name(where: str) -> None:
    began = time.perf_counter()
    with pytest.raises(BadExpression, match=re.escape(ATTACKS[where])) as caught:
        condition(where)
    assert time.perf_counter() - began < 1
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_long_condition_is_compiled_in_a_moment(index: Index) -> None:
    began = time.perf_counter()
    assert found(index, " OR ".join(["url = 'x'"] * 250) + " OR status = 404") == ["b1"]
    assert found(index, f"status IN ({', '.join(['1'] * 900)}, 404)") == ["b1"]
    assert found(index, "(" * 25 + "status = 404" + ")" * 25) == ["b1"]
    assert time.perf_counter() - began < 3


SQL = """
( ) , ; . ' " ` [ ] { } = == <> != < > <= >= - + * / % || | & ~ ? :a @a $1 -- /* */ # \\ :: -> ->>
url status title size number crawlTime "url" version version.url rowid 'x' '' 'a''b' '%' 1 -1 1.5 1e9 0x1F x'00'
NULL TRUE AND OR NOT LIKE ILIKE GLOB REGEXP MATCH ESCAPE IN BETWEEN IS ISNULL NOTNULL EXISTS ANY ALL COLLATE AS DISTINCT
SELECT FROM WHERE UNION WITH RECURSIVE VALUES CASE WHEN THEN ELSE END CAST( lower( upper( length( LOWER( sum( OVER
pragma_table_info( load_extension( json_extract( PRAGMA ATTACH DETACH DROP TABLE INSERT INTO UPDATE SET DELETE VACUUM
INTERVAL DATE TIMESTAMP ARRAY ROW STRUCT
"""
WORDS = SQL.split()


def test_the_measure_of_harmlessness_sees_what_is_not() -> None:
    for written in (
        "url = 'x'",
        "status = 1",
        "version.url = :a",
        "url = :a; DROP TABLE version",
        "url = :a --",
        "abs(:a)",
    ):
        assert HARMLESS.sub("", written)
    assert not HARMLESS.sub("", str(condition("lower(url) LIKE 'x' OR status IN (1) /* DROP */ -- TABLE").compile()))


def is_harmless(where: str) -> bool:
    """Whether a condition is refused, or means nothing but comparisons of fields with parameters."""
    try:
        clause = condition(where)
    except BadExpression as problem:
        return "\n" not in str(problem)
    for dialect in (sqlite.dialect(paramstyle="named"), postgresql.psycopg.dialect()):
        written = str(clause.compile(dialect=dialect))
        if HARMLESS.sub("", written):
            return False
    return True


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join))
def test_no_words_of_sql_get_through(where: str) -> None:
    assert is_harmless(where)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), st.sampled_from(list(QUERIES)), st.data()
)
def test_nothing_can_be_slipped_into_a_condition(words: str, where: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(where)))
    assert is_harmless(f"{where[:place]}{words}{where[place:]}")
    assert is_harmless(f"{where[:place]} {words} {where[place:]}")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_text_gets_through(where: str) -> None:
    assert is_harmless(where)


@settings(max_examples=100, deadline=None)
@given(value=st.text(max_size=60))
def test_a_text_means_itself_and_nothing_else(index: Index, value: str) -> None:
    quoted = "'" + value.replace("'", "''") + "'"
    try:
        assert found(index, f"title = {quoted} OR status = 404") in (["b1"], ["b1", "d1"])
        assert list(condition(f"title = {quoted}").compile().params.values()) == [value]
    except BadExpression:
        assert re.search("[\x00\ud800-\udfff]", value)
