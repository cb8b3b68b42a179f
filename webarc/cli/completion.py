"""`webarc completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  bash:  webarc completion bash > ~/.local/share/bash-completion/completions/webarc
  zsh:   webarc completion zsh > "${fpath[1]}/_webarc"
  fish:  webarc completion fish > ~/.config/fish/completions/webarc.fish
"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell."""
    from click.shell_completion import get_completion_class

    from webarc.cli import shells  # noqa: F401  registers how each shell is completed

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(click.Group("webarc"), {}, "webarc", "_WEBARC_COMPLETE").source())
