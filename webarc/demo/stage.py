"""How the tour talks: headings, a few words, and commands shown as typed with what they really printed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from webarc.errors import WebarcError

_WIDTH = 100


def heading(text: str) -> None:
    """A numbered step of the tour."""
    line = f"== {text} "
    print(_bold(line.ljust(_WIDTH, "=")))


def say(text: str) -> None:
    """A few words to the reader."""
    print(textwrap.fill(" ".join(text.split()), _WIDTH), end="\n\n")


def run(command: str) -> None:
    """Shows a shell command and runs it; what fails ends the tour."""
    print(_bold(f"$ {command}"), flush=True)
    code = subprocess.run(["sh", "-c", command], env=_environment(), check=False).returncode
    if code:
        raise WebarcError(f"the command above ended with {code}; see docs/exit-codes.md for what that means.")
    print()


def table(rows: Sequence[Sequence[object]]) -> None:
    """Rows with their columns under each other."""
    cells = [[str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def _environment() -> dict[str, str]:
    """The commands of this installation first, git without a pager, and no settings of the user's own webarc."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("WEBARC_")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    return env | {"GIT_PAGER": "cat", "WEBARC_CONFIG": os.devnull}


def _bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text
