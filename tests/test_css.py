"""The files that a style sheet needs."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.archive.urls import canonical
from webarc.crawler.css import read_css, read_stylesheet
from webarc.crawler.srcset import read_srcset

DATA = Path(__file__).parent / "data"
URL = "http://h.test/css/site.css"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a{background:url(one.png)}", ["one.png"]),
        ("a{background:URL( 'one.png' )}", ["one.png"]),
        ('a{background:url("one two.png")}', ["one%20two.png"]),
        ("a{src:url(f.woff2) format('woff2'), url(f.woff)}", ["f.woff2", "f.woff"]),
        ("@import 'a.css';@import \"b.css\" print;@import url(c.css);", ["a.css", "b.css", "c.css"]),
        (r"a{background:url(a\)b.png)}", ["a)b.png"]),
        (r"a{background:url('\66 oo.png')}", ["foo.png"]),
        (r"a{background:url(\0.png)}", ["%EF%BF%BD.png"]),
        (r"a{background:url(foo\28 1\29 .png)}", ["foo(1).png"]),
        (r"a{background:url( \66\6f\00006f.png )}", ["foo.png"]),
        ("a{background:url(\\66\r\noo.png)}b{c:url(\\66\too.png)}", ["foo.png"]),
        (r"a{background:url(a\ b.png)}", ["a%20b.png"]),
        ("a{background:url(a\\\nb.png)}b{c:url(x.png)}", ["x.png"]),
        ("a{background:url(\u3000.png)}", ["%E3%80%80.png"]),
        ("/* url(no.png) */a{content:'url(no.png)'}", []),
        ("a{b:url(data:image/png;base64,AAAA)}c{d:url(#id)}", []),
        ("@namespace url(http://www.w3.org/1999/xhtml);a{b:url(x.png)}", ["x.png"]),
        ("a{b:image-set('1.png' 1x, url(2.png) 2x type('image/png'))}", ["1.png", "2.png"]),
        ("a{b:url(bad url.png)}c{d:url(good.png)}", ["good.png"]),
        ("a{b:url(open.png", ["open.png"]),
        ("a{b:url(x.png)}c{d:url(x.png)}", ["x.png"]),
        ("a{b:my-url(no.png)}", []),
        (r"a{b:\75rl(z.png)}", ["z.png"]),
        (r"a{b:ur\6c(z.png)}c{d:U\r\00006C ('y.png')}", ["z.png", "y.png"]),
        ("a{b:\\75\r\nrl(z.png)}c{d:my-\\75rl(no.png)}e{f:\\75\n rl(no.png)}", ["z.png"]),
        (r"@\69mport 'a.css';@\49 \4dport'b.css';@\0000069mport 'no.css'", ["a.css", "b.css"]),
        (r"a{b:i\6d age\2dset('a.png' 1x)}c{d:i\6dage-set('no.png' 1x)}", ["a.png"]),
        (r"a{content:'\75rl(no.png)'}b{c:url(\75rl.png)}", ["url.png"]),
        ("@import/**/'a.css';@import /* x */ /**//***/ \"b.css\";@import/*'no.css'*/;/*", ["a.css", "b.css"]),
    ],
)
def test_references(text: str, names: list[str]) -> None:
    assert read_css(text, URL) == [f"http://h.test/css/{name}" for name in names]


def test_an_open_comment_hides_the_rest() -> None:
    body = (DATA / "comment-not-closed.css").read_bytes()
    assert read_stylesheet(body, URL, "text/css") == ["http://h.test/css/one.png"]


def test_a_style_sheet_in_utf_16() -> None:
    assert read_stylesheet("a{b:url(x.png)}".encode("utf-16"), URL, "text/css") == ["http://h.test/css/x.png"]


@pytest.mark.parametrize(
    "piece",
    [
        "url(",
        "url('",
        "/*",
        "@import '",
        "image-set(",
        "image-set((",
        "\\",
        "'",
        "url(a ",
        "url(\\28 ",
        "url(\\\n",
        "@namespace ",
        "@import/**/",
        "@import /*",
        "@import/**/ /*",
        "\\75",
        "\\75rl(",
        "\\75 rl('",
        "@\\69mport/**/",
    ],
)
def test_no_style_sheet_takes_long(piece: str) -> None:
    began = perf_counter()
    read_css(piece * 100_000, URL)
    read_css(r"\75rl(" + piece * 100_000, URL)
    read_css("@import" + piece * 100_000, URL)
    assert perf_counter() - began < 2


@given(st.text(alphabet="url(ab)'\"\\/*@import ;,\n0image-set", max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert all(canonical(url) == url for url in read_css(text, URL))


@pytest.mark.parametrize(
    ("value", "references"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        (" a.png 100w,b.png 200w ,, c.png", ["a.png", "b.png", "c.png"]),
        ("a,b.png 1x", ["a,b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("a.png (1,2) x, b.png", ["a.png", "b.png"]),
        ("data:image/png;base64,AAA= 1x, b.png 2x", ["data:image/png;base64,AAA=", "b.png"]),
        (", ,", []),
        ("", []),
    ],
)
def test_srcset(value: str, references: list[str]) -> None:
    assert read_srcset(value) == references


@given(st.text(alphabet="a, ()x1\n", max_size=60))
def test_any_srcset_is_read(value: str) -> None:
    assert all(reference.strip() for reference in read_srcset(value))
