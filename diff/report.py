"""What changed in a site as one web page that needs nothing else: no script, no other file, no network.

All names and texts come from the archived site, which may want to do harm: everything is escaped, and kept in an
element that no sign for the direction of writing can reach out of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from webarc.archive.zones import shown
from webarc.diff.hunks import Piece
from webarc.diff.moves import Move
from webarc.diff.shares import written
from webarc.diff.site import Changed, SiteChanges, Unknown
from webarc.sql.rows import VersionRow

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th {{ text-align: left; }}
th, td {{ padding: .2rem .8rem .2rem 0; vertical-align: top; border-bottom: 1px solid #8884; }}
td {{ overflow-wrap: anywhere; }}
td.number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font: .85rem/1.4 ui-monospace, monospace; }}
del {{ background: #f8514933; }}
ins {{ background: #2ea04333; }}
</style>
</head>
<body>
"""
# What HTML does not allow, and halves of characters, which no file can hold.
_NOT_ALLOWED = re.compile("[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\ud800-\udfff\ufffe\uffff]")
_TAGS = {"=": ("", ""), "-": ("<del>", "</del>"), "+": ("<ins>", "</ins>")}


def report(changes: SiteChanges, domain: str, crawls: tuple[str, str], figures: str) -> Iterator[str]:
    """The page, piece by piece: what the two crawls are called, the figures, and the changes to be listed."""
    title = f"{_plain(domain)}: what changed"
    yield _HEAD.format(title=title)
    yield f"<h1>{title}</h1>\n<p>From {_text(crawls[0])} to {_text(crawls[1])}: {figures}.</p>\n"
    yield from _section("Changed", ("score", "words", "page"), map(_changed, changes.changed))
    yield from _section("Moved", ("similarity", "from", "to"), map(_moved, changes.moved))
    yield from _section("Added", ("bytes", "page"), map(_single, changes.added))
    yield from _section("Removed", ("bytes", "page"), map(_single, changes.removed))
    yield from _section("Unknown", ("what is gone", "page"), map(_unknown, changes.unknown))
    yield "</body>\n</html>\n"


def _section(title: str, headers: Iterable[str], rows: Iterable[str]) -> Iterator[str]:
    started = False
    for row in rows:
        if not started:
            cells = "".join(f"<th>{header}</th>" for header in headers)
            yield f"<h2>{title}</h2>\n<table>\n<tr>{cells}</tr>\n"
        started = True
        yield row
    if started:
        yield "</table>\n"


def _changed(page: Changed) -> str:
    score = "?" if page.score is None else written(page.score)
    words = "" if page.added is None else f"+{page.added:,} −{page.removed:,}"
    versions = " to ".join(f"version {row.number} of {shown(row.crawl_time)}" for row in (page.old, page.new) if row)
    if page.gap is not None:
        versions = f"{versions}; {page.gap}"
    excerpt = "".join(f"<pre>{''.join(map(_piece, line))}</pre>" for line in page.lines)
    listed = f"<details><summary>{versions}</summary>{excerpt}</details>" if excerpt else f"<div>{versions}</div>"
    return _row(_number(score), _number(words), f"<td>{_link(page.page)}{listed}</td>")


def _moved(move: Move) -> str:
    return _row(_number(written(move.similarity)), f"<td>{_link(move.old)}</td>", f"<td>{_link(move.new)}</td>")


def _single(row: VersionRow) -> str:
    return _row(_number(f"{row.length:,}"), f"<td>{_link(row)}</td>")


def _unknown(unknown: Unknown) -> str:
    return _row(f"<td>{unknown.gap}</td>", f"<td>{_link(unknown.page)}</td>")


def _row(*cells: str) -> str:
    return f"<tr>{''.join(cells)}</tr>\n"


def _number(text: str) -> str:
    return f'<td class="number">{text}</td>'


def _link(row: VersionRow) -> str:
    title = f"<br>{_text(row.title)}" if row.title else ""
    # Only what can be nothing but a web address becomes one.
    if not row.url.startswith(("http://", "https://")):
        return f"{_text(row.url)}{title}"
    return f'<a rel="noopener noreferrer nofollow" href="{_plain(row.url)}">{_text(row.url)}</a>{title}'


def _piece(piece: Piece) -> str:
    start, end = _TAGS[piece.mark]
    return f"{start}{_text(piece.text)}{end}"


def _text(text: str) -> str:
    return f"<bdi>{_plain(text)}</bdi>"


def _plain(text: str) -> str:
    return escape(_NOT_ALLOWED.sub("\ufffd", text))
