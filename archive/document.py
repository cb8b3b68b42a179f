"""data.xml: what is known about one version, as XML that is valid when written and distrusted when read."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lxml import etree

from webarc.archive.escaping import element, unescape
from webarc.archive.metadata import Metadata, Response
from webarc.errors import BadDocument
from webarc.schema import validator

if TYPE_CHECKING:
    from lxml.etree import _Element

_PARSER = etree.XMLParser(
    resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=False
)
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def render(meta: Metadata) -> bytes:
    """The data.xml of a version, with an empty data node; raises BadDocument for what the schema does not allow."""
    lines = [f'{_HEAD}<arc version="1">\n  <meta>']
    lines += [f"    {line}" for line in _meta(meta)]
    lines.append("    <response>")
    lines += [f"      {line}" for line in _response(meta.response)]
    lines.append("    </response>\n  </meta>\n  <data/>\n</arc>\n")
    data = "\n".join(lines).encode()
    read_valid(data, "arc")
    return data


def parse(data: bytes) -> Metadata:
    """What a data.xml says; raises BadDocument with the reason why it cannot be believed."""
    *fields, answer = read_valid(data, "arc")[0]
    values = {node.tag: text_of(node) for node in fields}
    return Metadata(
        url=values["url"],
        mime_type=values["mimeType"],
        title=values.get("title"),
        path=values["path"],
        domain=values["domain"],
        crawl_time=values["crawlTime"].replace("T", " "),
        create_time=values["createTime"].replace("T", " "),
        commit_tag=values["commitTag"],
        response=_parsed_response(answer),
    )


def headers_of(data: bytes) -> dict[str, str]:
    """The headers in a data.xml by lower-case name, several of one name joined by commas; none if unreadable."""
    found: dict[str, str] = {}
    try:
        root = etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError):
        return found
    for header in root.iterfind("meta/response/header"):
        name, value = name_of(header).lower(), text_of(header)
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def validate(data: bytes) -> None:
    """Raises BadDocument unless this is a valid data.xml."""
    read_valid(data, "arc")


def read_valid(data: bytes, schema: str) -> _Element:
    """The root of a document that is well-formed, without DOCTYPE and valid; raises BadDocument otherwise."""
    try:
        root = etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise BadDocument(f"it is not well-formed XML ({_reason(data, problem)}); restore it from git.") from None
    check(root, schema)
    return root


def check(root: _Element, schema: str) -> None:
    """Raises BadDocument if a parsed document has a DOCTYPE or is not valid."""
    if root.getroottree().docinfo.internalDTD is not None:
        raise BadDocument("it declares a DOCTYPE, which webarc never reads; restore it from git.")
    try:
        validator(schema).assertValid(root)
    except etree.DocumentInvalid as problem:
        # The message of a bad text repeats all of it; the reason at its end is what helps.
        reason = " ".join(str(problem).split())
        reason = reason if len(reason) <= 300 else f"{reason[:100]} ... {reason[-190:]}"
        raise BadDocument(f"it is not a valid {schema} document ({reason}); restore it from git.") from None


def text_of(node: _Element) -> str:
    """The text of an element as it was before escaping."""
    text = node.text or ""
    return unescape(text) if node.attrib and node.get("escaped") in ("true", "1") else text


def name_of(node: _Element) -> str:
    """The attribute `name` of an element as it was before escaping."""
    name = str(node.get("name"))
    return unescape(name) if node.get("escaped") in ("true", "1") else name


def _meta(meta: Metadata) -> list[str]:
    title = [] if meta.title is None else [element("title", meta.title)]
    return [
        element("url", meta.url),
        element("mimeType", meta.mime_type),
        *title,
        element("path", meta.path),
        element("domain", meta.domain),
        element("crawlTime", meta.crawl_time.replace(" ", "T")),
        element("createTime", meta.create_time.replace(" ", "T")),
        element("commitTag", meta.commit_tag),
    ]


def _response(answer: Response) -> list[str]:
    return [
        f"<status>{answer.status}</status>",
        element("finalUrl", answer.url),
        element("httpVersion", answer.http_version),
        element("declaredType", answer.declared_type),
        element("charset", answer.charset),
        element("etag", answer.etag),
        element("lastModified", answer.last_modified),
        element("file", answer.file),
        f"<length>{answer.length}</length>",
        element("sha256", answer.sha256),
        *[_header(value, name) for name, value in answer.headers],
    ]


@lru_cache(maxsize=1024)
def _header(value: str, name: str) -> str:
    """A header; a server sends most of them with every answer."""
    return element("header", value, name)


def _parsed_response(node: _Element) -> Response:
    status, url, version, declared, charset, etag, modified, file, length, digest, *headers = node
    return Response(
        status=int(status.text or 0),
        url=text_of(url),
        http_version=text_of(version),
        declared_type=text_of(declared),
        charset=text_of(charset),
        etag=text_of(etag),
        last_modified=text_of(modified),
        file=text_of(file),
        length=int(length.text or 0),
        sha256=text_of(digest),
        headers=tuple([(name_of(header), text_of(header)) for header in headers]),
    )


def _reason(data: bytes, problem: Exception) -> str:
    if not data.strip():
        return "it is empty"
    return " ".join(str(problem).split())[:200]
