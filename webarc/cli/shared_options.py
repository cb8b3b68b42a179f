"""The options that every command has: they may stand before its name or after it, and the last one wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from webarc.cli.context import Context


class SharedOption(click.Option):
    """One of them; what it is given goes to the Context. The help of a command shows two and names the others."""

    def __init__(self, *names: str, **settings: Any) -> None:
        super().__init__(names, callback=_remember, expose_value=False, **settings)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The line of the help."""
        record = super().get_help_record(ctx)
        if ctx.parent is None or record is None or self.name == "quiet":
            return record
        others = ", ".join(option.opts[0] for option in SHARED if option.name not in ("archive_option", "quiet"))
        return (record[0], f"The archive folder. Also {others}: see `webarc -h`.") if self is SHARED[0] else None


def share(command: click.Command) -> click.Command:
    """Give the options to a command and to all below it, once."""
    if SHARED[0] not in command.params:
        command.params.extend(SHARED)
        for child in command.commands.values() if isinstance(command, click.Group) else ():
            share(child)
    return command


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value:
        context = ctx.ensure_object(Context)
        setattr(context, str(option.name), value + context.verbosity if option.name == "verbosity" else value)


SHARED = (
    SharedOption(
        "--archive",
        "archive_option",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The archive folder. [$WEBARC_ARCHIVE, ./archive]",
    ),
    SharedOption(
        "--config",
        "config_option",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The config file. [$WEBARC_CONFIG, ./webarc.toml, ~/.config/webarc/webarc.toml]",
    ),
    SharedOption(
        "--strict-config", "strict", is_flag=True, help="Stop if anything in the config is wrong, instead of warning."
    ),
    SharedOption("--database", metavar="URL", help="The index, as an SQLAlchemy URL. [SQLite in the archive]"),
    SharedOption(
        "--zone",
        metavar="ZONE",
        help="The zone of times: CET, local, or a name such as Europe/Berlin. [$WEBARC_TIMES_ZONE, CET]",
    ),
    SharedOption("-v", "--verbose", "verbosity", count=True, help="Show where in webarc an error came from."),
    SharedOption("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong."),
)
