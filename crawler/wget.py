"""`--engine wget`: the external tool of the specification fetches, the rest of the pipeline stays the same.

wget writes what it received, headers included, to a WARC file; from there every response goes through the same
judgement as our own fetches. Scope, robots, waiting and retries are wget's own, and so are redirects: wget follows them
without our address check (rule 9), though nothing outside the crawl's scope is stored.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import which
from time import monotonic
from typing import Any

from webarc.archive import times
from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.urls import canonical, host_of
from webarc.crawler.capture import PART
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.frontier import Frontier, Item
from webarc.crawler.job import Job
from webarc.crawler.judgement import Judgement
from webarc.crawler.trail import Trail
from webarc.errors import BadURL, StorageProblem, UsageProblem
from webarc.heartbeat import beat

_FINE = (0, 8)
_DISK = 3
_OK = 200
_UNAUTHORIZED = 401
_CHUNK = 1 << 16
_CROWDED = 0.005
_SCOPES = ("host", "page")


class Wget:
    """One crawl by the external tool."""

    def __init__(self, job: Job, staging: Path, stop: Callable[[], bool]) -> None:
        self._job = job
        self._staging = staging
        self._work = staging / ".webarc" / "wget"
        self._stop = stop
        self._began = monotonic()

    def run(self, frontier: Frontier, trail: Trail, judgement: Judgement, look_up: Callable[[Item], None]) -> str:
        """Let wget crawl and judge what it brought; returns why the crawl is not whole, or an empty text."""
        self._work.mkdir(parents=True)
        self._write_secrets()
        reason = self._fetch(_command(self._job))
        answered = self._answered() if self._job.credentials else set()
        for url, status, version, headers, stream in _responses(self._work / "wget.warc"):
            if status == _UNAUTHORIZED and url in answered:
                continue  # it was asked again, with user name and password
            limit = self._limit(judgement)
            if limit:
                judgement.settle()
                return limit
            start = url in self._job.starts
            refusal = None if start else trail.refusal(url, True)
            if refusal:
                frontier.skip(url, refusal)
            elif frontier.add(url, 0, "start" if start else "link"):
                for item in frontier.take(1, None):
                    look_up(item)
                    judgement.judge(item, self._answer(url, status, version, headers, stream))
                    while not judgement.has_room:
                        judgement.wait(_CROWDED)
                        judgement.listen()
        judgement.settle()
        for url in self._job.starts:
            if frontier.add(url, 0, "start"):
                for item in frontier.take(1, None):
                    judgement.fail(item, "connection")
        return reason

    def _answered(self) -> set[str]:
        """What was not refused in the end."""
        return {url for url, status, *_ in _responses(self._work / "wget.warc") if status != _UNAUTHORIZED}

    def _limit(self, judgement: Judgement) -> str:
        options, counts = self._job.options, judgement.counts
        if options.max_pages is not None and counts["fetched"] >= options.max_pages:
            return "max-pages"
        return "quota" if options.quota is not None and counts["bytes"] >= options.quota else ""

    def _write_secrets(self) -> None:
        """User and password go into a file: everybody on the machine can read a command line."""
        user, password = self._job.credentials or ("", "")
        (self._work / "wgetrc").write_text(f"user = {user}\npassword = {password}\n" if user else "")

    def _fetch(self, command: list[str]) -> str:
        process = subprocess.Popen(command, cwd=self._work, stdin=subprocess.DEVNULL)
        longest = self._job.options.max_time
        while process.poll() is None:
            late = longest is not None and monotonic() - self._began >= longest
            if late or self._stop():
                process.kill()  # a request to end is blocked in everything that a crawl starts
                process.wait()
                return "max-time" if late else "stopped"
            beat()  # wget pauses as asked and ends by its own limits
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        if process.returncode == _DISK:
            raise StorageProblem("wget could not write its files; make room in the archive's file system, crawl again.")
        return "" if process.returncode in _FINE else "wget"

    def _answer(self, url: str, status: int, version: str, headers: list[tuple[str, str]], stream: Any) -> Answer:
        target = self._staging / domain_folder(host_of(url)) / arc_of(url) / PART
        digest, length = _saved(stream, target)
        fields = {name.lower(): value for name, value in reversed(headers)}
        error = _problem(fields, length, self._job.options.limits.max_size)
        stored = not error and status == _OK
        if not stored:
            target.unlink()
        return Answer(
            request=Request(url, target),
            url=url,
            status=status,
            http_version=version,
            headers=headers,
            fields=fields,
            body=None,
            length=length,
            sha256=digest,
            error=error,
            detail="",
            seconds=0.0,
            received=times.now(),
            address="",
            retry_after=None,
            stored=stored,
        )


def _saved(stream: Any, target: Path) -> tuple[str, int]:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, length = sha256(), 0
    with target.open("wb") as file:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            length += len(chunk)
            file.write(chunk)
    return digest.hexdigest(), length


def _problem(fields: dict[str, str], length: int, most: int) -> str:
    """What is wrong with a body: wget keeps what it got, even when the server promised more."""
    promised = fields.get("content-length", "")
    if length > most:
        return "too-large"
    if promised.isdigit() and "content-encoding" not in fields and int(promised) != length:
        return "truncated"
    return ""


def _command(job: Job) -> list[str]:
    """The call of wget; names are relative to its folder, since it formats them and stumbles over a % in them."""
    options = job.options
    program = which("wget")
    if program is None:
        raise UsageProblem("--engine wget needs the program wget; install it, or crawl without --engine.")
    if options.scope not in _SCOPES:
        raise UsageProblem(
            f"--engine wget knows the scopes host and page, not {options.scope}; crawl without --engine."
        )
    if options.drop_query:
        raise UsageProblem("--engine wget cannot take parameters out of URLs; crawl without --engine or --drop-query.")
    depth = "inf" if options.depth is None else str(options.depth)
    # wget takes level 0 for no limit at all, so the page alone is a crawl that is not recursive.
    recursion = ["-r", "-l", depth] if options.scope == "host" and options.depth != 0 else []
    command = [program, "--config=wgetrc", "-q", *recursion, "--warc-file", "wget", "--no-warc-compression"]
    command += ["--no-warc-keep-log", "--warc-tempdir", ".", "-P", "files", "--delete-after"]
    command += ["--timeout", str(options.limits.timeout), "--tries", str(options.limits.tries)]
    command += ["--max-redirect", str(options.limits.max_redirect), "-U", options.user_agent, "--no-netrc"]
    command += _more_options(job)
    return [*command, "--", *job.starts]


def _more_options(job: Job) -> Iterator[str]:
    options = job.options
    flags = {
        "-p": options.page_requisites,
        "-np": options.no_parent,
        "--random-wait": options.random_wait,
        "--no-proxy": options.proxy is None,
    }
    yield from (flag for flag, wanted in flags.items() if wanted)
    values: dict[str, object] = {
        "--wait": options.wait,
        "--limit-rate": options.limits.rate,
        "--quota": options.quota,
        "--load-cookies": options.load_cookies,
        "--accept-regex": "|".join(options.include),
        "--reject-regex": "|".join(options.exclude),
    }
    yield from (f"{name}={value}" for name, value in values.items() if value)
    yield from (f"--header={name}: {value}" for name, value in options.headers)
    if not options.robots:
        yield from ("-e", "robots=off")
    if options.proxy:
        yield from ("-e", f"http_proxy={options.proxy}", "-e", f"https_proxy={options.proxy}")


def _responses(file: Path) -> Iterator[tuple[str, int, str, list[tuple[str, str]], Any]]:
    """Every response that wget recorded: URL, status, HTTP version, headers, body as a stream."""
    from warcio.archiveiterator import ArchiveIterator

    if not file.exists():
        return
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type != "response" or record.http_headers is None:
                continue
            try:
                url = canonical(record.rec_headers.get_header("WARC-Target-URI").strip("<>"))
            except BadURL:
                continue
            status = int(record.http_headers.get_statuscode() or 0)
            version = record.http_headers.protocol.partition("/")[2]
            yield url, status, version, list(record.http_headers.headers), record.content_stream()
