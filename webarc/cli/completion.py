"""`webarc completion`: the script that lets a shell complete what is typed, and the manual page."""

from __future__ import annotations

import click

from webarc.cli.context import Context, command
from webarc.errors import UsageProblem

_EPILOG = """\b
Examples:
  bash:  webarc completion bash > ~/.local/share/bash-completion/completions/webarc
  zsh:   webarc completion zsh > "${fpath[1]}/_webarc"
  fish:  webarc completion fish > ~/.config/fish/completions/webarc.fish
  man:   webarc completion --man
\b
For this bash alone: eval "$(webarc completion bash)"
"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), required=False)
@click.option("--man", is_flag=True, help="Install the manual page for you, so that `man webarc` shows it.")
@command
def completion(context: Context, shell: str | None, man: bool) -> None:
    """Print the script that completes commands in a shell, or install the manual page.

    Commands, options and their values are completed, and files, domains and URLs of the archive, names of schedules,
    filters and settings.
    """
    if not shell and not man:
        raise UsageProblem("a shell is needed; give bash, zsh or fish, or --man for the manual page.")
    if man:
        _install(context)
    if shell:
        click.echo(_script(shell))


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from webarc.cli import shells  # noqa: F401  registers how each shell is completed

    found = get_completion_class(shell)
    assert found is not None
    return found(click.Group("webarc"), {}, "webarc", "_WEBARC_COMPLETE").source()


def _install(context: Context) -> None:
    from webarc.archive.failures import storage
    from webarc.cli.manual import install

    with storage("installing the manual page"):
        file = install(click.get_current_context().find_root().command)
    context.tell(f"The manual page is {file}; read it with `man webarc`, or `man -l {file}` if that does not find it.")
