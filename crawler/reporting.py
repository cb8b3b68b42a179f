"""What a crawl says about itself: the files of its report, the commit's figures, the table's row, the exit code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from webarc.archive import times
from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.metadata import commit_tag
from webarc.archive.reports import CrawlRecord, crawl_paths, render_crawl, write_urls
from webarc.archive.urls import host_of
from webarc.crawler.capture import Known, Order, Verdicts
from webarc.crawler.claims import is_claimed
from webarc.crawler.ending import COMPLETED, ENDLESS, Ending
from webarc.crawler.frontier import HOP, Frontier, Row
from webarc.crawler.job import COUNTS, Job, Result, sentence
from webarc.crawler.removal import Removals
from webarc.crawler.traps import Trap
from webarc.errors import AuthenticationProblem, Locked, NetworkProblem, ServerAnswer, Stopped, worst

_MOST_SAID = 3
_UNAUTHORIZED = 401


class Reporter:
    """Writes the report of one crawl."""

    def __init__(self, job: Job, definition: str, frontier: Frontier, ending: Ending, verdicts: Verdicts) -> None:
        self._job = job
        self._definition = definition
        self._frontier = frontier
        self._ending = ending
        self._verdicts = verdicts
        self._complete = ending.complete()
        self._dead_ends: set[str] = set()
        self._gone_starts: set[str] = set()
        self._landings: list[str] = []
        self._figures = self._per_domain()
        self._held = 0
        self._left_out = False

    def answered(self, domain: str) -> bool:
        """Whether a server answered at all for this domain."""
        return self._figures.get(domain, Counter())["answered"] > 0

    def order(self, domain: str, crawl_time: str, staging: Path, held: tuple[str, ...], seconds: float) -> Order:
        """Write the report files of one domain and say what to commit and remove there."""
        options = self._job.options
        removals = self._ending.removals(
            domain, prune=options.prune, complete=self._complete, allow=options.allow_removals
        )
        self._held += len(removals.held)
        counts = self._counts(domain, removals, seconds)
        record = CrawlRecord(
            commit_tag=commit_tag(crawl_time, domain),
            domain=domain,
            crawl_time=crawl_time,
            end_time=times.text(times.now()),
            definition=self._definition,
            complete=self._complete,
            reason=self._reason(),
            options=options.shown() | {"starts": json.dumps(self._job.starts)},
            counts=counts | {COMPLETED: self._ending.completed(domain)},
            held=removals.held or (held if self._ending.limit else ()),
        )
        folder = staging / domain_folder(domain)
        crawl, urls = crawl_paths(self._definition)
        (folder / crawl).parent.mkdir(parents=True, exist_ok=True)
        (folder / crawl).write_bytes(render_crawl(record))
        with (folder / urls).open("wb") as stream:
            write_urls(self._ending.rows(domain, complete=self._complete), stream)
        reports = ((crawl, str(folder / crawl)), (urls, str(folder / urls)))
        return Order(domain, reports, tuple(arc_of(url) for url in removals.now), sentence(counts, self._reason()))

    def found_same(self, domain: str, same: Sequence[Known]) -> None:
        """Captures turned out to be what another crawl had brought meanwhile."""
        self._frontier.found_same(url for url, _ in same)
        figures = self._figures.setdefault(domain, Counter())
        for _, replaces in same:
            figures["changed" if replaces else "new"] -= 1
            figures["unchanged"] += 1

    def left_out(self, domain: str, captures: Sequence[Known]) -> None:
        """Captures were not committed, as another command was at work in their domain."""
        self._frontier.leave_out(url for url, _ in captures)
        self._left_out = True
        figures = self._figures.setdefault(domain, Counter())
        for _, replaces in captures:
            figures["changed" if replaces else "new"] -= 1
            figures["failed"] += 1

    def conclude(self, result: Result, seconds: float) -> None:
        """Fill in the result of the whole instance."""
        totals: Counter[str] = Counter()
        for figures in self._figures.values():
            totals.update(figures)
        totals["seconds"] = round(seconds)
        result.counts = {name: totals[name] for name in COUNTS}
        result.complete, result.reason, result.held = self._complete, self._reason(), self._held
        traps = self._ending.traps()
        result.traps = [asdict(trap) for trap in traps]
        result.warnings += [_trap_words(trap) for trap in traps[:_MOST_SAID]] + self._verdicts.problems
        result.exit_code = self._exit_code()
        result.failures = self._failures()
        result.landings = self._landings
        if self._job.report:
            self._write_lines(self._job.report)
            result.urls = self._job.report

    def _reason(self) -> str:
        return self._ending.limit or ("" if self._complete else "failures")

    def _per_domain(self) -> dict[str, Counter[str]]:
        figures: dict[str, Counter[str]] = {}
        for row in self._frontier.rows():
            mine = figures.setdefault(host_of(row.url), Counter())
            mine["answered"] += row.status > 0
            mine["fetched"] += row.outcome != "skipped"
            mine["bytes"] += row.size
            if row.kind == "start" and row.outcome == "redirect" and self._frontier.leads_nowhere(row.url):
                self._dead_ends.add(row.url)
            # A dead link is everyday life, a dead start page is not; that it is gone is counted if it is removed.
            mine["failed"] += row.kind == "start" and row.outcome == "missing"
            if row.kind == "start" and row.outcome == "gone":
                self._gone_starts.add(row.url)
            if self._is_elsewhere(row):
                self._landings.append(row.url)
            if row.outcome in ("unchanged", "failed", "filtered", "skipped"):
                mine[row.outcome] += 1
        figures.setdefault(self._job.domain, Counter())["skipped"] += sum(1 for _ in self._frontier.skips())
        for name, values in (("new", self._verdicts.new), ("changed", self._verdicts.changed)):
            for domain, number in values.items():
                figures.setdefault(domain, Counter())[name] = number
        return figures

    def _is_elsewhere(self, row: Row) -> bool:
        """Whether a start URL leads to this page, and the page belongs to another instance of the run."""
        domain = host_of(row.url)
        if row.kind not in ("start", f"{HOP}start") or domain in self._ending.domains:
            return False
        # The other instance may have a password that this one has not.
        if not 200 <= row.status < 300 and row.status != _UNAUTHORIZED:
            return False
        return domain in self._job.owned_elsewhere or is_claimed(self._job.claims, domain)

    def _counts(self, domain: str, removals: Removals, seconds: float) -> dict[str, int]:
        figures = self._figures.setdefault(domain, Counter())
        moved = set(self._ending.moved(domain))
        figures["moved"] = sum(url in moved for url in removals.now)
        figures["gone"] = len(removals.now) - figures["moved"]
        stay = self._gone_starts.difference(removals.now)
        figures["failed"] += sum(host_of(url) == domain for url in stay)
        figures["seconds"] = round(seconds)
        return {name: figures[name] for name in COUNTS}

    def _exit_code(self) -> int:
        codes = [Stopped.exit_code] if self._ending.limit or self._held else []
        codes += [ServerAnswer.exit_code] if self._dead_ends else []
        codes += [Locked.exit_code] if self._left_out else []
        codes += [_code(row) for row in self._frontier.troubles() if host_of(row.url) in self._ending.domains]
        return worst(codes)

    def _failures(self) -> list[str]:
        """The first URLs that explain the exit code, start pages first."""
        rows = [row for row in self._frontier.troubles() if _code(row) and host_of(row.url) in self._ending.domains]
        rows.sort(key=lambda row: row.kind != "start")
        said = [f"{row.url} {_words(row)}" for row in rows[:_MOST_SAID]]
        said += [f"{url} redirects, but leads to no page" for url in sorted(self._dead_ends)]
        return said + ([f"and {len(rows) - _MOST_SAID} more, see --report"] if len(rows) > _MOST_SAID else [])

    def _write_lines(self, file: Path) -> None:
        with file.open("w", encoding="utf-8") as stream:
            for row in self._frontier.rows():
                stream.write(json.dumps(_line(row)) + "\n")
            for url in self._frontier.unfinished():
                stream.write(
                    json.dumps({"url": url, "outcome": "skipped", "reason": self._reason() or "stopped"}) + "\n"
                )
            for url, reason in self._frontier.skips():
                stream.write(json.dumps({"url": url, "outcome": "skipped", "reason": reason}) + "\n")
            for url in self._ending.unknown_names:
                stream.write(json.dumps({"url": url, "outcome": "skipped", "reason": "unknown-name"}) + "\n")


def _line(row: Row) -> dict[str, object]:
    line: dict[str, object] = {"url": row.url, "outcome": row.outcome, "status": row.status, "depth": row.depth}
    reason = row.error or (f"http-{row.status}" if row.outcome in ("missing", "gone", "failed") else "")
    for name, value in (("reason", reason), ("target", row.target), ("mark", row.mark), ("size", row.size)):
        if value:
            line[name] = value
    return line


def _code(row: Row) -> int:
    """What one URL adds to the exit code: a missing link is everyday life, a missing start page is not."""
    start = row.kind == "start"
    if row.outcome in ("missing", "gone"):
        return ServerAnswer.exit_code if start else 0
    if row.outcome == "skipped" and row.error == "robots":
        return ServerAnswer.exit_code if start else 0
    if row.outcome == "skipped" and row.error == "too-large":
        return Stopped.exit_code if start else 0
    if row.outcome != "failed":
        return 0
    if row.status in (401, 407):
        return AuthenticationProblem.exit_code if start else 0
    if row.error.startswith("robots-") or row.error in ENDLESS:
        return ServerAnswer.exit_code
    if row.error.startswith("http-"):
        return ServerAnswer.exit_code if start or row.status >= 500 else 0
    return NetworkProblem.exit_code


def _words(row: Row) -> str:
    if row.error == "robots":
        return "is forbidden by robots.txt"
    if row.error == "too-large":
        return "is larger than --max-size"
    if row.outcome in ("missing", "gone"):
        return f"answered {row.status}"
    if row.error in ENDLESS:
        return f"redirects, but leads to no page ({row.error})"
    return f"failed ({row.error})"


def _trap_words(trap: Trap) -> str:
    return (
        f"{trap.pattern} goes on without end: {trap.followed} URLs were followed, their pages say the same and lead to "
        f"nothing else, {trap.refused} more were not; --no-trap-detection follows them, --exclude keeps them out."
    )
