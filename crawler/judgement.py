"""What an answer means: a version, nothing new, a redirect, a page that is missing, a failure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from time import monotonic

from webarc.archive.layout import arc_of
from webarc.archive.urls import host_of, key_of
from webarc.crawler.capture import Capture
from webarc.crawler.channel import Disordered
from webarc.crawler.errands import REDIRECTS
from webarc.crawler.exchange import Answer
from webarc.crawler.frontier import HOP, Frontier, Item
from webarc.crawler.keeping import KeeperLine
from webarc.crawler.options import CrawlOptions
from webarc.crawler.reader import Question, ReaderLine
from webarc.crawler.reading import LARGEST_READ, Reading, is_readable, media_type
from webarc.crawler.ring import Slot
from webarc.crawler.robots import nofollow_header, product_token
from webarc.crawler.shelf import Shelf
from webarc.crawler.trail import Trail
from webarc.errors import BadURL
from webarc.sql.rows import CurrentRow

_GONE = (404, 410)


class Judgement:
    """Judges answers one by one; what it decides is in the frontier, what is worth keeping goes to the archive side.

    Documents are read by another process meanwhile: answers are decided on in `listen` or `settle`. Nothing that is
    called from there waits: questions and captures are queued, and while too many are, `has_room` says so.
    """

    def __init__(
        self,
        options: CrawlOptions,
        frontier: Frontier,
        trail: Trail,
        owned: dict[str, str],
        *,
        reader: ReaderLine,
        line: KeeperLine,
        shelf: Shelf,
        cookies: Callable[[str], int],
        stored: Callable[[str, CurrentRow], tuple[bytes, dict[str, str]] | None],
        again: Callable[[Item], None],
    ) -> None:
        self._options = options
        self._frontier = frontier
        self._trail = trail
        self._owned = owned
        self._reader = reader
        self._shelf = shelf
        self._cookies = cookies
        self._stored = stored
        self._line = line
        self._again = again
        self._agent = product_token(options.user_agent)
        self._forgotten: deque[tuple[Item, Answer, CurrentRow, Question]] = deque()
        self.counts: Counter[str] = Counter()
        self.validators: list[tuple[str, str, str, str]] = []
        self.problems: list[str] = []

    def judge(self, item: Item, answer: Answer) -> None:
        """Decide what an answer is."""
        row = item.current
        self.counts["fetched"] += 1
        self.counts["bytes"] += answer.length
        if item.kind.startswith(HOP):
            self._passed_through(item, answer)
        elif answer.error == "too-large":
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
            if not self._asked_anew(item) and not self._asked_plainly(item):
                self._frontier.finish(item, "gone" if item.kind == "again" else "missing", answer.status)
        elif not self._asked_anew(item):
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
        return self._reader.pending + len(self._forgotten)

    @property
    def has_room(self) -> bool:
        """Whether more may be asked for: the processes behind this one are not too far behind."""
        return self._reader.has_room and not self._forgotten and self._line.has_room and self._shelf.has_room

    def listen(self, *, at_once: bool = True) -> bool:
        """Decide on what has been read meanwhile; says whether there was anything."""
        self._line.listen(at_once=at_once)
        heard = self._reader.listen()
        while self._forgotten and self._reader.has_room:
            self._read_again(*self._forgotten.popleft())
        return heard

    def wait(self, seconds: float) -> None:
        """Wait until something has been read, at most so long."""
        self._reader.wait(seconds)

    def settle(self, until: float | None = None) -> None:
        """Decide on everything that is still being read, until then at the longest; the rest is dropped."""
        while self.pending and (until is None or monotonic() < until):
            self._reader.settle(until)
            self.listen()
        self._forgotten.clear()
        self._reader.drop()

    def _not_modified(self, item: Item, answer: Answer, row: CurrentRow) -> None:
        content_type = row.declared_type or row.mime_type
        if self._trail.open:
            question = self._question(item, answer, row.sha256, row.declared_type, content_type, row.charset)
            if is_readable(content_type) and self._trail.traps.samples(item.url):
                question = question._replace(compare=True)
            self._reader.ask(question, partial(self._remembered, item, answer, row, question))
        else:
            self._unchanged(item, answer, row)

    def _remembered(
        self, item: Item, answer: Answer, row: CurrentRow, question: Question, reading: Reading | None
    ) -> None:
        """Links of a page that has not changed; if nobody knows them any more, they are read from the stored bytes."""
        if reading is None:
            if question.body is not None:
                raise Disordered(f"{item.url} was not read although its bytes are there; please report this.")
            self._forgotten.append((item, answer, row, question))
            return
        self._trail.follow(item, reading)
        self._unchanged(item, answer, row)

    def _read_again(self, item: Item, answer: Answer, row: CurrentRow, question: Question) -> None:
        stored = self._stored(host_of(item.url), row)
        if stored is None:
            self._unchanged(item, answer, row)
            return
        body, headers = stored
        question = question._replace(
            body=body[:LARGEST_READ],
            length=len(body),
            content_type=headers.get("content-type") or question.content_type,
            link=headers.get("link") or question.link,
        )
        self._reader.ask(question, partial(self._remembered, item, answer, row, question))

    def _unchanged(self, item: Item, answer: Answer, row: CurrentRow) -> None:
        self.counts["unchanged"] += 1
        self._frontier.finish(item, "unchanged", 200)
        etag, last_modified = answer.fields.get("etag", ""), answer.fields.get("last-modified", "")
        if (etag and etag != row.etag) or (last_modified and last_modified != row.last_modified):
            newest = (etag or row.etag, last_modified or row.last_modified)
            self.validators.append((host_of(item.url), arc_of(item.url), *newest))

    def _succeeded(self, item: Item, answer: Answer) -> None:
        content_type = answer.header("content-type")
        part = answer.request.target
        assert part is not None, "pages are always fetched into a file"
        slot = self._shelf.put(answer, part)
        question = self._question(item, answer, answer.sha256, media_type(content_type), content_type)
        if not is_readable(content_type):
            # Its headers may name something nevertheless; that they do not is remembered, too, for an answer of 304.
            question = question._replace(body=b"", length=0)
        elif slot is None:
            question = question._replace(place=str(part), compare=self._trail.compares(item))
        else:
            question = question._replace(start=slot.start, compare=self._trail.compares(item))
        self._reader.ask(question, partial(self._understood, item, answer, slot))

    def _understood(self, item: Item, answer: Answer, slot: Slot | None, reading: Reading | None) -> None:
        if reading is None:
            raise Disordered(f"{item.url} was not read although its bytes are there; please report this.")
        if reading.cut:
            self.problems.append(
                f"{item.url} is too large or too broken to be read to its end; links there were not followed."
            )
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
            self._line.keep(_capture(item, answer, declared, reading), slot)
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

    def _passed_through(self, item: Item, answer: Answer) -> None:
        """A URL outside the crawl was asked for only to see whether it leads back."""
        if answer.status in REDIRECTS and answer.header("location"):
            self._redirected(item, answer)
        elif answer.error and answer.error != "too-large":
            self.fail(item, answer.error, answer.status)
        else:
            reason = self._trail.refusal(item.url, item.kind == f"{HOP}requisite") or "scope"
            self._frontier.finish(item, "skipped", answer.status, error=reason)

    def _asked_anew(self, item: Item) -> bool:
        """A redirect led back here while this was being asked for; with the cookies of now it may be a page."""
        returned, item.returned = item.returned, 0
        if not returned or returned > self._options.limits.max_redirect:
            return False
        if self._cookies(item.url) == item.cookies:
            return False
        item.redirects, item.attempt = returned, 1
        self._again(item)
        return True

    def _redirected(self, item: Item, answer: Answer) -> None:
        try:
            target = answer.redirect() or item.url
        except BadURL:
            self.fail(item, "bad-redirect", answer.status)
            return
        written, target = target, self._trail.cleaned(target)
        if item.redirects >= self._options.limits.max_redirect:
            if not self._asked_anew(item):
                self._lead_nowhere(item, answer, target, "redirect-limit")
        elif key_of(target) == key_of(item.url):
            self._redirected_to_itself(item, answer, target, written)
        else:
            cookie = "set-cookie" in answer.fields and self._cookies(item.url) != item.cookies
            self._trail.pursue(item, target, cookie=cookie)
            if not self._asked_anew(item):
                self._frontier.finish(item, "redirect", answer.status, target=target)

    def _redirected_to_itself(self, item: Item, answer: Answer, target: str, written: str) -> None:
        """The same page under the other scheme, or a page that wants its cookie back: the key stays, so ask again.

        A page that looks up the visitor, not a cookie, gets one more chance. Parameters that are taken out of URLs are
        asked for as the server wrote them.
        """
        asked, now = item.turned or {}, item.asked or item.url
        item.turned = asked
        chance = written == now and now not in asked
        asked[now] = item.cookies
        if asked.get(written) == self._cookies(target) and not chance:
            self._lead_nowhere(item, answer, target, "redirect-loop")
            return
        if target != item.url:
            item.mark = f"from {item.url.partition(':')[0]}"
        item.url, item.redirects, item.plain = target, item.redirects + 1, False
        item.asked = written if written != target else ""
        self._again(item)

    def _lead_nowhere(self, item: Item, answer: Answer, target: str, problem: str) -> None:
        self.counts["failed"] += 1
        self._frontier.finish(item, "failed", answer.status, target=target, error=problem)

    def _question(
        self, item: Item, answer: Answer, sha256: str, declared: str, content_type: str, charset: str = ""
    ) -> Question:
        agent = self._agent if self._options.robots else None
        follow = self._may_follow(answer)
        rules = f"{agent or ''} {follow}"
        question = Question(item.url, sha256, declared, charset, rules, content_type, follow, agent, answer.length)
        link = answer.fields.get("link")
        return question._replace(link=link) if link else question

    def _may_follow(self, answer: Answer) -> bool:
        if "x-robots-tag" not in answer.fields or not self._options.robots:
            return True
        header = [value for name, value in answer.headers if name.lower() == "x-robots-tag"]
        return not nofollow_header(header, self._agent)


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
