"""`webarc config`: the settings and where each came from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from webarc.cli.context import Context, command
from webarc.cli.output import json_line, rows
from webarc.errors import ConfigProblem, UsageProblem

if TYPE_CHECKING:
    from webarc.config.settings import Settings

_SHOW_EPILOG = """\b
Example:
  webarc config show
  webarc config show crawl.depth
  WEBARC_CRAWL_DEPTH=2 webarc config show --json
"""


@click.group(epilog="Example: webarc config show")
def config() -> None:
    """Show the settings and where each came from."""


@config.command(epilog=_SHOW_EPILOG)
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@command
def show(context: Context, keys: tuple[str, ...], as_json: bool) -> None:
    """Print every setting, or those named, with its value and where that came from; passwords are masked."""
    settings = context.settings()
    chosen = [_known(settings, key) for key in keys] or list(settings)
    if not as_json:
        rows(("key", "value", "origin"), [(name, settings.shown(name), settings.origin(name)) for name in chosen])
        return
    for name in chosen:
        json_line({"key": name, "value": _plain(settings, name), "origin": settings.origin(name)})


def _known(settings: Settings, key: str) -> str:
    """A key of the settings; raises UsageProblem naming the nearest."""
    from difflib import get_close_matches

    if key in settings:
        return key
    close = get_close_matches(key, settings, 1) or [name for name in settings if name.endswith(f".{key}")]
    guess = f", did you mean {close[0]}?" if close else "; see them all with `webarc config show`."
    raise UsageProblem(f"there is no setting {key!r}{guess}")


@config.command(epilog="Example: webarc config path")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@command
def path(context: Context, as_json: bool) -> None:
    """Print which config files are in use, the strongest first."""
    from webarc.config.layers import looked_at

    used = [str(file.absolute()) for file in context.settings().files]
    looked = [str(place) for place in looked_at(context.config_option, os.environ, context.archive_path())]
    if as_json:
        json_line({"path": used[0] if used else None, "files": used, "looked": looked})
    for file in used if not as_json else ():
        click.echo(file)
    if not used:
        context.note(f"no config file is in use, built-in values hold; looked for {', '.join(looked)}")


def _plain(settings: Settings, name: str) -> Any:
    """A value for JSON: numbers and lists as they are, everything else as it is shown."""
    from webarc.config.keys import KEYS

    try:
        value = settings[name]
    except ConfigProblem:  # the settings have warned of it
        return None
    if isinstance(value, tuple):
        return [KEYS[name].shown((item,)) for item in value]
    return value if value is None or isinstance(value, bool | int | float | dict) else settings.shown(name)
