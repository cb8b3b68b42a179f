"""`webarc help`: what a command does, as `webarc COMMAND --help` says it."""

from __future__ import annotations

from difflib import get_close_matches

import click

from webarc.errors import UsageProblem

_EPILOG = """\b
Examples:
  webarc help
  webarc help crawl
  webarc help schedule add
"""


@click.command("help", epilog=_EPILOG)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Explain a command, or list them all."""
    place = ctx.find_root()
    for name in names:
        command = place.command
        found = command.get_command(place, name) if isinstance(command, click.Group) else None
        if found is None:
            raise UsageProblem(_unknown(place, name))
        place = click.Context(found, info_name=name, parent=place)
    click.echo(place.get_help())


def _unknown(place: click.Context, name: str) -> str:
    """There is no such command, and which one may have been meant."""
    group = place.command
    known = group.list_commands(place) if isinstance(group, click.Group) else []
    if not known:
        return f"{place.command_path!r} has no commands below it; see `{place.command_path} -h`."
    close = get_close_matches(name, known, 1)
    guess = f", did you mean {close[0]!r}?" if close else ";"
    return f"there is no command {name!r}{guess} {'See' if close else 'see'} `{place.command_path} -h`."
