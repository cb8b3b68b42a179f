"""The character encoding of a document, decided as browsers decide it."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.crawler.charset import charset_of, css_charset, decoded, encoding_named

DATA = Path(__file__).parent / "data"


def test_the_byte_order_mark_wins_over_header_and_meta() -> None:
    body = (DATA / "meta-against-bom.html").read_bytes()
    assert charset_of(body, "text/html; charset=koi8-r") == "utf-8"
    assert "Grüße" in decoded(body, "utf-8")
    assert charset_of(codecs.BOM_UTF16_BE + b"\0<", "text/html; charset=utf-8") == "utf-16be"


def test_the_header_wins_over_meta() -> None:
    assert charset_of(b"<meta charset=koi8-r>", "text/html; charset=utf-8") == "utf-8"
    assert charset_of(b"<meta charset=koi8-r>", "text/html; charset=nonsense") == "koi8-r"
    assert charset_of(b"", "text/html;CHARSET = 'Shift_JIS' ; x=y") == "shift_jis"


@pytest.mark.parametrize(
    ("page", "charset"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b"<META CHARSET='KOI8-R' />", "koi8-r"),
        (b"<meta http-equiv=content-type content='text/html; charset=iso-8859-2'>", "iso-8859-2"),
        (b"<meta content='text/html; charset=iso-8859-2' http-equiv=Content-Type>", "iso-8859-2"),
        (b"<meta name=x content='charset=iso-8859-2'>", "utf-8"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=big5>", "big5"),
        (b"<meta charset=nonsense><meta charset=big5>", "big5"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<metal charset=koi8-r>", "utf-8"),
        (b'<?xml version="1.0" encoding="iso-8859-15"?><html>', "iso-8859-15"),
        (b"plain", "utf-8"),
        ("é".encode(), "utf-8"),
        (b"caf\xe9", "windows-1252"),
    ],
)
def test_what_the_page_says_itself(page: bytes, charset: str) -> None:
    assert charset_of(page, "text/html") == charset


def test_a_meta_after_the_first_kilobyte_is_too_late() -> None:
    assert charset_of((DATA / "meta-late.html").read_bytes(), "text/html") == "utf-8"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF8", "utf-8"),
        (" latin1 ", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("gb2312", "gbk"),
        ("x-sjis", "shift_jis"),
        ("windows-31j", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("TIS-620", "windows-874"),
        ("x-gbk", "gbk"),
        ("utf-7", None),
        ("rot13", None),
        ("../../etc", None),
        ("x" * 1000, None),
        ("", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, name: str | None) -> None:
    assert encoding_named(label) == name
    if name:
        assert decoded(b"abc", name) == "abc"


def test_style_sheets_have_their_own_rule() -> None:
    assert css_charset(b'@charset "iso-8859-2"; a{}', "text/css") == "iso-8859-2"
    assert css_charset(b'@charset "iso-8859-2"; a{}', "text/css; charset=utf-8") == "utf-8"
    assert css_charset(b"a{content:'\xe9'}", "text/css") == "utf-8"


@given(st.binary(max_size=300), st.text(max_size=60))
def test_any_bytes_have_a_charset_and_a_text(body: bytes, content_type: str) -> None:
    assert isinstance(decoded(body, charset_of(body, content_type)), str)
    assert isinstance(decoded(body, css_charset(body, f"text/css; charset={content_type}")), str)
