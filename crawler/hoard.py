"""What an interrupted crawl had already fetched: whole files in its temp dir, which need not be asked for again."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from webarc.archive import times
from webarc.archive.document import parse
from webarc.archive.layout import INTERNAL, METADATA, arc_of, domain_folder
from webarc.archive.metadata import Metadata
from webarc.archive.staging import HOARD
from webarc.archive.urls import host_of
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.transfer import by_name
from webarc.errors import BadDocument


class Hoard:
    """The files of a taken-over temp dir, put aside so that they never mix with what the crawl fetches now."""

    def __init__(self, staging: Path) -> None:
        home = staging / HOARD
        home.mkdir(exist_ok=True)
        # One more for each time that the crawl was interrupted; the newest files count.
        earlier = sorted(home.iterdir(), key=lambda place: int(place.name), reverse=True)
        newest = home / str(len(earlier) + 1)
        newest.mkdir()
        for folder in staging.iterdir():
            if folder.name != INTERNAL:
                folder.rename(newest / folder.name)
        self._places = [newest, *earlier]
        self.used = 0

    def answer(self, request: Request) -> Answer | None:
        """The answer that the interrupted crawl got to this request, its body in the request's target."""
        arc = f"{domain_folder(host_of(request.url))}/{arc_of(request.url)}"
        for place in self._places:
            meta = _described(place / arc)
            if meta is not None and meta.url == request.url:
                self.used += 1
                return _answer(request, meta, place / arc / meta.response.file)
        return None


def _described(folder: Path) -> Metadata | None:
    """What is known about the document in an ARC folder, if that is whole."""
    with suppress(OSError, BadDocument):
        meta = parse((folder / METADATA).read_bytes())
        with (folder / meta.response.file).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == meta.response.sha256:
                return meta
    return None


def _answer(request: Request, meta: Metadata, document: Path) -> Answer:
    assert request.target is not None, "pages are always fetched into a file"
    target = Path(request.target)
    target.parent.mkdir(parents=True, exist_ok=True)
    document.rename(target)
    response = meta.response
    return Answer(
        request=request,
        url=meta.url,
        status=response.status,
        http_version=response.http_version,
        headers=list(response.headers),
        fields=by_name(response.headers),
        body=None,
        length=response.length,
        sha256=response.sha256,
        error="",
        detail="",
        seconds=0.0,
        # Where the server told no believable time of change, this is when the file was received.
        received=times.parse(meta.create_time),
        address="",
        retry_after=None,
        stored=True,
    )
