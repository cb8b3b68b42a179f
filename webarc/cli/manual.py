"""The manual page webarc(1), made from the help of the commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

import click

from webarc import __version__
from webarc.cli.crawl_options import CrawlCommand
from webarc.config.keys import KEYS
from webarc.errors import MEANINGS

_VERBATIM = "\b"
_QUOTED = re.compile(r"\\\(ga(.+?)\\\(ga")
_MORE = "All of the documentation is in the folder docs of the source; `webarc help COMMAND` explains a command."
_LOWEST = "If several apply, the lowest one that is not 0 wins."
_VARIABLES = {
    "WEBARC_CONFIG": "The config file, as with --config.",
    "NO_COLOR": "If it is set, nothing is coloured.",
    "XDG_DATA_HOME": "Where `webarc completion --man` puts this page, below man/man1, if it is an absolute path.",
}
_FILES = {
    "~/.config/webarc/webarc.toml": "Your own config file.",
    "./webarc.toml": "The config file at hand, which takes the place of your own one.",
    "ARCHIVE/webarc.toml": "The config file of an archive.",
    "ARCHIVE/DOMAIN/": "A domain: a git repository with a folder for each URL.",
    "ARCHIVE/.webarc/index.db": "The index; `webarc db-recover` makes it anew.",
    "ARCHIVE/.webarc/state.db": "The schedules.",
    "ARCHIVE/.webarc/log/": "The output of scheduled crawls, and where crawls stood that did not move.",
    "ARCHIVE/.webarc/cache/": "What can be deleted at any time.",
    "ARCHIVE/.webarc/staging/": "Crawls in progress and interrupted ones.",
}
# What roff would take for something else, or print as another sign than can be typed.
_SIGNS = str.maketrans(
    {"\\": r"\e", "-": r"\-", "~": r"\(ti", "^": r"\(ha", "'": r"\(aq", "`": r"\(ga", '"': r"\(dq", ".": r"\&."}
)


def manual(root: click.Command) -> str:
    """The whole page in roff."""
    return "\n".join([*_head(root), *_commands(root), *_tables(), ".SH SEE ALSO", *_prose(_MORE), ""])


def install(root: click.Command) -> Path:
    """Write the page where `man` looks for pages of the user; returns the file."""
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    # The specification of the variable wants a relative path to be ignored.
    home = given if given.is_absolute() else Path("~/.local/share").expanduser()
    file = home / "man" / "man1" / "webarc.1"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(manual(root), encoding="utf-8")
    return file


def _head(root: click.Command) -> Iterator[str]:
    context = _context(root, None, "webarc")
    first, *rest = _paragraphs(root.help or "")
    yield f'.TH WEBARC 1 "{date.today():%Y-%m-%d}" "webarc {__version__}" "User Commands"'
    yield from (".SH NAME", f"webarc \\- {_escaped(first[0].lower() + first[1:].rstrip('.'))}")
    yield ".SH SYNOPSIS"
    yield from _synopsis(root, context)
    yield ".SH DESCRIPTION"
    yield from _blocks([first, *rest, *_paragraphs(root.epilog or "")])
    yield ".SH OPTIONS"
    yield from _options(root, context)


def _commands(root: click.Command) -> Iterator[str]:
    yield ".SH COMMANDS"
    for command, context in _below(root, _context(root, None, "webarc")):
        yield f".SS {_escaped(context.command_path)}"
        yield from _synopsis(command, context)
        yield ".PP"
        yield from _blocks(_paragraphs(command.help or ""))
        yield from _options(command, context)
        if command.epilog:
            yield ".PP"  # without it the epilog would belong to the last option
            yield from _blocks(_paragraphs(command.epilog))


def _below(group: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """All commands, each before those below it."""
    for name in group.list_commands(context) if isinstance(group, click.Group) else ():
        command = group.get_command(context, name) if isinstance(group, click.Group) else None
        if command is not None:
            inner = _context(command, context, name)
            yield command, inner
            yield from _below(command, inner)


def _context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    return click.Context(command, parent=parent, info_name=name, help_option_names=["-h", "--help"])


def _synopsis(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f".B {_escaped(context.command_path)}"
    yield _escaped(" ".join(command.collect_usage_pieces(context)))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """The options in the groups and the order of --help."""
    if isinstance(command, CrawlCommand):
        for title, records in command.sections(context).items():
            yield from (".PP", f".I {_escaped(title)}", *_list(records))
        return
    options = (each for each in command.get_params(context) if isinstance(each, click.Option))
    yield from _list(filter(None, (option.get_help_record(context) for option in options)))


def _tables() -> Iterator[str]:
    """What no command says: exit codes, variables and files."""
    settings = ((key.variable, key.help) for key in KEYS.values())
    yield from (".SH EXIT STATUS", *_list((str(code), f"{text.capitalize()}.") for code, text in MEANINGS.items()))
    yield from (".PP", *_prose(_LOWEST))
    yield from (".SH ENVIRONMENT", *_list((*_VARIABLES.items(), *settings)))
    yield from (".SH FILES", *_list(_FILES.items()))


def _list(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in entries:
        yield from (".TP", f".B {_escaped(name)}", *_prose(text))


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a help; those that stand as they are keep their mark, also where a blank line is in them."""
    return [part for part in re.split(r"\n\s*\n|\n(?=\x08)", text.strip("\n")) if part.strip()]


def _blocks(paragraphs: list[str]) -> Iterator[str]:
    for number, paragraph in enumerate(paragraphs):
        if number:
            yield ".PP"
        if paragraph.startswith(_VERBATIM):
            lines = paragraph.removeprefix(_VERBATIM).strip("\n").splitlines()
            yield from (".nf", *map(_escaped, lines), ".fi")
        else:
            yield from _prose(paragraph)


def _prose(text: str) -> Iterator[str]:
    yield _QUOTED.sub(r"\\fB\1\\fR", _escaped(" ".join(text.split())))


def _escaped(text: str) -> str:
    """A text as roff prints it: no line of it is a request, every sign is itself and can be copied."""
    return text.rstrip().translate(_SIGNS)
