"""A crawl's report inside its domain: crawl.xml (how it went) and urls.xml (what came of every URL)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from lxml import etree

from webarc.archive.document import check, name_of, read_valid, text_of
from webarc.archive.escaping import element, escape, in_attribute, in_text, is_forbidden, unescape
from webarc.archive.layout import INTERNAL
from webarc.errors import BadDocument

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_URLS_START = f'{_HEAD}<urls version="1">\n'
_URLS_END = "</urls>\n"
_ROWS_AT_A_TIME = 1000


@dataclass(frozen=True, slots=True)
class CrawlRecord:
    """One crawl of one domain; `reason` says why it is not complete, `held` which removals were held back."""

    commit_tag: str
    domain: str
    crawl_time: str
    end_time: str
    definition: str
    complete: bool
    reason: str
    options: dict[str, str]
    counts: dict[str, int]
    held: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class UrlRow:
    """What came of one URL: the status (0: no answer), an error class, where it redirects to, and a mark."""

    url: str
    status: int
    error: str
    target: str
    mark: str


def crawl_paths(definition: str) -> tuple[str, str]:
    """Where crawl.xml and urls.xml of a definition lie inside the domain folder."""
    folder = f"{INTERNAL}/crawls/{definition}"
    return f"{folder}/crawl.xml", f"{folder}/urls.xml"


def render_crawl(record: CrawlRecord) -> bytes:
    """The crawl.xml of a crawl; raises BadDocument for what the schema does not allow."""
    groups = {
        "options": [element("option", value, name) for name, value in sorted(record.options.items())],
        "counts": [element("count", str(value), name) for name, value in sorted(record.counts.items())],
        "held": [element("url", url) for url in record.held],
    }
    lines = [f"  {line}" for line in _fields(record)]
    for name, rows in groups.items():
        lines += [f"  <{name}>", *[f"    {row}" for row in rows], f"  </{name}>"]
    data = "\n".join([f'{_HEAD}<crawl version="1">', *lines, "</crawl>\n"]).encode()
    read_valid(data, "crawl")
    return data


def parse_crawl(data: bytes) -> CrawlRecord:
    """What a crawl.xml says; raises BadDocument with the reason why it cannot be believed."""
    *fields, options, counts, held = read_valid(data, "crawl")
    values = {node.tag: text_of(node) for node in fields}
    return CrawlRecord(
        commit_tag=values["commitTag"],
        domain=values["domain"],
        crawl_time=values["crawlTime"].replace("T", " "),
        end_time=values["endTime"].replace("T", " "),
        definition=values["definition"],
        complete=values["complete"] in ("true", "1"),
        reason=values["reason"],
        options={name_of(node): text_of(node) for node in options},
        counts={name_of(node): int(text_of(node)) for node in counts},
        held=tuple([text_of(node) for node in held]),
    )


def write_urls(rows: Iterable[UrlRow], target: BinaryIO) -> None:
    """Write urls.xml row by row, one a line; the rows come sorted, each URL once, else BadDocument is raised."""
    target.write(_URLS_START.encode())
    remaining = _ascending(rows)
    while lines := [_line(row) for row in islice(remaining, _ROWS_AT_A_TIME)]:
        chunk = "".join(lines)
        # Validated piece by piece, so that a million rows need no more memory than a thousand.
        read_valid(f"{_URLS_START}{chunk}{_URLS_END}".encode(), "urls")
        target.write(chunk.encode())
    target.write(_URLS_END.encode())


def read_urls(data: bytes) -> Iterator[UrlRow]:
    """The rows of a urls.xml, in its order; raises BadDocument as soon as something cannot be believed."""
    events = etree.iterparse(
        BytesIO(data),
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for nodes in _chunks(events):
            yield from map(_row, nodes)
    except (etree.XMLSyntaxError, ValueError) as problem:
        reason = " ".join(str(problem).split())[:200] if data.strip() else "it is empty"
        raise BadDocument(f"it is not well-formed XML ({reason}); restore it from git.") from None


def _fields(record: CrawlRecord) -> list[str]:
    return [
        element("commitTag", record.commit_tag),
        element("domain", record.domain),
        element("crawlTime", record.crawl_time.replace(" ", "T")),
        element("endTime", record.end_time.replace(" ", "T")),
        element("definition", record.definition),
        element("complete", "true" if record.complete else "false"),
        element("reason", record.reason),
    ]


def _ascending(rows: Iterable[UrlRow]) -> Iterator[UrlRow]:
    last = None
    for row in rows:
        if last is not None and row.url <= last:
            raise BadDocument(f"the row of {row.url!r} comes after that of {last!r}; sort the rows, each URL once.")
        last = row.url
        yield row


def _line(row: UrlRow) -> str:
    texts = (row.url, row.error, row.target, row.mark)
    mark = ""
    if any(map(is_forbidden, texts)):
        mark, texts = ' escaped="true"', (escape(row.url), escape(row.error), escape(row.target), escape(row.mark))
    url, *extras = texts
    for name, text in zip(("error", "target", "mark"), extras, strict=True):
        mark += f' {name}="{in_attribute(text)}"' if text else ""
    return f'<url status="{row.status}"{mark}>{in_text(url)}</url>\n'


def _chunks(events: Iterator[tuple[str, _Element]]) -> Iterator[list[_Element]]:
    """The rows that are whole, some at a time, checked; the parser may be in the middle of a later one."""
    _, root = next(events)
    whole: list[_Element] = []
    for event, node in events:
        if event == "end" and node is not root:
            whole.append(node)
        if len(whole) == _ROWS_AT_A_TIME:
            check(root, "urls")
            yield whole
            # Rows that were read leave the tree, so that a million of them need no more memory than a thousand.
            for row in whole:
                root.remove(row)
            whole = []
    check(root, "urls")
    yield whole


def _row(node: _Element) -> UrlRow:
    attributes = node.attrib
    values = [node.text or "", attributes.get("error", ""), attributes.get("target", ""), attributes.get("mark", "")]
    if attributes.get("escaped") in ("true", "1"):
        values = [unescape(value) for value in values]
    return UrlRow(values[0], int(attributes["status"]), *values[1:])
