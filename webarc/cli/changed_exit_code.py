"""The option `--changed-exit-code`: end with 20 where something is new or changed, for scripts that act on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from webarc.errors import CHANGED

Command = TypeVar("Command", bound=Callable[..., Any])


def changed_exit_code_option(what: str) -> Callable[[Command], Command]:
    """Give a command the option."""
    return click.option(
        "--changed-exit-code", is_flag=True, help=f"End with {CHANGED} if {what}; errors have lower codes and win."
    )
