"""MIME types by content, and the extensions that follow from them."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.archive.extensions import extension_in
from webarc.archive.layout import is_data_file
from webarc.archive.mime import UNKNOWN, data_name, declared_type, extension, type_of

ROOT = Path(__file__).parent.parent
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0" + b"\0" * 50
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + b"\x3e\0\3\0\xfe\xff\x09\0" + b"\0" * 500
KML = "application/vnd.google-earth.kml+xml"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def told(head: bytes, declared: str = "", name: str = "page") -> str:
    return type_of(Path(f"/staging/example.org/{name}/data.part"), head, declared)


def zipped(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name in names:
            file.writestr(name, b"x" * 300)
    return target.getvalue()


@pytest.mark.parametrize(
    "head",
    [
        b"<!DOCTYPE html><title>x</title>",
        b"<!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>",
        b"\xef\xbb\xbf \r\n\t<HTML><body>",
        b"<!-- a comment\n with <b> -->\n<!-- another --><html lang=en>",
        "<!DOCTYPE html><p>ü".encode("utf-16"),
        b"<html/>",
    ],
)
@pytest.mark.parametrize(
    "declared", ["", "text/html; charset=utf-8", "text/plain", "text/css", "image/png", "nonsense"]
)
def test_html_is_html_whatever_the_server_says(head: bytes, declared: str) -> None:
    assert told(head, declared) == "text/html"


@pytest.mark.parametrize(
    ("head", "declared", "name", "expected"),
    [
        # Only tags: a page, unless somebody says that it is something else that may begin with a tag.
        (b"<p>hello", "text/html", "x", "text/html"),
        (b"<p>hello", "", "x", "text/html"),
        (b"<div class=a>", "text/plain", "x.php", "text/html"),
        (b"<h1 align=center>T</h1>\n# more", "text/markdown", "x", "text/markdown"),
        (b"<h1 align=center>T</h1>\n# more", "text/plain", "README.md", "text/markdown"),
        (b"<script>1</script>", "text/javascript", "x", "text/javascript"),
        (b"<pre>x</pre>", "text/plain", "x.txt", "text/plain"),
        # Declared HTML that does not begin with a tag.
        (b"hello <b>world</b>", "text/html", "x", "text/html"),
        (b"hello world, 3 < 5", "text/html", "x", "text/plain"),
        (b"hello world", "text/html", "x.html", "text/plain"),
        (b"body { color: red }", "text/html", "x.css", "text/css"),
        # XML by its root.
        (b'<?xml version="1.0"?><a/>', "", "x", "application/xml"),
        (b'<?xml version="1.0"?><a/>', "text/xml", "x", "text/xml"),
        (
            b'<?xml version="1.0"?><kml/>',
            "application/vnd.google-earth.kml+xml",
            "x",
            "application/vnd.google-earth.kml+xml",
        ),
        (b'<?xml version="1.0"?><rss version="2.0"/>', "text/xml", "x", "application/rss+xml"),
        (b'<rss version="2.0"><channel>', "text/html", "x", "application/rss+xml"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom">', "", "x", "application/atom+xml"),
        (b'<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/">', "", "x", "application/rss+xml"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "", "x", "image/svg+xml"),
        (
            b'<?xml version="1.0"?>\n<!DOCTYPE svg [<!ENTITY a "b>">]>\n<!-- c --><svg/>',
            "text/plain",
            "x",
            "image/svg+xml",
        ),
        (b"<svg/>", "text/html", "x", "text/html"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "", "x", "application/xhtml+xml"),
        (b'<html xmlns="http://www.w3.org/1999/xhtml">', "application/xhtml+xml", "x", "application/xhtml+xml"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "text/html", "x", "text/html"),
        (b"<urlset>", "application/xml", "sitemap.xml", "application/xml"),
        # Text by declared type, then by name.
        (b".a { b: c }\n" * 9, "text/css", "x", "text/css"),
        (b".a { b: c }\n" * 9, "", "x.css%_3Fv=1", "text/css"),
        (b".a { b: c }\n" * 9, "application/octet-stream", "x.css", "text/css"),
        (b"var a = 1;\n" * 9, "application/x-javascript; charset=x", "x", "text/javascript"),
        (b"import a from 'b';\n", "text/plain", "x.mjs", "text/javascript"),
        (b"a,b\n1,2\n", "text/csv", "x", "text/csv"),
        (b"plain words, nothing else\n", "text/plain", "x.html", "text/plain"),
        (b"# Title\n\ntext\n", "", "x.md", "text/markdown"),
        (b"a: 1\nb: 2\n", "application/yaml", "x", "application/yaml"),
        (b"From: a@b\nSubject: c\n\nd\n", "text/plain", "x", "text/plain"),
        ("中文".encode("gbk") * 30, "text/plain; charset=gbk", "x", "text/plain"),
        ("hello".encode("utf-16"), "text/plain", "x", "text/plain"),
        (("é" * 5000).encode()[:8191], "text/css", "x", "text/css"),
        (b"not a pdf, an error", "application/pdf", "x", "text/plain"),
        # JSON.
        (b'{"a": [1, 2]}', "", "x", "application/json"),
        (b'{"a": [1, 2]}', "text/html", "x", "application/json"),
        (b'{"a": [1, 2]}', "application/ld+json", "x", "application/ld+json"),
        (b'{"a": [1, 2]}', "text/javascript", "x", "text/javascript"),
        # Binary.
        (PNG, "text/html", "x.html", "image/png"),
        (PNG, "image/jpeg", "x.jpg", "image/png"),
        (b"GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\4", "", "x", "image/gif"),
        (b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", "text/html", "x", "application/pdf"),
        (b"wOF2\0\1\0\0" + b"\0" * 50, "font/woff2", "x", "font/woff2"),
        (b"wOFF\0\1\0\0" + b"\0" * 50, "application/octet-stream", "x", "font/woff"),
        (b"\0\1\0\0\0\x0c\0\x80\0\3\0\x40OS/2" + bytes(range(200)), "application/x-font-ttf", "x", "font/ttf"),
        (b"OTTO\0\x0b\0\x80\0\3\0\x30CFF " + bytes(range(200)), "", "x", "font/otf"),
        (b"\0asm\1\0\0\0", "application/wasm", "x", "application/wasm"),
        (gzip.compress(b"x" * 99, mtime=0), "application/x-gzip", "x", "application/gzip"),
        (zipped("a.txt"), "application/x-zip-compressed", "x", "application/zip"),
        (zipped("a.txt"), "text/html", "x", "application/zip"),
        (zipped("META-INF/MANIFEST.MF"), "application/java-archive", "x", "application/java-archive"),
        (zipped("a"), "", "x.jar", "application/java-archive"),
        (zipped("[Content_Types].xml", "_rels/.rels", "word/document.xml"), "", "x", DOCX),
        (zipped("odd.xml"), DOCX, "x", DOCX),
        (OLE, "application/msword", "x", "application/msword"),
        (OLE, "", "x.xls", "application/vnd.ms-excel"),
        (OLE, "text/html", "x", "application/x-ole-storage"),
        (b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\0" * 100, "audio/mp4", "x", "audio/mp4"),
        # No opinion of libmagic's: the declared type, if it can be true.
        (b"\0\1\2\3\4\5\xfe\xfd" * 20, "application/vnd.acme.thing", "x", "application/vnd.acme.thing"),
        (b"\0\1\2\3\4\5\xfe\xfd" * 20, "text/html", "x", UNKNOWN),
        (b"\0\1\2\3\4\5\xfe\xfd" * 20, "", "x", UNKNOWN),
        (b"\0\1\2\3\4\5\xfe\xfd" * 20, "../../etc", "x", UNKNOWN),
        # Nothing at all.
        (b"", "text/css", "x", "text/css"),
        (b"", "", "x.js", "text/javascript"),
        (b"", "", "x", UNKNOWN),
    ],
)
def test_types(head: bytes, declared: str, name: str, expected: str) -> None:
    assert told(head, declared, name) == expected


@pytest.mark.parametrize(
    "head",
    [
        b"<!--" * 2048,
        b"<!-- -" * 1500,
        b" " * 8192,
        b"<!DOCTYPE [" + b"]" * 8000,
        b"<?" * 4096,
        b"<" * 8192,
        b"<a " * 2700,
        b"<!-- -->" * 1024,
        b"a <b" * 2000,
    ],
)
def test_no_bytes_are_slow(head: bytes) -> None:
    start = time.perf_counter()
    told(head, "text/html")
    assert time.perf_counter() - start < 0.2


@given(st.binary(max_size=300), st.text(max_size=40), st.sampled_from(["x", "x.css", "x.html", "x.xml", "%_"]))
def test_every_input_has_a_type_and_a_name(head: bytes, declared: str, name: str) -> None:
    mime_type = told(head, declared, name)
    assert declared_type(mime_type) == mime_type or mime_type == UNKNOWN
    assert is_data_file(data_name(extension(f"https://example.org/{name}", mime_type)))


@pytest.mark.parametrize(
    ("url", "mime_type", "name"),
    [
        ("https://e.org/", "text/html", "data.html"),
        ("https://e.org/a.htm", "text/html", "data.htm"),
        ("https://e.org/a.HTML", "text/html", "data.html"),
        ("https://e.org/a.php?x=y.gif", "text/html", "data.html"),
        ("https://e.org/a.jpeg", "image/jpeg", "data.jpeg"),
        ("https://e.org/a.jpg", "image/png", "data.png"),
        ("https://e.org/style.css?v=1.2", "text/css", "data.css"),
        ("https://e.org/lib.min.js", "text/javascript", "data.js"),
        ("https://e.org/readme.rst", "text/plain", "data.rst"),
        ("https://e.org/Main.java", "text/plain", "data.java"),
        ("https://e.org/example.com", "text/plain", "data.txt"),
        ("https://e.org/v1.2", "application/json", "data.json"),
        ("https://e.org/feed", "application/atom+xml", "data.atom"),
        ("https://e.org/feed.xml", "application/atom+xml", "data.content.xml"),
        ("https://e.org/data.xml", "application/xml", "data.content.xml"),
        ("https://e.org/s.xsd", "application/xml", "data.xsd"),
        ("https://e.org/x", "application/foo+xml", "data.content.xml"),
        ("https://e.org/x", "application/foo+json", "data.json"),
        ("https://e.org/a.files", "text/plain", "data.txt"),
        ("https://e.org/a.files", "application/octet-stream", "data.bin"),
        ("https://e.org/a.xyz", "application/octet-stream", "data.bin"),
        ("https://e.org/a.deb", "application/octet-stream", "data.deb"),
        ("https://e.org/a.html", "application/octet-stream", "data.bin"),
        ("https://e.org/a.docx", "application/zip", "data.docx"),
        ("https://e.org/.htaccess", "text/plain", "data.txt"),
        ("https://e.org/a.b/c", "text/plain", "data.txt"),
        ("https://e.org/a.%41", "text/plain", "data.txt"),
        ("https://e.org/a." + "x" * 17, "text/x-foo", "data.txt"),
        ("https://e.org/x", "text/x-unknown", "data.txt"),
        ("https://e.org/x", "video/x-unknown", "data.bin"),
    ],
)
def test_names(url: str, mime_type: str, name: str) -> None:
    assert data_name(extension(url, mime_type)) == name


def test_the_host_is_no_file_name() -> None:
    assert extension_in("https://example.html/") == ""


def test_libmagic_leaves_the_environment_alone() -> None:
    told(b"\0\1\2")
    assert "pylibmagic" not in os.environ.get("LD_LIBRARY_PATH", "") + os.environ.get("MAGIC", "")


def test_a_missing_libmagic_is_named_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "magic.py").write_text("raise ImportError('failed to find libmagic')\n")
    code = (
        "from pathlib import Path; from webarc.archive.mime import type_of; from webarc.errors import StorageProblem\n"
        "print(type_of(Path('/x/y/z'), b'<html>', ''))\n"
        "try: type_of(Path('/x/y/z'), b'\\0\\1', '')\n"
        "except StorageProblem as error: print(error)\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    page, problem = done.stdout.splitlines()
    assert page == "text/html"
    assert "apt-get install libmagic1" in problem


@pytest.mark.parametrize(
    ("head", "declared", "limit_ms"),
    [
        (b"<!DOCTYPE html>" + b"<p>some words in a page</p>" * 900, "text/html", 0.05),
        (b"<!-- c -->\n" * 200 + b"<html>" + b"<p>x" * 2000, "text/html", 0.05),
        (b"body { color: red }\n" * 500, "text/css", 0.3),
        (b"var a = function () { return 1; };\n" * 300, "text/javascript", 0.3),
        (b"words in a row, " * 600, "text/plain", 0.3),
        (PNG + bytes(range(256)) * 40, "image/png", 0.3),
        (zipped(*(f"f{i}" for i in range(40))), "application/zip", 0.3),
    ],
)
def test_it_is_quick(head: bytes, declared: str, limit_ms: float) -> None:
    told(head, declared)
    best = min(_milliseconds(head, declared) for _ in range(5))
    assert best <= limit_ms


def _milliseconds(head: bytes, declared: str) -> float:
    start = time.perf_counter()
    for _ in range(40):
        told(head, declared)
    return (time.perf_counter() - start) / 40 * 1000
