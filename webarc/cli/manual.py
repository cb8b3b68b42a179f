"""The manual page webarc(1), made from the help of the commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click

from webarc import __version__

_VERBATIM = "\b"
_QUOTED = re.compile(r"\\\(ga(.+?)\\\(ga")
_MORE = "All of the documentation is in the folder docs of the source; `webarc help COMMAND` explains a command."
# What roff would take for something else, or print as another sign than can be typed.
_SIGNS = str.maketrans(
    {"\\": r"\e", "-": r"\-", "~": r"\(ti", "^": r"\(ha", "'": r"\(aq", "`": r"\(ga", '"': r"\(dq", ".": r"\&."}
)


def manual(root: click.Command) -> str:
    """The whole page in roff."""
    return "\n".join([*_head(root), *_commands(root), ".SH SEE ALSO", *_prose(_MORE), ""])


def install(root: click.Command) -> Path:
    """Write the page where `man` looks for pages of the user; returns the file."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    file = Path(home).expanduser() / "man" / "man1" / "webarc.1"
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
        yield from _blocks(_paragraphs(command.epilog or ""))


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
    options = (each for each in command.get_params(context) if isinstance(each, click.Option))
    records = (option.get_help_record(context) for option in options)
    for names, text in filter(None, records):
        yield ".TP"
        yield f".B {_escaped(names)}"
        yield from _prose(text)


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
