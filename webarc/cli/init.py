"""`webarc init`: a new archive with a commented config file."""

from __future__ import annotations

from pathlib import Path

import click

from webarc.cli.context import Context, command

_EPILOG = """\b
Example:
  webarc init ~/web && cd ~/web && webarc crawl https://example.org/
"""


@click.command(epilog=_EPILOG)
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path), metavar="[DIR]")
@command
def init(context: Context, folder: Path | None) -> None:
    """Make an archive with a commented config file.

    Without DIR it is made where --archive, $WEBARC_ARCHIVE or the config file say, else in ./archive. What is there
    already stays as it is.
    """
    from webarc.archive.store import Archive
    from webarc.config.example import example
    from webarc.config.file import NAME

    root = folder.absolute() if folder else context.archive_path()
    archive = Archive.create(root)
    config = archive.root / NAME
    try:
        with config.open("x", encoding="utf-8") as file:
            file.write(example({"archive": Path()}, of_archive=True))
    except FileExistsError:
        context.note(f"{config} is there already and stays as it is.")
    context.tell(f"The archive is {archive.root}, its settings are in {config}.")
    context.note(f"Next: cd {archive.root} && webarc crawl --depth 3 https://example.org/")
