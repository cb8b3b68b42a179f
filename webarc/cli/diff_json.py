"""A comparison of two versions as a JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webarc.cli.versions import version_json
from webarc.diff.shares import rounded

if TYPE_CHECKING:
    from webarc.diff.pair import VersionPair


def as_object(pair: VersionPair, around: int | None) -> dict[str, object]:
    """The two versions, figures, and the changes with so many lines around each; None leaves the changes out."""
    found: dict[str, object] = {
        "url": pair.new.url,
        "old": version_json(pair.old),
        "new": version_json(pair.new),
        "different": pair.different,
        "kind": "words" if pair.words else "lines" if pair.lines else "bytes",
        "similarity": rounded(pair.similarity),
        "partial": pair.partial,
    }
    if changed := pair.words or pair.lines:
        found |= {"added": changed.added, "removed": changed.removed}
    if around is not None:
        found |= _hunks(pair, around)
    return found


def _hunks(pair: VersionPair, around: int) -> dict[str, object]:
    if pair.words is not None:
        from webarc.diff.hunks import hunks

        found = hunks(pair.words.pieces(), around)
        return {"hunks": [{"line": hunk.line, "lines": hunk.lines} for hunk in found]}
    if pair.lines is not None:
        return {"hunks": [hunk._asdict() for hunk in pair.lines.hunks(around)]}
    return {}
