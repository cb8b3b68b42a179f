"""data.xml: any string survives, everything written is valid, and nothing hostile is believed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.archive.document import parse, render, validate
from webarc.archive.layout import url_of
from webarc.archive.metadata import Metadata, Response
from webarc.errors import BadDocument
from webarc.schema import schema_path, validator

RESPONSE = Response(
    status=200,
    url="http://example.org/docs/a.html",
    http_version="1.1",
    declared_type="text/html; charset=utf-8",
    charset="utf-8",
    etag='"5f-abc"',
    last_modified="Mon, 01 Jan 2024 00:00:00 GMT",
    file="data.html",
    length=24_000,
    sha256="ab" * 32,
    headers=(("Server", "nginx"), ("X-Odd", "a & b <c>"), ("Set-Cookie", "1"), ("Set-Cookie", "2")),
)
META = Metadata(
    url="http://example.org/docs/a.html",
    mime_type="text/html",
    title="A title",
    path="example.org/docs/a.html",
    domain="example.org",
    crawl_time="2026-11-15 23:50:00",
    create_time="2024-01-01 01:00:00",
    commit_tag="2026-11-15T23:50:00@example.org",
    response=RESPONSE,
)
EVERYTHING = st.text(st.characters(exclude_categories=()), max_size=30)
TRICKY = st.sampled_from(
    ["\x01", "\ud800", "\udc00\ud800", "\ufffe", "\\x41", "\\", "\\\\u0041\x02", "\r\n", " a ", "\t", "]]>", '"<&>', ""]
)
TEXTS = EVERYTHING | TRICKY
OTHER_CHECKER = xmlschema.XMLSchema(str(schema_path("arc")))


def test_the_document_reads_as_the_specification_says() -> None:
    lines = [line.strip() for line in render(META).decode().splitlines()]
    assert lines[:12] == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<arc version="1">',
        "<meta>",
        "<url>http://example.org/docs/a.html</url>",
        "<mimeType>text/html</mimeType>",
        "<title>A title</title>",
        "<path>example.org/docs/a.html</path>",
        "<domain>example.org</domain>",
        "<crawlTime>2026-11-15T23:50:00</crawlTime>",
        "<createTime>2024-01-01T01:00:00</createTime>",
        "<commitTag>2026-11-15T23:50:00@example.org</commitTag>",
        "<response>",
    ]
    assert lines[-5:] == ['<header name="Set-Cookie">2</header>', "</response>", "</meta>", "<data/>", "</arc>"]


def test_what_is_written_is_read_back() -> None:
    assert parse(render(META)) == META
    assert parse(render(replace(META, title=None))).title is None
    assert parse(render(replace(META, title=""))).title == ""


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_any_text_survives(url: str, title: str, etag: str, headers: list[tuple[str, str]]) -> None:
    response = replace(RESPONSE, url=url, etag=etag, charset=title, headers=tuple(headers))
    meta = replace(META, url=url, title=title, mime_type=etag, path=title, response=response)
    data = render(meta)
    assert parse(data) == meta
    assert OTHER_CHECKER.is_valid(data.decode())


def test_only_texts_with_forbidden_characters_are_marked() -> None:
    marked = render(replace(META, title="a\x01\\b")).decode()
    assert '<title escaped="true">a\\x01\\\\b</title>' in marked
    assert marked.count("escaped=") == 1
    assert "<title>a\\b</title>" in render(replace(META, title="a\\b")).decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("crawl_time", "yesterday"),
        ("crawl_time", "2026-02-30 00:00:00"),
        ("create_time", "2026-11-15 23:50:00+01:00"),
        ("commit_tag", "v1"),
        ("sha256", "AB" * 32),
        ("file", "data.HTML"),
        ("file", "../data.html"),
        ("status", -1),
        ("length", -1),
    ],
)
def test_what_the_schema_forbids_is_not_written(field: str, value: object) -> None:
    meta = (
        replace(META, **{field: value})  # type: ignore[arg-type]
        if hasattr(META, field)
        else replace(META, response=replace(RESPONSE, **{field: value}))  # type: ignore[arg-type]
    )
    with pytest.raises(BadDocument, match="not a valid arc document"):
        render(meta)


def test_a_long_bad_value_makes_a_short_message() -> None:
    with pytest.raises(BadDocument) as caught:
        render(replace(META, response=replace(RESPONSE, sha256="x" * 100_000)))
    assert len(str(caught.value)) < 500


BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE arc [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
"""


@pytest.mark.parametrize(
    "hostile",
    [
        BOMB + render(META).partition(b"\n")[2].replace(b"A title", b"&c;"),
        BOMB + render(META).partition(b"\n")[2].replace(b'name="Server"', b'name="&c;&c;&c;&c;"'),
        b"<!DOCTYPE arc>" + render(META).partition(b"\n")[2],
        b'<!DOCTYPE arc SYSTEM "file:///etc/passwd">' + render(META).partition(b"\n")[2],
        ("<!DOCTYPE arc>" + render(META).decode().partition("\n")[2]).encode("utf-16"),
    ],
    ids=["bomb", "bomb in an attribute", "empty", "external", "utf-16"],
)
def test_a_doctype_is_rejected_by_name(hostile: bytes) -> None:
    with pytest.raises(BadDocument, match="DOCTYPE"):
        parse(hostile)


def test_every_truncation_is_noticed() -> None:
    data = render(META).rstrip()
    for length in range(len(data)):
        with pytest.raises(BadDocument):
            parse(data[:length])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<arc version='1'/>", "not a valid arc"),
        (b"\x00" * 500, "well-formed"),
        (b"hello", "well-formed"),
        (render(META).replace(b"<status>200</status>", b""), "not a valid arc"),
        (render(META).replace(b'version="1">', b'version="2">'), "not a valid arc"),
        (render(META).replace(b"A title", b"\xff\xfe"), "well-formed"),
        (render(META).replace(b"A title", b"&unknown;"), "well-formed|not a valid"),
    ],
)
def test_damage_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(BadDocument, match=reason):
        validate(data)


def test_users_own_nodes_and_comments_do_not_disturb() -> None:
    own = b'<data><words count="3">x<b/></words><o:x xmlns:o="urn:other"><y/></o:x></data>'
    data = render(META).replace(b"<data/>", own).replace(b"<meta>", b"<meta><!-- note --><?pi x?>")
    assert parse(data) == META
    assert OTHER_CHECKER.is_valid(data.decode())


def test_a_comment_inside_a_text_does_not_cut_it() -> None:
    assert parse(render(META).replace(b"A title", b"A <!-- x -->title")).title == "A title"


def test_a_filter_learns_the_url_from_the_document_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "data.xml").write_bytes(render(META))
    assert url_of(tmp_path / "data.html") == META.url


@pytest.mark.parametrize("name", ["arc", "crawl", "urls"])
def test_both_checkers_accept_the_schemas(name: str) -> None:
    xmlschema.XMLSchema(str(schema_path(name)))
    assert validator(name) is validator(name)
