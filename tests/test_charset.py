"""The character encoding of a document, decided as browsers decide it."""

from __future__ import annotations

import codecs
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.browser import browser
from tests.servers import Page, Site
from webarc.archive.encodings import decoded, encoding_named
from webarc.crawler.charset import charset_of, css_charset, header_charset

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
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta/charset=koi8-r>", "koi8-r"),
        (b"<a it's><meta charset=koi8-r>", "koi8-r"),
        (b"<metal charset=koi8-r>", "utf-8"),
        (b'<?xml version="1.0" encoding="iso-8859-15"?><html>', "iso-8859-15"),
        (b"plain", "utf-8"),
        ("é".encode(), "utf-8"),
        (b"caf\xe9", "windows-1252"),
    ],
)
def test_what_the_page_says_itself(page: bytes, charset: str) -> None:
    assert charset_of(page, "text/html") == charset


LONG = b"x" * 1100


LATE = [
    ((DATA / "meta-late.html").read_bytes(), "koi8-r"),
    (b"<script>" + LONG + b"</script><meta charset=koi8-r>", "koi8-r"),
    (b"<head><style>" + LONG + b"</style><title>x</title><link><meta charset=koi8-r><body>", "koi8-r"),
    (b"<!--" + LONG + b"--><meta http-equiv=Content-Type content='text/html;charset=koi8-r'>", "koi8-r"),
    (b"<p>x<meta charset=koi8-r>", "koi8-r"),
    (b"<meta name=x content='" + LONG + b"'><meta charset=koi8-r>", "koi8-r"),
    (b"<?xml encoding='big5'?><script>" + LONG + b"</script><meta charset=koi8-r>", "koi8-r"),
    (b"<p>" + LONG + b"<meta charset=koi8-r>", "utf-8"),
    (b"<head></head><!--" + LONG + b"--><meta charset=koi8-r>", "utf-8"),
    (b"<head><template>" + LONG + b"</template><meta charset=koi8-r>", "utf-8"),
    (b"<meta http-equiv=content-type content='xcharset=big5;charset=koi8-r'>" + LONG, "big5"),
]


@pytest.mark.parametrize(("page", "charset"), LATE)
def test_a_meta_counts_wherever_it_is_met_in_the_head(page: bytes, charset: str) -> None:
    assert charset_of(page, "text/html") == charset


NOT_META = [
    b"<a title='<meta charset=koi8-r>'>",
    b'<link href=x title="><meta charset=koi8-r>">',
    b"<!-- > <meta charset=koi8-r> -->",
    b"<script>'<meta charset=koi8-r>'</script>",
    b"<script><!--<script></script><meta charset=koi8-r></script>",
    b"<title><meta charset=koi8-r></title>",
    b"<meta charset=koi8-r",
    b"<p it's><meta charset='koi8-r' ",
    b"</meta charset=koi8-r>",
    b"<? <meta charset=koi8-r>"[:-1],
]


@pytest.mark.parametrize("page", NOT_META)
def test_what_only_looks_like_a_meta(page: bytes) -> None:
    assert charset_of(page, "text/html") == "utf-8"
    assert charset_of(b"<script>" + LONG + b"</script>" + page, "text/html") == "utf-8"


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; xcharset=foo; charset=gbk", "gbk"),
        ('text/html; x=";charset=koi8-r"; charset=gbk', "gbk"),
        ('text/html; charset="gbk"', "gbk"),
        ("text/html;charset=gbk;charset=koi8-r", "gbk"),
        ("text/html; charset=foo; charset=gbk", None),
        ("text/html; charset", None),
        ("text/html; charset=", None),
        ("text/html; charset=; charset=gbk", "gbk"),
        ("text/html; charset; charset= ;charset=gbk", "gbk"),
        ('text/html; charset=""; charset=gbk', None),
        (r'text/html; charset="g\bk"; charset=koi8-r', "gbk"),
        (r'text/html; x="\";charset=koi8-r"; charset=gbk', "gbk"),
        ("text/charset=gbk", None),
        ("text/html; charset=gbk, text/html", "gbk"),
        ("text/html; charset=x-user-defined", "x-user-defined"),
    ],
)
def test_what_a_header_says(content_type: str, charset: str | None) -> None:
    assert header_charset(content_type) == charset


def test_two_bytes_for_each_sign_show_in_the_xml_declaration() -> None:
    assert charset_of('<?xml version="1.0"?>'.encode("utf-16le"), "text/html") == "utf-16le"
    assert charset_of('<?xml version="1.0"?>'.encode("utf-16be"), "text/html") == "utf-16be"


def test_the_xml_declaration_comes_first_in_xml_only() -> None:
    page = b"<?xml version='1.0' encoding='big5'?><meta charset=koi8-r>"
    assert [charset_of(page, kind) for kind in ("text/html", "application/xhtml+xml")] == ["koi8-r", "big5"]


def test_a_head_without_an_end_is_searched_in_linear_time() -> None:
    for piece in (b"<link a=b>", b"<a ", b"<!--", b"<script>", b"<a '", b"<meta charset=x>"):
        began = perf_counter()
        assert charset_of(b"charset" + piece * (1 << 18) + b"\xe9", "text/html") == "windows-1252"
        assert perf_counter() - began < 5


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


@pytest.mark.slow
def test_a_browser_takes_pages_for_what_we_take_them() -> None:
    pages = [page for page, _ in LATE] + NOT_META
    with (
        Site({f"/{number}": Page(page, type="text/html") for number, page in enumerate(pages)}) as site,
        browser() as tab,
    ):
        for number, page in enumerate(pages):
            tab.open(site.url(f"/{number}"))
            # Where nothing is declared a browser takes its own default.
            ours = charset_of(page, "text/html").replace("utf-8", "windows-1252")
            assert (page, ours) == (page, tab.value("document.characterSet").lower())
