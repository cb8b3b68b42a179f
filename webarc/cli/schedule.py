"""`webarc schedule`: crawls that run again and again at fixed times."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from webarc.cli.context import Context, command
from webarc.cli.output import json_line, rows
from webarc.errors import UsageProblem

if TYPE_CHECKING:
    from webarc.sql.state import Schedule, State

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
_ADD_EPILOG = """\b
Examples:
  webarc schedule add nightly --cron "0 3 * * *" --depth 3 /home/me/urls.txt
  webarc schedule add news --every 6h --depth 1 https://example.org/news/
"""


@click.group(epilog="Example: webarc schedule add nightly --cron '0 3 * * *' --depth 3 urls.txt")
def schedule() -> None:
    """Crawl again and again at fixed times."""


@schedule.command(epilog=_ADD_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.option("--cron", metavar="EXPRESSION", help="When to crawl, as five cron fields in local time.")
@click.option("--every", metavar="TIME", help="How often to crawl, as in 6h or 1d.")
@click.argument("crawl_arguments", nargs=-1, type=click.UNPROCESSED, metavar="[CRAWL OPTIONS] SOURCE...")
@command
def add(context: Context, name: str, cron: str | None, every: str | None, crawl_arguments: tuple[str, ...]) -> None:
    """Crawl the sources again and again, under a NAME.

    All options of `webarc crawl` may be given, except those that make no sense without you. Files are remembered with
    their full path and read anew for every crawl.
    """
    from webarc.archive import times
    from webarc.crawler.schedule import CRON, EVERY, checked, following

    if not _NAME.fullmatch(name):
        raise UsageProblem(f"{name!r} cannot be a schedule's name; give NAME first, of letters, digits, '.', '_', '-'.")
    if (cron is None) == (every is None):
        raise UsageProblem("a schedule needs either --cron or --every; give one of them.")
    kind, spec = (CRON, cron or "") if cron is not None else (EVERY, every or "")
    spec = checked(kind, spec)
    argv = _stored(context, crawl_arguments)
    now = times.now()
    due = times.text(following(kind, spec, now))
    with _state(context, create=True) as state:
        state.add(name, kind, spec, argv, times.text(now), due)
    context.echo(f"{name}: first crawl {due} CET, if `webarc schedule run` is running then.")


@schedule.command("list", epilog="Example: webarc schedule list --json")
@_JSON
@command
def list_schedules(context: Context, as_json: bool) -> None:
    """List the schedules with their last and next run; times are CET."""
    with _state(context) as state:
        listed = state.list()
    if as_json:
        for each in listed:
            json_line(_as_json(each))
    elif listed:
        headers = ("name", "when", "next", "last start", "last end", "exit code", "crawl")
        rows(headers, [_row(each) for each in listed])
    else:
        context.note("there is no schedule yet; make one with `webarc schedule add`.")


@schedule.command(epilog="Example: webarc schedule remove nightly")
@click.argument("name")
@command
def remove(context: Context, name: str) -> None:
    """Forget the schedule NAME; what it crawled stays."""
    with _state(context) as state:
        state.remove(name)
    context.note(f"{name}: removed.")


@schedule.command(epilog="Example: webarc schedule run --once")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--once", is_flag=True, help="Run what is due now, then end.")
@click.option("--jobs", metavar="N", help="How many scheduled crawls to run at once. [2]")
@command
def run(context: Context, names: tuple[str, ...], once: bool, jobs: str | None) -> int:
    """Run what is due, in the foreground, until stopped.

    Crawls with a domain in common wait for each other. A crawl that was missed or cut short while nothing ran is made
    up for, once. Ctrl-C or SIGTERM is passed on to the running crawls, which commit what is whole.
    """
    from webarc.crawler.schedule_runner import Runner, alone

    at_once = context.settings({"schedule.jobs": jobs})["schedule.jobs"]
    archive = context.archive()
    with alone(archive.locks / "schedule.lock"), _state(context) as state:
        _check_names(state, names)
        runner = Runner(
            state,
            _program(context, [sys.executable, "-m", "webarc"]),
            archive.log,
            environ=_environ(context),
            at_once=at_once,
            domains_of=_domains,
            say=context.note,
        )
        return runner.run(once=once, names=names)


@schedule.command(epilog="Example: webarc schedule crontab")
@command
def crontab(context: Context) -> None:
    """Print lines for crontab that do the same without `webarc schedule run`.

    They name the archive, the config file and the database in use here. Other settings from the environment are not in
    them, so put those into the config file.
    """
    from webarc.crawler.timetable import crontab as lines

    with _state(context) as state:
        click.echo(lines(state.list(), _printed_program(context), context.archive_path()), nl=False)


@schedule.command(epilog="Example: webarc schedule systemd > ~/.config/systemd/user/webarc.service")
@command
def systemd(context: Context) -> None:
    """Print a systemd unit that runs `webarc schedule run`.

    It names the archive, the config file and the database in use here. Other settings from the environment are not in
    it, so put those into the config file.
    """
    from webarc.crawler.timetable import systemd as unit

    click.echo(unit(_printed_program(context), context.archive().root), nl=False)


@contextmanager
def _state(context: Context, create: bool = False) -> Iterator[State]:
    from webarc.sql.state import State

    state = State(context.archive(create).state_file)
    try:
        yield state
    finally:
        state.close()


def _stored(context: Context, arguments: tuple[str, ...]) -> list[str]:
    """The arguments of the crawl, parsed to see that they are right, with every file by its full path."""
    from webarc.cli.crawl_options import overrides
    from webarc.filters.catalog import chosen

    given = _parsed(arguments).params
    settings = context.settings(overrides(given))
    chosen(settings["filters.use"], given["add_filters"], given["drop_filters"], settings["filters.modules"])
    _refuse(given)
    files = {str(value) for value in _paths(given)}
    stored = [_placed(argument, files) for argument in arguments]
    _urls(_parsed(tuple(stored)).params["sources"], context.warn)
    return stored


def _parsed(arguments: tuple[str, ...]) -> click.Context:
    """What `webarc crawl` makes of its arguments; raises click's own errors."""
    from webarc.cli.crawl import crawl

    return crawl.make_context("webarc crawl", list(arguments))


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


def _placed(argument: str, files: set[str]) -> str:
    """An argument with the full path of its file, as in `urls.txt` and `--report=last.json`."""
    option, equals, value = argument.partition("=")
    if argument in files:
        return str(Path(argument).absolute())
    if equals and argument.startswith("-") and value in files:
        return f"{option}={Path(value).absolute()}"
    return argument


def _urls(sources: tuple[str, ...], warn: Callable[[str], None] = lambda _: None) -> list[str]:
    """The start URLs in the sources of a crawl; when it is added, what is wrong with a file is said."""
    from webarc.crawler.sources import read_sources

    found = read_sources(sources, StringIO())
    for problem in found.problems:
        warn(problem)
    return [start.url for start in found.urls]


def _domains(schedule: Schedule) -> frozenset[str]:
    from webarc.archive.urls import host_of

    return frozenset(host_of(url) for url in _urls(_parsed(schedule.argv).params["sources"]))


def _check_names(state: State, names: tuple[str, ...]) -> None:
    known = {each.name for each in state.list()}
    for name in names:
        if name not in known:
            raise UsageProblem(f"there is no schedule {name!r}; see `webarc schedule list`.")


def _program(context: Context, start: list[str]) -> list[str]:
    """The command before `crawl`, with the archive and config of this one, wherever it is started."""
    from webarc.config.layers import elsewhere

    words = [*start, "--archive", str(context.archive_path())]
    config = elsewhere(context.config_option, os.environ)
    if config:
        words += ["--config", str(config.absolute())]
    return [*words, *(["--strict-config"] if context.strict else [])]


def _printed_program(context: Context) -> list[str]:
    """The command before `crawl` for somebody who starts it without our environment."""
    from webarc.config.database import has_password

    _warn_of_environment(context)
    program = _program(context, _own_program())
    database = _database(context)
    if not database:
        return program
    if not has_password(database):
        return [*program, "--database", database]
    if context.settings().origin("database").startswith(("-", "$")):
        raise UsageProblem("the database URL has a password, which is not printed; set `database` in the config file.")
    return program


def _warn_of_environment(context: Context) -> None:
    """Say which settings of this environment the printed command will not have."""
    settings = context.settings()
    lost = [settings.origin(name) for name in settings if settings.origin(name).startswith("$")]
    for variable in lost:
        if variable not in ("$WEBARC_ARCHIVE", "$WEBARC_DATABASE"):
            context.warn(f"{variable} is not in what is printed; put the setting into the config file.")


def _database(context: Context) -> str | None:
    """The database URL of the settings, with the full path of its file."""
    from webarc.config.database import absolute

    given: str | None = context.settings()["database"]
    return absolute(given, Path.cwd()) if given else None


def _environ(context: Context) -> dict[str, str]:
    """The environment of a crawl; a database URL may hold a password, so it does not stand on a command line."""
    database = _database(context)
    return {**os.environ, **({"WEBARC_DATABASE": database} if database else {})}


def _own_program() -> list[str]:
    """How webarc was started: by its script, or by Python."""
    script = Path(sys.argv[0]).absolute()
    return [str(script)] if script.name == "webarc" and os.access(script, os.X_OK) else [sys.executable, "-m", "webarc"]


def _row(each: Schedule) -> tuple[str, ...]:
    exit_code = "" if each.last_exit is None else str(each.last_exit)
    when = each.spec if each.kind == "cron" else f"every {each.spec}"
    return (
        each.name,
        when,
        each.next_due,
        each.last_start or "never",
        each.last_end or "",
        exit_code,
        shlex.join(each.argv),
    )


def _as_json(each: Schedule) -> dict[str, Any]:
    return {
        "name": each.name,
        each.kind: each.spec,
        "next": each.next_due,
        "lastStart": each.last_start,
        "lastEnd": each.last_end,
        "exitCode": each.last_exit,
        "argv": list(each.argv),
    }
