"""What an answer means: a version, nothing new, a redirect, a page that is missing, a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial

from webarc.archive.layout import arc_of
from webarc.archive.urls import host_of, key_of
from webarc.crawler.capture import Capture
from webarc.crawler.errands import REDIRECTS
from webarc.crawler.exchange import Answer
from webarc.crawler.frontier import Frontier, Item
from webarc.crawler.options import CrawlOptions
from webarc.crawler.reader import Question, ReaderLine
from webarc.crawler.reading import Reading, is_readable, media_type
from webarc.crawler.ring import Slot
from webarc.crawler.robots import nofollow_header, product_token
from webarc.crawler.shelf import Shelf
from webarc.crawler.trail import Trail
from webarc.errors import BadURL
from webarc.sql.rows import CurrentRow

_GONE = (404, 410)
_NOTHING_READ = Reading(None, "")


class Judgement:
    """Judges answers one by one; what it decides is in the frontier, what is worth keeping goes to `deliver`.

    Documents are read by another process meanwhile: such answers are decided on in `listen` or `settle`.
    """

    def __init__(
        self,
        options: CrawlOptions,
        frontier: Frontier,
        trail: Trail,
        owned: dict[str, str],
        *,
        reader: ReaderLine,
        shelf: Shelf,
        stored: Callable[[str, CurrentRow], bytes | None],
        deliver: Callable[[Capture, Slot | None], None],
        again: Callable[[Item], None],
    ) -> None:
        self._options = options
        self._frontier = frontier
        self._trail = trail
        self._owned = owned
        self._reader = reader
        self._shelf = shelf
        self._stored = stored
        self._deliver = deliver
        self._again = again
        self._agent = product_token(options.user_agent)
        self.counts: Counter[str] = Counter()
        self.validators: list[tuple[str, str, str, str]] = []
        self.problems: list[str] = []

    def judge(self, item: Item, answer: Answer) -> None:
        """Decide what an answer is."""
        row = item.current
        self.counts["fetched"] += 1
        self.counts["bytes"] += answer.length
        if answer.error == "too-large":
            # The user's limit, not the server's fault: the crawl is as whole as it was asked to be.
            self._frontier.finish(item, "skipped", answer.status or 200, error=answer.error)
        elif answer.error:
            self.fail(item, answer.error, answer.status)
        elif answer.status == 304 and row is not None:
            self._not_modified(item, answer, row)
        elif answer.status in REDIRECTS and answer.header("location"):
            self._redirected(item, answer)
        elif answer.status in (200, 203):
            self._succeeded(item, answer)
        elif answer.status in (204, 205):
            self._frontier.finish(item, "empty", answer.status)
        elif answer.status in _GONE:
            if not self._asked_plainly(item):
                self._frontier.finish(item, "gone" if item.kind == "again" else "missing", answer.status)
        else:
            self.fail(item, f"http-{answer.status}", answer.status)

    def fail(self, item: Item, error: str, status: int = 0) -> None:
        """There is no good answer for a URL."""
        if not self._asked_plainly(item):
            self.counts["failed"] += 1
            self._frontier.finish(item, "failed", status, error=error)

    def _asked_plainly(self, item: Item) -> bool:
        """A link to http that was asked for over https, in vain, is asked for as it was written."""
        if not item.plain:
            return False
        item.plain, item.attempt = False, 1
        item.url, item.asked = f"http:{key_of(item.url)}", ""
        self._again(item)
        return True

    @property
    def pending(self) -> int:
        """Answers whose documents are still being read."""
        return self._reader.pending

    def listen(self) -> None:
        """Decide on what has been read meanwhile."""
        self._reader.listen()

    def settle(self) -> None:
        """Decide on everything that is still being read."""
        self._reader.settle()

    def _not_modified(self, item: Item, answer: Answer, row: CurrentRow) -> None:
        content_type = row.declared_type or row.mime_type
        if self._trail.open and is_readable(content_type):
            question = self._question(item, answer, row.sha256, row.declared_type, content_type)
            compare = self._trail.traps.samples(item.url)
            question = question._replace(charset=row.charset, compare=compare)
            self._reader.ask(question, partial(self._remembered, item, answer, row, question))
        else:
            self._unchanged(item, answer, row)

    def _remembered(
        self, item: Item, answer: Answer, row: CurrentRow, question: Question, reading: Reading | None
    ) -> None:
        """Links of a page that has not changed; if nobody knows them any more, they are read from the stored bytes."""
        body = self._stored(host_of(item.url), row) if reading is None and question.body is None else None
        if body is not None:
            question = question._replace(body=body)
            self._reader.ask(question, partial(self._remembered, item, answer, row, question))
            return
        if reading is not None:
            self._trail.follow(item, reading)
        self._unchanged(item, answer, row)

    def _unchanged(self, item: Item, answer: Answer, row: CurrentRow) -> None:
        self.counts["unchanged"] += 1
        self._frontier.finish(item, "unchanged", 200)
        etag, last_modified = answer.header("etag"), answer.header("last-modified")
        if (etag and etag != row.etag) or (last_modified and last_modified != row.last_modified):
            newest = (etag or row.etag, last_modified or row.last_modified)
            self.validators.append((host_of(item.url), arc_of(item.url), *newest))

    def _succeeded(self, item: Item, answer: Answer) -> None:
        content_type = answer.header("content-type")
        part = answer.request.target
        assert part is not None, "pages are always fetched into a file"
        slot = self._shelf.put(answer, part)
        if not is_readable(content_type):
            self._store(item, answer, slot, _NOTHING_READ)
            return
        question = self._question(item, answer, answer.sha256, media_type(content_type), content_type)
        where = {"place": str(part)} if slot is None else {"start": slot.start}
        question = question._replace(compare=self._trail.compares(item))
        self._reader.ask(question._replace(**where), partial(self._understood, item, answer, slot))

    def _understood(self, item: Item, answer: Answer, slot: Slot | None, reading: Reading | None) -> None:
        assert reading is not None, "what has a body is always read"
        if reading.cut:
            self.problems.append(f"{item.url} is too large to be read to its end; links there were not followed.")
        # Links first: a page that the frontier has as done must not lose them if the crawl is killed.
        self._trail.follow(item, reading)
        self._store(item, answer, slot, reading)

    def _store(self, item: Item, answer: Answer, slot: Slot | None, reading: Reading) -> None:
        row = item.current
        declared = media_type(answer.header("content-type"))
        if self._unwanted(declared):
            self._frontier.finish(item, "filtered", answer.status, error="type", size=answer.length)
        elif row and (answer.sha256, declared, reading.charset) == (row.sha256, row.declared_type, row.charset):
            self._unchanged(item, answer, row)
        elif row and self._would_downgrade(item, row):
            self.counts["unchanged"] += 1
            self._frontier.finish(item, "unchanged", answer.status, error="https-kept")
        else:
            self._frontier.finish(item, "stored", answer.status, size=answer.length)
            self._deliver(_capture(item, answer, declared, reading), slot)
            return
        assert answer.request.target is not None
        self._shelf.drop(slot, answer.request.target)

    def _would_downgrade(self, item: Item, row: CurrentRow) -> bool:
        """Plain http never replaces what https brought, unless the start URL itself is http."""
        plain_start = self._owned.get(host_of(item.url)) == "http"
        return item.url.startswith("http:") and row.url.startswith("https:") and not plain_start

    def _unwanted(self, declared: str) -> bool:
        accept, reject = self._options.accept_type, self._options.reject_type
        if any(fnmatchcase(declared, pattern.lower()) for pattern in reject):
            return True
        return bool(accept) and not any(fnmatchcase(declared, pattern.lower()) for pattern in accept)

    def _redirected(self, item: Item, answer: Answer) -> None:
        try:
            target = answer.redirect() or item.url
        except BadURL:
            self.fail(item, "bad-redirect", answer.status)
            return
        written, target = target, self._trail.cleaned(target)
        too_many = item.redirects >= self._options.limits.max_redirect
        if key_of(target) == key_of(item.url) and not too_many:
            # The same page under the other scheme, or a page that wants its cookie back: the key stays, so ask again.
            if target != item.url:
                item.mark = f"from {item.url.partition(':')[0]}"
            item.url, item.redirects, item.plain = target, item.redirects + 1, False
            item.asked = written if written != target else ""
            self._again(item)
            return
        problem = "redirect-limit" if too_many else ""
        if not too_many:
            self._trail.pursue(item, target)
        self._frontier.finish(item, "redirect", answer.status, target=target, error=problem)

    def _question(self, item: Item, answer: Answer, sha256: str, declared: str, content_type: str) -> Question:
        agent = self._agent if self._options.robots else None
        follow = self._may_follow(answer)
        rules = f"{agent or ''} {follow}"
        return Question(item.url, sha256, declared, "", rules, content_type, follow, agent, answer.length)

    def _may_follow(self, answer: Answer) -> bool:
        header = [value for name, value in answer.headers if name.lower() == "x-robots-tag"]
        return not (self._options.robots and header and nofollow_header(header, self._agent))


def _capture(item: Item, answer: Answer, declared: str, reading: Reading) -> Capture:
    return Capture(
        row=item.id,
        url=item.url,
        domain=host_of(item.url),
        arc=arc_of(item.url),
        status=answer.status,
        http_version=answer.http_version,
        headers=tuple(answer.headers),
        declared_type=declared,
        charset=reading.charset,
        length=answer.length,
        sha256=answer.sha256,
        title=reading.title,
        received=answer.received.timestamp(),
        replaces=item.current.file if item.current else None,
    )
