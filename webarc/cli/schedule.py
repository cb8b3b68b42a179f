"""`webarc schedule`: crawls that run again and again at fixed times."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webarc.cli.columns import lines
from webarc.cli.context import Context, command
from webarc.cli.output import json_line, one_line
from webarc.errors import UsageProblem

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from webarc.config.settings import Settings
    from webarc.sql.state import State

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# How long to wait, at the end, for a reader of our output that does not read.
_PATIENCE = 2.0
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
# Not from the folder one stands in: it may hold other modules of that name.
_BY_PYTHON = (sys.executable, "-P", "-m", "webarc")
_ADD_EPILOG = """\b
Examples:
  webarc schedule add nightly --cron "0 3 * * *" --depth 3 /home/me/urls.txt
  webarc schedule add news --every 6h --depth 1 https://example.org/news/
"""


class _HandingOn(click.Command):
    """A command that also takes options which are another's, and hands them on."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; `-Uquick` is taken apart, since letters of it would be taken for options of this command."""
        return super().parse_args(ctx, list(_taken_apart(args)))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The options of both."""
        from webarc.cli.crawl import crawl

        return [*super().shell_complete(ctx, incomplete), *crawl.shell_complete(ctx, incomplete)]


def _taken_apart(arguments: list[str]) -> Iterator[str]:
    from webarc.cli.crawl import crawl

    options = (param for param in crawl.params if isinstance(param, click.Option) and not param.is_flag)
    short = {name for option in options for name in option.opts if len(name) == 2}
    for argument in arguments:
        yield from (argument[:2], argument[2:]) if argument[:2] in short and len(argument) > 2 else (argument,)


@click.group(epilog="Example: webarc schedule add nightly --cron '0 3 * * *' --depth 3 urls.txt")
def schedule() -> None:
    """Crawl again and again at fixed times."""


@schedule.command(cls=_HandingOn, epilog=_ADD_EPILOG, context_settings={"ignore_unknown_options": True})
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
    from webarc.cli.schedule_arguments import stored
    from webarc.crawler.schedule import CRON, EVERY, checked, following

    if not _NAME.fullmatch(name):
        raise UsageProblem(f"{name!r} cannot be a schedule's name; give NAME first, of letters, digits, '.', '_', '-'.")
    if (cron is None) == (every is None):
        raise UsageProblem("a schedule needs either --cron or --every; give one of them.")
    kind, spec = (CRON, cron or "") if cron is not None else (EVERY, every or "")
    spec = checked(kind, spec)
    argv = stored(context, crawl_arguments)
    now = times.now()
    due = times.text(following(kind, spec, now))
    with _state(context, create=True) as state:
        state.add(name, kind, spec, argv, times.text(now), due, str(context.archive().root))
    context.tell(f"{name}: first crawl {_shown(kind, due)}, if `webarc schedule run` is running then.")


@schedule.command("list", epilog="Example: webarc schedule list --json")
@_JSON
@command
def list_schedules(context: Context, as_json: bool) -> None:
    """List the schedules with their last and next run.

    Cron expressions are in local time, and so are the times of schedules that have one. Below the table stands what
    there is to say of some: that a run was skipped, and why, or that a file is missing.
    """
    from webarc.cli.schedule_arguments import placed
    from webarc.cli.schedule_view import COLUMNS, as_object, cells, remarks

    with _state(context) as state:
        listed = [placed(each, context.archive().root) for each in state.list()]
    if as_json:
        for each in listed:
            json_line(as_object(each))
    elif listed:
        is_running = _is_running(context)
        lines(COLUMNS, [cells(each, is_running=is_running) for each in listed])
        for remark in (remark for each in listed for remark in remarks(each)):
            context.echo(one_line(remark))
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

    Crawls with a domain in common wait for each other. A run is skipped if the one before is not over, or if others are
    crawling its domains; `webarc schedule list` tells. A crawl that was missed or cut short while nothing ran is made
    up for, once. Ctrl-C or SIGTERM is passed on to the running crawls, which commit what is whole.
    """
    from webarc.cli.background import Background, leave_output
    from webarc.cli.schedule_arguments import Surroundings
    from webarc.crawler.schedule_runner import Runner, alone

    settings = context.settings({"schedule.jobs": jobs})
    archive = context.archive()
    printer = Background(lambda: _PATIENCE)
    with alone(archive.locks / "schedule.lock"), _state(context) as state:
        _check_names(state, names)
        runner = Runner(
            state,
            [*_program(context, list(_BY_PYTHON)), "crawl", "--lifeline", *_impatience(settings)],
            archive.log,
            surroundings=Surroundings(archive),
            environ=_environ(context),
            at_once=settings["schedule.jobs"],
            say=lambda text: printer.call(context.note, text),
            warn=lambda text: printer.call(context.warn, text),
        )
        try:
            with printer:
                return runner.run(once=once, names=names)
        finally:
            if printer.is_busy:
                leave_output()


@schedule.command(epilog="Example: webarc schedule crontab")
@command
def crontab(context: Context) -> None:
    """Print lines for crontab that do the same without `webarc schedule run`.

    They name the archive, the config file and the database in use here. Other settings from the environment are not in
    them, so put those into the config file.
    """
    from webarc.cli.schedule_arguments import placed
    from webarc.crawler.timetable import crontab as table

    with _state(context) as state:
        listed = [placed(each, context.archive().root).schedule for each in state.list()]
    click.echo(table(listed, _printed_program(context), context.archive_path()), nl=False)


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

    state = State.to_read(context.archive(create).state_file)
    try:
        yield state
    finally:
        state.close()


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
    return [str(script)] if script.name == "webarc" and os.access(script, os.X_OK) else list(_BY_PYTHON)


def _impatience(settings: Settings) -> list[str]:
    """A scheduled crawl leaves a busy domain to its next run, unless the user wants it to wait."""
    from webarc.config.settings import BUILT_IN

    return ["--skip-busy"] if settings.origin("crawl.lock_wait") == BUILT_IN else []


def _is_running(context: Context) -> bool:
    """Whether a scheduler serves the archive."""
    from webarc.archive.holders import Held, holders

    return any(holder.purpose == "schedule" for holder in holders(context.archive().locks, Held()))


def _shown(kind: str, stored: str) -> str:
    from webarc.cli.schedule_view import shown_time

    return shown_time(kind, stored)
