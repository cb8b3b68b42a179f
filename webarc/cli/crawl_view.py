"""How a running crawl looks: a live line per domain on a terminal, plain lines elsewhere, JSON for machines."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING

from webarc.cli.output import one_line, say_error
from webarc.config.units import rough_size

if TYPE_CHECKING:
    from webarc.cli.context import Context
    from webarc.crawler.job import Job, Progress, Result

_PLAIN_EVERY = 10.0
_WIDE = 140
_ERRORS = {4: "NetworkProblem", 6: "AuthenticationProblem", 8: "ServerAnswer", 12: "Locked", 13: "Stopped"}
_COLUMNS = ("fetched", "new", "changed", "unchanged", "gone", "moved", "failed", "filtered", "skipped")


def view_for(context: Context, *, as_json: bool, news_code: int = 0) -> View:
    """The view that fits where the output goes; `news_code` is how the command ends if it found something new."""
    if as_json:
        return JsonView(context, news_code)
    if context.quiet:
        return QuietView(context)
    if sys.stderr.isatty():
        return TerminalView(context)
    return PlainView(context)


class View:
    """What every view keeps: the results, in the order in which they come."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.results: list[Result] = []
        self._began: dict[str, float] = {}

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, text: str) -> None:
        """A remark between the lines."""
        self.context.note(text)

    def started(self, job: Job) -> None:
        """An instance has begun."""
        self._began[job.domain] = monotonic()

    def moved(self, progress: Progress) -> None:
        """An instance reports where it stands."""

    def ended(self, result: Result) -> None:
        """An instance has ended."""
        self.results.append(result)

    def line(self, progress: Progress) -> str:
        """Where a domain stands, in one line."""
        seconds = max(monotonic() - self._began.get(progress.domain, monotonic()), 0.001)
        rate = f"{progress.pages / seconds:.0f}/s"
        errors = f", {progress.errors} failed" if progress.errors else ""
        done = f"{progress.pages} fetched, {rough_size(progress.bytes)}, {rate}, {progress.queue} waiting{errors}"
        return f"{progress.domain}: {done}"


class JsonView(View):
    """One object a line on standard output."""

    def __init__(self, context: Context, news_code: int) -> None:
        super().__init__(context)
        self._news_code = news_code

    def ended(self, result: Result) -> None:
        """Print the result of a domain."""
        super().ended(result)
        code = result.exit_code or (self._news_code if result.has_news() else 0)
        self.context.echo(json.dumps(result.as_json() | {"exitCode": code}))
        if result.exit_code:
            name = result.error_class or _ERRORS.get(result.exit_code, "WebarcError")
            say_error(name, "; ".join(remarks(result)) or f"{result.domain}: {result.reason}", as_json=True)

    def say(self, text: str) -> None:
        """Remarks are not for machines."""


class QuietView(View):
    """Nothing but what is wrong, a line on standard error for each."""

    def ended(self, result: Result) -> None:
        """Say what went wrong with a domain."""
        super().ended(result)
        wrong = troubles(result)
        if result.exit_code and not wrong:
            wrong = [f"{result.domain}: the crawl ended with exit code {result.exit_code}."]
        for line in wrong:
            say_error("", line)


class PlainView(View):
    """Plain lines, not too many of them, and the table at the end."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._said: dict[str, float] = {}

    def started(self, job: Job) -> None:
        """Say which domain is crawled."""
        super().started(job)
        self._said[job.domain] = monotonic()
        self.say(f"{job.domain}: crawling")
        # What the table needs is loaded while others work, not when everybody waits for it.
        import_module("rich.table")
        import_module("rich.console")

    def moved(self, progress: Progress) -> None:
        """Say now and then where a domain stands."""
        if monotonic() - self._said.get(progress.domain, 0.0) >= _PLAIN_EVERY:
            self._said[progress.domain] = monotonic()
            self.say(self.line(progress))

    def __exit__(self, *_: object) -> None:
        show_table(self.context, self.results)


class TerminalView(View):
    """A live line per domain."""

    def __enter__(self) -> View:
        from rich.console import Console
        from rich.live import Live

        self._lines: dict[str, str] = {}
        self._live = Live(console=Console(stderr=True), refresh_per_second=4, transient=True)
        self._live.__enter__()
        return self

    def started(self, job: Job) -> None:
        """A new line."""
        super().started(job)
        self._lines[job.domain] = f"{job.domain}: starting"
        self._draw()

    def moved(self, progress: Progress) -> None:
        """Change the domain's line."""
        self._lines[progress.domain] = self.line(progress)
        self._draw()

    def ended(self, result: Result) -> None:
        """The domain's line goes, the table will have it."""
        super().ended(result)
        self._lines.pop(result.domain, None)
        self._draw()

    def say(self, text: str) -> None:
        """A remark above the live lines."""
        self._live.console.print(text, markup=False, highlight=False)

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)
        show_table(self.context, self.results)

    def _draw(self) -> None:
        from rich.text import Text

        self._live.update(Text("\n".join(self._lines.values()), overflow="ellipsis", no_wrap=True))


def show_table(context: Context, results: list[Result]) -> None:
    """The figures of every domain, then what needs attention; a narrow terminal gets no columns of zeros."""
    from rich.table import Table

    if not results:
        return
    wide = not sys.stdout.isatty() or get_terminal_size().columns >= _WIDE
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("domain", overflow="fold")
    columns = [name for name in _COLUMNS if wide or any(result.counts[name] for result in results)]
    for name in (*columns, "size", "seconds"):
        table.add_column(name, justify="right")
    if wide:
        table.add_column("commitTag")
    for result in sorted(results, key=lambda item: item.domain):
        counts = result.counts
        cells = [str(counts[name]) for name in columns]
        tag = [result.commit_tag or "-"] if wide else []
        table.add_row(result.domain, *cells, rough_size(counts["bytes"]), str(counts["seconds"]), *tag)
    context.print_table(table)
    for result in results:
        if result.commit_tag and not wide:
            context.echo(f"{result.domain}: committed as {result.commit_tag}")
        for remark in remarks(result):
            context.echo(one_line(remark))


def remarks(result: Result) -> list[str]:
    """What the table cannot say about a domain."""
    from webarc.archive.remark import Remark

    others: list[str] = [each for each in result.warnings if isinstance(each, Remark)]
    others += [f"also committed {tag}" for tag in result.also]
    return [*troubles(result), *(f"{result.domain}: {other}" for other in others)]


def troubles(result: Result) -> list[str]:
    """What did not go as it should."""
    from webarc.archive.remark import Remark

    said = [f"{result.domain}: {result.error}"] if result.error else []
    if result.reason and not result.error:
        said.append(f"{result.domain}: {_why(result)}")
    if result.held:
        said.append(
            f"{result.domain}: {result.held} removals are held back as unusually many; they happen if the next crawl "
            "finds the same, or now with --allow-removals."
        )
    said += [f"{result.domain}: {failure}" for failure in result.failures]
    warnings = [each for each in result.warnings if not isinstance(each, Remark)]
    return [*said, *(f"{result.domain}: {warning}" for warning in warnings)]


def _why(result: Result) -> str:
    reason = result.reason
    if reason == "failures":
        removed = result.counts["gone"] + result.counts["moved"]
        kept = "only those that are gone or moved for good were removed" if removed else "nothing of them was removed"
        return f"not complete, some pages could not be had; {kept}, --report FILE.json tells why."
    if reason == "stopped":
        return "stopped before the end; what was whole is committed and nothing was removed."
    if reason == "trap":
        return "not complete, it met URLs without end and did not follow those; nothing was removed."
    if reason == "wget":
        return "not complete, wget could not fetch everything; nothing was removed."
    return f"stopped by --{reason}; what was fetched is committed and nothing was removed."
