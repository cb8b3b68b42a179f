"""The page docs/cli.md, made from the commands themselves: `python -m webarc.cli.reference > docs/cli.md`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from webarc.cli.main import cli

_HEAD = """# Command line reference

Made by `python -m webarc.cli.reference > docs/cli.md`; a test compares the two. Exit codes are in
[exit-codes.md](exit-codes.md), the settings behind the options in [configuration.md](configuration.md).
"""
_WIDTH = 100


def reference() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_sections(cli, "webarc")])


def _sections(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[str]:
    context = click.Context(
        command,
        info_name=path.rpartition(" ")[2],
        parent=parent,
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield f"## {path}\n\n```\n{_tidy(command.get_help(context))}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _sections(child, f"{path} {name}", context)


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


if __name__ == "__main__":
    click.echo(reference(), nl=False)
