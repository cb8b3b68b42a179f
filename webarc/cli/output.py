"""How the command line speaks: plain lines, tables, one JSON object a line, errors of one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

_SHORT = 20


def safe(text: str) -> str:
    """A text of unknown origin as a terminal may show it: nothing in it can move the cursor or break the line."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def one_line(text: str) -> str:
    """A message in one line."""
    return safe(" ".join(text.split()))


def counted(count: int, noun: str) -> str:
    """`1 version`, `2 versions`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def say_error(name: str, message: str, as_json: bool = False) -> None:
    """`webarc: MESSAGE` on standard error, or an object with the class of the error."""
    message = one_line(message)
    click.echo(json.dumps({"error": name, "message": message}) if as_json else f"webarc: {message}", err=True)


def json_line(value: Any) -> None:
    """One object, one line."""
    click.echo(json.dumps(value, default=str))


def rows(headers: Sequence[str], cells: Iterable[Sequence[str]]) -> None:
    """A table: with rich on a terminal, aligned columns elsewhere."""
    lines = [[safe(cell) for cell in line] for line in cells]
    if sys.stdout.isatty():
        _rich_rows(headers, lines)
        return
    widths = [max(map(len, column)) for column in zip(headers, *lines, strict=True)]
    for line in (headers, *lines):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_rich(value: Any) -> None:
    """A rich table or text on standard output; elsewhere than on a terminal nothing is folded."""
    from rich.console import Console

    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 500).print(value)


def _rich_rows(headers: Sequence[str], lines: list[list[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header, *column in zip(headers, *lines, strict=True):
        # A time or a figure is never folded, so that there is room for names and texts.
        table.add_column(header, overflow="fold", no_wrap=max(map(len, column), default=0) <= _SHORT)
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    print_rich(table)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
