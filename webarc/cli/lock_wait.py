"""The option `--lock-wait`: how long a command waits for a crawl or another command to let go of a domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from webarc.errors import UsageProblem

Command = TypeVar("Command", bound=Callable[..., Any])


def lock_wait_option(command: Command) -> Command:
    """Give a command the option; its value is in seconds."""
    return click.option(
        "--lock-wait",
        default="10s",
        callback=_seconds,
        metavar="TIME",
        help="How long to wait for a crawl or another command at work in a domain. [10s]",
    )(command)


def _seconds(_context: click.Context, _option: click.Parameter, text: str) -> float:
    from webarc.config.units import duration

    try:
        return duration(text)
    except ValueError as problem:
        raise UsageProblem(f"--lock-wait: {problem}") from None
