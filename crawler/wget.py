"""`--engine wget`: the external tool of the specification fetches, the rest of the pipeline stays the same.

wget writes what it received, headers included, to a WARC file; from there every response goes through the same
judgement as our own fetches. Scope, robots, waiting and retries are wget's own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from shutil import which
from typing import Any

from webarc.archive import times
from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.urls import canonical, host_of
from webarc.crawler.capture import PART
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.frontier import Frontier, Item
from webarc.crawler.job import Job
from webarc.crawler.judgement import Judgement
from webarc.errors import BadURL, StorageProblem, UsageProblem

_FINE = (0, 8)
_CHUNK = 1 << 16
_SCOPES = ("host", "page")


def run_wget(
    job: Job,
    frontier: Frontier,
    judgement: Judgement,
    staging: Path,
    look_up: Callable[[Item], None],
    stop: Callable[[], bool],
) -> str:
    """Let wget crawl and judge what it brought; returns why the crawl is not whole, or an empty text."""
    work = staging / ".webarc" / "wget"
    work.mkdir(parents=True)
    reason = _fetch(_command(job), work, stop)
    for url, status, version, headers, stream in _responses(work / "wget.warc"):
        frontier.add(url, 0, "start" if url in job.starts else "link")
        for item in frontier.take(1, None):
            look_up(item)
            judgement.judge(item, _answer(url, status, version, headers, stream, staging))
    for url in job.starts:
        if frontier.add(url, 0, "start"):
            for item in frontier.take(1, None):
                frontier.finish(item, "failed", error="connection")
    return reason


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
    depth = "inf" if options.depth is None else str(options.depth)
    # wget takes level 0 for no limit at all, so the page alone is a crawl that is not recursive.
    recursion = ["-r", "-l", depth] if options.scope == "host" and options.depth != 0 else []
    command = [program, "--no-config", "-q", *recursion, "--warc-file", "wget", "--no-warc-compression"]
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


def _fetch(command: list[str], work: Path, stop: Callable[[], bool]) -> str:
    process = subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL)
    while True:
        try:
            process.wait(0.5)
            break
        except subprocess.TimeoutExpired:
            if stop():
                process.terminate()
                process.wait()
                return "stopped"
    if process.returncode == 3:
        raise StorageProblem("wget could not write its files; make room in the archive's file system and crawl again.")
    return "" if process.returncode in _FINE else "wget"


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


def _answer(url: str, status: int, version: str, headers: list[tuple[str, str]], stream: Any, staging: Path) -> Answer:
    target = staging / domain_folder(host_of(url)) / arc_of(url) / PART
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, length = sha256(), 0
    with target.open("wb") as file:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            length += len(chunk)
            file.write(chunk)
    return Answer(
        request=Request(url, target),
        url=url,
        status=status,
        http_version=version,
        headers=headers,
        fields={name.lower(): value for name, value in reversed(headers)},
        body=None,
        length=length,
        sha256=digest.hexdigest(),
        error="",
        detail="",
        seconds=0.0,
        received=times.now(),
        address="",
        retry_after=None,
        stored=True,
    )
