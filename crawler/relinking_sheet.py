"""Style sheets whose references lead to other files: those that are files, and those that stand in pages."""

from __future__ import annotations

import re
from itertools import islice

from webarc.crawler.css import places, plain
from webarc.crawler.relinking_links import Links
from webarc.crawler.relinking_text import Source
from webarc.crawler.tags import unescaped

_SPECIAL = re.compile(r"""[\\"'()\s]""")


def relink_css(source: Source, start: int, end: int, links: Links, *, entities: bool = False) -> None:
    """Relink a style sheet that stands somewhere in a source; `entities` if XML may have written some of it."""
    for first, last in islice(places(source.text[start:end]), source.room):
        written = source.written(start + first, start + last)
        reference = plain(written)
        new = links.new(unescaped(reference) if entities else reference, embedded=True)
        if new is not None:
            text = in_css(written, new.text)
            source.replace(start + first, start + last, text.replace("&", "&amp;") if entities else text)


def in_css(written: str, new: str) -> str:
    """A reference in place of the one that was written, in the same quotes."""
    mark = written[0] if written[0] in "\"'" else ""
    text = _SPECIAL.sub(lambda char: f"\\{char.group()}", new)
    return f"{mark}{text}{mark if written.endswith(mark) else ''}"
