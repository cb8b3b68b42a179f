"""The arguments of a scheduled crawl: checked when it is added, and its files found again wherever the archive is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from webarc.cli.context import Context
from webarc.errors import UsageProblem

if TYPE_CHECKING:
    from webarc.archive.store import Archive
    from webarc.sql.state import Schedule


@dataclass(frozen=True, slots=True)
class Placed:
    """A schedule with its files where they are now, and those that are nowhere."""

    schedule: Schedule
    missing: tuple[str, ...]


class Surroundings:
    """What the scheduler asks about an archive and its schedules."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def found(self, schedule: Schedule) -> Schedule:
        """The schedule with its files where they are now."""
        found = placed(schedule, self._archive.root)
        if found.missing:
            raise UsageProblem(f"{found.missing[0]} is missing; put it back, or add the schedule anew.")
        return found.schedule

    def domains(self, schedule: Schedule) -> frozenset[str]:
        """The domains of its start URLs."""
        from webarc.archive.urls import host_of

        return frozenset(host_of(url) for url in _urls(_given(schedule.argv)["sources"]))

    def busy(self, domains: frozenset[str]) -> str:
        """Who crawls all these domains; empty if one of them is free."""
        from webarc.archive.holders import Held, holders

        crawls = {each.domain: each for each in holders(self._archive.locks, Held()) if each.purpose == "crawl"}
        if not domains or not domains <= crawls.keys():
            return ""
        first = min(domains)
        more = f" and {len(domains) - 1} more" if len(domains) > 1 else ""
        return f"{first} is being crawled by {crawls[first].text()}{more}"


def placed(schedule: Schedule, root: Path) -> Placed:
    """A schedule whose files are looked for beside the archive, where it is now, and then where they were."""
    places: dict[str, str] = {}
    missing = []
    try:
        files = list(_kept_files(schedule.argv))
    except UsageProblem:
        files = []  # it cannot run, which is told when it is to
    for kind, place in files:
        there = [os.path.normpath(root / os.path.relpath(place, schedule.archive))] if schedule.archive else []
        found = next((each for each in (*there, place) if _is_there(kind, each)), None)
        places[place] = found or place
        missing += [] if found else [place]
    argv = tuple(_replaced(argument, places) for argument in schedule.argv)
    return Placed(replace(schedule, argv=argv), tuple(missing))


def _kept_files(argv: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The files among the arguments that were stored, all by their full path."""
    given = _given(argv)
    yield from (("source", source) for source in given["sources"] if source.startswith("/"))
    for name in ("report", "crawl_load_cookies"):
        if given.get(name):
            yield name, str(given[name])


def _given(argv: tuple[str, ...]) -> dict[str, Any]:
    """What a schedule's arguments mean, which another webarc may have taken."""
    try:
        return _parsed(argv).params
    except click.ClickException as problem:
        reason = problem.format_message().rstrip(".")
        raise UsageProblem(f"its arguments are not those of a crawl ({reason}); add it anew.") from None


def _is_there(kind: str, place: str) -> bool:
    """A report need not be there, only its folder."""
    return Path(place).parent.is_dir() if kind == "report" else Path(place).exists()


def stored(context: Context, arguments: tuple[str, ...]) -> list[str]:
    """The arguments of the crawl, parsed to see that they are right, with every file by its full path."""
    from webarc.cli.crawl_options import overrides
    from webarc.filters.catalog import chosen

    given = _parsed(arguments).params
    settings = context.settings(overrides(given))
    chosen(settings["filters.use"], given["add_filters"], given["drop_filters"], settings["filters.modules"])
    _refuse(given)
    places = {str(value): str(Path(value).absolute()) for value in _paths(given)}
    found = [_replaced(argument, places) for argument in arguments]
    _urls(_parsed(tuple(found)).params["sources"], context.warn)
    return found


def _parsed(arguments: tuple[str, ...]) -> click.Context:
    """What `webarc crawl` makes of its arguments; raises click's own errors."""
    from webarc.cli.crawl import crawl

    # click remembers the names of the help option that a command is first asked with.
    return crawl.make_context("webarc crawl", list(arguments), help_option_names=["-h", "--help"])


def _refuse(given: dict[str, Any]) -> None:
    """What makes no sense without a person, and secrets, which would end up in a file of the archive."""
    from webarc.archive.urls import credentials_in
    from webarc.config.kinds import is_private_header
    from webarc.crawler.sources import read_sources

    if "-" in given["sources"]:
        raise UsageProblem("a scheduled crawl has no standard input; give URLs or a file instead of '-'.")
    for option in ("interval", "dry_run"):
        if given.get(f"crawl_{option}") or given.get(option):
            raise UsageProblem(f"--{option.replace('_', '-')} makes no sense in a schedule; leave it out.")
    written = [source for source in given["sources"] if not Path(source).exists()]
    starts = read_sources(written, StringIO()).urls if written else []
    secret = given.get("crawl_http_password") or credentials_in(given.get("crawl_proxy") or "")
    if secret or any(start.user or start.password for start in starts):
        raise UsageProblem("a schedule keeps no passwords; set crawl.http_user and crawl.http_password in the config.")
    for header in given["crawl_headers"]:
        if is_private_header(header):
            name = header.partition(":")[0].strip()
            raise UsageProblem(
                f"a schedule keeps no secrets such as the header {name}; set crawl.headers in the config."
            )


def _paths(given: dict[str, Any]) -> Iterator[str | Path]:
    """The files among the arguments of a crawl."""
    yield from (source for source in given["sources"] if Path(source).exists())
    for name in ("report", "crawl_load_cookies"):
        if given.get(name):
            yield given[name]


def _replaced(argument: str, places: Mapping[str, str]) -> str:
    """An argument with another place of its file, as in `urls.txt` and `--report=last.json`."""
    option, equals, value = argument.partition("=")
    if argument in places:
        return places[argument]
    if equals and argument.startswith("-") and value in places:
        return f"{option}={places[value]}"
    return argument


def _urls(sources: tuple[str, ...], warn: Callable[[str], None] = lambda _: None) -> list[str]:
    """The start URLs in the sources of a crawl; when it is added, what is wrong with a file is said."""
    from webarc.crawler.sources import read_sources

    found = read_sources(sources, StringIO())
    for problem in found.problems:
        warn(problem)
    return [start.url for start in found.urls]
