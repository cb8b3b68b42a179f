"""Two versions side by side: by their words where both have a text, by their bytes otherwise."""

from __future__ import annotations

from webarc.diff.binary import binary_similarity
from webarc.diff.text import TextReader
from webarc.diff.words import WordDiff
from webarc.sql.rows import VersionRow


class Comparison:
    """How alike two versions are; `words` is None where there are none to compare."""

    def __init__(self, old: VersionRow, new: VersionRow, old_data: bytes, new_data: bytes, reader: TextReader) -> None:
        self.words: WordDiff | None = None
        old_text = reader.text(old_data, old.mime_type, old.charset)
        new_text = reader.text(new_data, new.mime_type, new.charset)
        # A page that shows its text by a script has no words; that says nothing about how much of it changed.
        if old_text is not None and new_text is not None and (old_text.strip() or new_text.strip()):
            self.words = WordDiff(old_text, new_text)
        self.similarity = self.words.similarity if self.words else binary_similarity(old_data, new_data)
