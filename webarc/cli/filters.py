"""`webarc filters`: the filters, where they come from and their settings."""

from __future__ import annotations

import click

from webarc.cli.context import Context, command
from webarc.cli.output import json_line, rows


@click.command(epilog="Example: webarc filters --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@command
def filters(context: Context, as_json: bool) -> None:
    """List the filters, where they come from and their settings.

    Filters that are in use come first, in the order in which files pass them. docs/filters.md tells how to write one.
    """
    from webarc.filters.catalog import find, known, read_settings, settings_file

    settings = context.settings()
    modules, used, folder = settings["filters.modules"], settings["filters.use"], settings.filters_dir
    listed = [find(name, modules) for name in used]
    listed += [source for source in known(modules) if source.name not in used]
    table = []
    for source in listed:
        file = settings_file(source.name, folder)
        values = read_settings(source.name, folder)
        if as_json:
            entry = {"name": source.name, "on": source.name in used, "origin": source.origin, "target": source.target}
            json_line({**entry, "file": str(file) if file else None, "settings": values})
        shown = " ".join(f"{key}={value!r}" for key, value in values.items())
        table.append((source.name, "on" if source.name in used else "off", source.origin, str(file or "-"), shown))
    if not as_json:
        rows(("filter", "use", "from", "settings file", "settings"), table)
