"""The text of a document as a reader sees it, whatever the document does: time grows with its length only."""

from __future__ import annotations

from collections.abc import Callable

from webarc.archive.extensions import is_textual
from webarc.diff.decode import decoded
from webarc.diff.markup import Markup

# Of a larger document only so much is read.
LARGEST_READ = 16 * 1024 * 1024
_KINDS = {"text/html": "html", "application/xhtml+xml": "xhtml"}


def visible_text(data: bytes, mime_type: str, charset: str) -> str | None:
    """The text of the first 16 MiB of a document, or None for one that is no text, such as an image.

    Of HTML it is the title and then every block as a line, without scripts, styles, templates and attributes, with
    character references resolved and white space collapsed; any other kind of text is decoded and left as it is.
    """
    return TextReader().text(data, mime_type, charset)


def kind_of(mime_type: str) -> str:
    """How documents of this type are read: as `html`, `xhtml` or `plain` text; empty for those without a text."""
    return _KINDS.get(mime_type) or ("plain" if is_textual(mime_type) else "")


def has_text(mime_type: str) -> bool:
    """Whether documents of this type have a text."""
    return bool(kind_of(mime_type))


class TextReader:
    """Gives the same as `visible_text`, and sooner when it is kept for documents that have much in common.

    `finish` is done to all of the text, piece by piece, and must leave white space and marks as they are.
    """

    def __init__(self, finish: Callable[[str], str] = str) -> None:
        self._finish = finish
        self.markup = Markup(finish)

    def text(self, data: bytes, mime_type: str, charset: str) -> str | None:
        """The text of a document, or None."""
        if not has_text(mime_type):
            return None
        kind, text = kind_of(mime_type), decoded(data, charset, LARGEST_READ)
        return self._finish(text) if kind == "plain" else self.markup.text(text, xml=kind == "xhtml")
