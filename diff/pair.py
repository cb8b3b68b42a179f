"""Two versions of a page, compared in the way that was asked for and that their types allow."""

from __future__ import annotations

from webarc.archive.catalog import Catalog
from webarc.diff.binary import binary_similarity
from webarc.diff.decode import decoded
from webarc.diff.reading import LARGEST
from webarc.diff.text import has_text, visible_text
from webarc.diff.unified import LineDiff
from webarc.diff.words import WordDiff
from webarc.sql.rows import VersionRow


class VersionPair:
    """What is between two versions: `words` or `lines` of texts, nothing but the similarity of other files."""

    def __init__(self, catalog: Catalog, old: VersionRow, new: VersionRow, source: bool) -> None:
        self.old, self.new = old, new
        self.words: WordDiff | None = None
        self.lines: LineDiff | None = None
        self.similarity = 1.0
        if self.same_bytes:
            return
        old_data, new_data = catalog.read(old, LARGEST), catalog.read(new, LARGEST)
        if not (has_text(old.mime_type) and has_text(new.mime_type)):
            self.similarity = binary_similarity(old_data, new_data)
        elif source:
            self.lines = LineDiff(decoded(old_data, old.charset), decoded(new_data, new.charset))
            self.similarity = self.lines.share
        else:
            self.words = WordDiff(_text(old_data, old), _text(new_data, new))
            self.similarity = self.words.similarity

    @property
    def same_bytes(self) -> bool:
        """Whether the bytes are the same."""
        return self.old.sha256 == self.new.sha256

    @property
    def different(self) -> bool:
        """Whether the two differ at all, in their bytes or in what kind of bytes they are."""
        return not self.same_bytes or kind(self.old) != kind(self.new)

    @property
    def partial(self) -> bool:
        """Whether only the beginnings were compared."""
        return not self.same_bytes and max(self.old.length, self.new.length) > LARGEST


def kind(row: VersionRow) -> str:
    """The type of a version as people write it: `text/html; charset=utf-8`."""
    return f"{row.mime_type}; charset={row.charset}" if row.charset and has_text(row.mime_type) else row.mime_type


def _text(data: bytes, row: VersionRow) -> str:
    return visible_text(data, row.mime_type, row.charset) or ""
