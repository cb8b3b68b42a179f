"""A server that answers after 100 ms: what more connections to a host, and more hosts at once, bring."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from bench import contenders
from bench.figures import Report, arguments
from bench.pages import serve

DELAY = 0.1
_PAGES = 300
_HOSTS = 20
HOSTS = [f"127.0.0.{number}" for number in range(1, _HOSTS + 1)]
# Name, how many hosts, options.
CRAWLS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("1 connection", 1, ("--connections", "1")),
    ("8 connections", 1, ("--connections", "8")),
    ("1 host", 1, ("--jobs", "20", "--connections", "2")),
    (f"{_HOSTS} hosts", _HOSTS, ("--jobs", "20", "--connections", "2")),
)


def page(target: str) -> bytes | None:
    """The first page links to all others; each other page to its neighbour and home."""
    if target == "/":
        links = "".join(f'<a href="/{number}.html">{number}</a>\n' for number in range(1, _PAGES))
        return f"<title>start</title>{links}".encode()
    name = target.removeprefix("/").removesuffix(".html")
    if not name.isdigit() or not 0 < int(name) < _PAGES:
        return None
    following = int(name) % (_PAGES - 1) + 1
    return f'<title>page {name}</title><a href="/{following}.html">on</a> <a href="/">home</a>'.encode()


def seconds(urls: list[str], *options: str, program: str | Path = "webarc") -> float:
    """How long webarc takes to crawl these hosts into a new archive."""
    with contenders.workplace() as folder:
        listed = folder / "urls.txt"
        listed.write_text("\n".join(urls))
        return contenders.webarc(listed, folder / "archive", *options, program=program).seconds


def main() -> None:
    """One connection against eight; one host against twenty."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    report = Report("Slow servers", options.json)

    def timed(name: str, count: int, flags: tuple[str, ...]) -> float:
        report.progress(name)
        with serve(page, HOSTS[:count], DELAY) as urls:
            return median(seconds(urls, *flags) for _ in range(options.repeats))

    one, eight, single, many = [timed(*crawl) for crawl in CRAWLS]
    report.add("1 connection", _PAGES / one, "pages/s", note=f"{one:.1f} s")
    report.add("8 connections", _PAGES / eight, "pages/s", note=f"{eight:.1f} s")
    report.add("times as fast", one / eight, target="6 or more")
    report.show(f"one host, {_PAGES} pages, {DELAY * 1000:.0f} ms each")
    report.add("1 host", _PAGES / single, "pages/s", note=f"{single:.1f} s")
    report.add(f"{_HOSTS} hosts", _HOSTS * _PAGES / many, "pages/s", note=f"{many:.1f} s")
    report.add("times as fast", _HOSTS * single / many, target="12 or more")
    report.show(f"{_HOSTS} hosts at once, 2 connections each")


if __name__ == "__main__":
    main()
