"""The command `webarc`: its table of commands, loaded when asked for, and how errors end a run."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

import click

from webarc import __version__
from webarc.cli.output import say_error
from webarc.cli.shared_options import share
from webarc.errors import Stopped, StorageProblem, UsageProblem, WebarcError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Name -> where the command is, and its help in one line: `webarc --help` need not load any of them.
COMMANDS: dict[str, tuple[str, str]] = {
    "crawl": ("webarc.cli.crawl:crawl", "Crawl the sites at the start URLs and keep every new version."),
    "list": ("webarc.cli.list:list_", "List the domains of the archive, or the URLs of a domain."),
    "log": ("webarc.cli.log:log", "List the versions of a page, or the crawls of a domain, newest first."),
    "get": ("webarc.cli.get:get", "Print a page as it was at a time."),
    "diff": ("webarc.cli.diff:diff", "Show what changed between two versions of a page."),
    "changes": ("webarc.cli.changes:changes", "Show what changed in a whole site between two times, or in all sites."),
    "when": ("webarc.cli.when:when", "Find when a phrase appeared and disappeared."),
    "checkout": ("webarc.cli.checkout:checkout", "Write a site as it was at a time to a folder."),
    "schedule": ("webarc.cli.schedule:schedule", "Crawl again and again at fixed times."),
    "status": ("webarc.cli.status:status", "Tell whether everything is well."),
    "verify": ("webarc.cli.verify:verify", "Prove that nothing is lost or altered, and mend what can be mended."),
    "compact": ("webarc.cli.compact:compact", "Pack the repositories tightly, of the domains given or of all."),
    "forget": (
        "webarc.cli.forget:forget",
        "Take a page, some versions of it, or every page of a domain out of the history for good.",
    ),
    "retain": ("webarc.cli.retain:retain", "Thin out old versions, of the domains given or of all."),
    "init": ("webarc.cli.init:init", "Make an archive with a commented config file."),
    "filters": ("webarc.cli.filters:filters", "List the filters, where they come from and their settings."),
    "config": ("webarc.cli.config:config", "Show the settings and where each came from."),
    "db-recover": ("webarc.cli.db_recover:db_recover", "Rebuild the index from every version in the archive."),
    "completion": (
        "webarc.cli.completion:completion",
        "Print the script that completes commands in a shell, or install the manual page.",
    ),
    "help": ("webarc.cli.help:help_", "Explain a command, or list them all."),
}
# How they are shown together.
_GROUPS = {
    "Crawl": ("crawl", "schedule"),
    "Look": ("list", "log", "get", "diff", "changes", "when", "checkout"),
    "Look after the archive": ("status", "verify", "compact", "forget", "retain", "db-recover"),
    "Set up": ("init", "config", "filters", "completion", "help"),
}
_COMPLETION = "_WEBARC_COMPLETE"
# What a shell says of git, cat and most others when nobody reads on what they print: they ended by SIGPIPE.
_CLOSED_PIPE = 128 + 13
_VERBOSE = re.compile(r"-v+")
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_EPILOG = """\b
Examples:
  webarc crawl --depth 3 https://example.org/     fetch a site, or what changed in it, into ./archive
  webarc list example.org                         what is there
  webarc changes example.org                      what changed between the last two crawls
  webarc help crawl                               all about a command
\b
Exit codes: 0 fine, 1 other, 2 usage or config, 3 files, 4 network, 6 authentication, 8 server error,
10 repaired, 11 damaged, 12 locked, 13 stopped, 20 changed (if asked for); the lowest one but 0 wins.
"""


class _ClosedPipe(Exception):
    """Nobody reads on what we print."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        found = getattr(importlib.import_module(module), name)
        assert isinstance(found, click.Command)
        share(found)
        if _COMPLETION in os.environ:
            from webarc.cli.completers import prepare

            prepare(found)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was meant; one that does not exist is answered with the nearest that does."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, 1)
            guess = f", did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"there is no command {args[0]!r}{guess}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin so, without loading any command."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click would end one whose pipe is closed in its own way."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ClosedPipe from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table alone."""
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names], col_max=12)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command and end with its exit code; our own errors are one line, never a traceback."""
        arguments = list(sys.argv[1:] if args is None else args)
        if _COMPLETION in os.environ:
            from webarc.cli import shells  # noqa: F401  registers how each shell is completed
            from webarc.cli.completers import prepare

            prepare(self)
        extra["standalone_mode"] = False
        sys.exit(_guarded(lambda: super(LazyGroup, self).main(arguments, "webarc", **extra), arguments))


@click.group(cls=LazyGroup, context_settings=_SETTINGS, epilog=_EPILOG)
@click.version_option(__version__, "-V", "--version", message="webarc %(version)s")
def cli() -> None:
    """Crawl web sites and keep every version of every file in plain folders under git."""


share(cli)


def main() -> NoReturn:
    """The entry point of the command `webarc`."""
    cli.main()


def _guarded(run: Callable[[], Any], arguments: list[str]) -> int:
    """The exit code of a run; whatever went wrong has been said in one line."""
    as_json = "--json" in arguments
    try:
        with _ours():
            result = run()
            sys.stdout.flush()
            return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as problem:
        click.echo(problem.format_message(), err=True)
        return UsageProblem.exit_code
    except WebarcError as error:
        if _is_verbose(arguments):
            sys.excepthook(type(error), error, error.__traceback__)
        say_error(type(error).__name__, str(error), as_json)
        return error.exit_code
    except (BrokenPipeError, _ClosedPipe):
        # Whoever read our output has enough; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except Exception as error:  # noqa: BLE001  a mistake of ours, said in one line like any other
        if _is_verbose(arguments):
            sys.excepthook(type(error), error, error.__traceback__)
        detail = f"{type(error).__name__}: {error}"
        say_error("WebarcError", f"internal error ({detail}); run it again with -v to see where.", as_json)
        return 1


@contextmanager
def _ours() -> Iterator[None]:
    """Errors of click and of the operating system become errors of ours."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except (click.Abort, KeyboardInterrupt):
        raise Stopped("stopped.") from None
    except click.FileError as error:
        raise StorageProblem(error.format_message()) from None
    except click.UsageError as error:
        raise UsageProblem(_with_hint(error)) from None
    except click.ClickException as error:
        raise WebarcError(error.format_message()) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        from webarc.archive.failures import storage_problem

        raise storage_problem("the command", error) from error


def _with_hint(error: click.UsageError) -> str:
    """click's complaint, and where to read on."""
    message = _complaint(error).rstrip(".")
    command = error.ctx.command_path if error.ctx else "webarc"
    return f"{message}{' S' if message.endswith('?') else '; s'}ee `{command} -h`."


def _complaint(error: click.UsageError) -> str:
    if not isinstance(error, click.NoSuchOption):
        return error.format_message()
    if error.ctx and error.ctx.command.name == "crawl":
        from webarc.cli.wget_names import instead_of

        if hint := instead_of(error.option_name):
            return f"there is no option {error.option_name}; {hint}"
    # Without the dashes, which all of them have and which would make any two look alike.
    names = {name.lstrip("-"): name for name in error.possibilities or ()}
    near = get_close_matches(error.option_name.lstrip("-"), names, 1, 0.7)
    guess = f", did you mean {names[near[0]]}?" if near else ""
    return f"there is no option {error.option_name}{guess}"


def _is_verbose(arguments: list[str]) -> bool:
    """Whether -v was given; asked before or without parsing the command line."""
    return "--verbose" in arguments or any(map(_VERBOSE.fullmatch, arguments))
