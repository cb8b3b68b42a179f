"""`webarc db-recover`: the index, built anew from the XML of every version in the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from webarc.cli.bar import advancing
from webarc.cli.context import Context, command
from webarc.cli.output import counted, json_line
from webarc.cli.versions import named
from webarc.errors import DatabaseProblem

if TYPE_CHECKING:
    from webarc.archive.recovery import RecoverySummary

_EPILOG = """\b
Examples:
  webarc --archive archive db-recover
  webarc db-recover --verify example.org
\b
Exit codes: 0 all versions were read, 11 some could not be; they are named, and the rest is in the index.
With --verify: 0 the index says what git says, 11 it does not.
"""


@click.command("db-recover", epilog=_EPILOG)
@click.argument("domains", nargs=-1, metavar="[DOMAIN]...")
@click.option(
    "--verify", "compare", is_flag=True, help="Change nothing; list where the index differs from a rebuilt one."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, one object a line.")
@command
def db_recover(context: Context, domains: tuple[str, ...], compare: bool, as_json: bool) -> int:
    """Rebuild the index from every version in the archive.

    The old index stays in use until the new one is complete. With domains, only their rows are renewed, in place.
    """
    return _compare(context, domains) if compare else recover_with_progress(context, domains)


def recover_with_progress(context: Context, texts: tuple[str, ...] = ()) -> int:
    """Rebuild the index, showing how far it is; the exit code says whether anything could not be read."""
    from webarc.archive.recovery import recover
    from webarc.cli.takedowns import finish_interrupted
    from webarc.sql.index import Index

    archive = context.archive()
    finish_interrupted(context)
    chosen = named(context, archive, texts)
    index = Index.to_read(context.database_url())
    try:
        if index.read_only:
            raise DatabaseProblem(
                "the index may not be written to; "
                "run the command as the user who owns it, or name another place with --database."
            )
        with advancing(context, len(chosen or archive.domains()), "read") as advance:
            summary = recover(archive, index, advance.moved, chosen, advance.done)
    finally:
        index.close()
    _show(context, summary)
    return summary.exit_code


def _compare(context: Context, texts: tuple[str, ...]) -> int:
    """List where the index differs from a rebuilt one."""
    from webarc.archive.verification import Wishes, verify
    from webarc.cli.verify import show_finding, show_summary

    archive = context.archive()
    chosen = named(context, archive, texts)
    with advancing(context, len(chosen or archive.domains()), "read") as advance:
        summary = verify(
            archive,
            context.database_url(),
            chosen,
            Wishes(index_only=True),
            tell=lambda finding: show_finding(context, finding),
            moved=advance.moved,
            done=advance.done,
        )
    show_summary(context, summary)
    return summary.exit_code


def _show(context: Context, summary: RecoverySummary) -> None:
    if context.as_json:
        figures = {"domains": summary.domains, "versions": summary.versions, "seconds": round(summary.seconds, 3)}
        json_line(
            {**figures, "problemCount": summary.problem_count, "problems": list(summary.problems), **_aside(summary)}
        )
        return
    if summary.set_aside is not None:
        context.warn(
            f"{summary.set_aside} is what stood in the index's place and was none; delete it if you need it no more."
        )
    for problem in summary.problems:
        context.warn(problem)
    unread = f", {summary.problem_count} could not be read" if summary.problem_count else ""
    say = context.echo if summary.problem_count else context.tell
    say(
        f"The index is rebuilt: {counted(summary.versions, 'version')} of {counted(summary.domains, 'domain')} "
        f"in {summary.seconds:.1f} s{unread}."
    )


def _aside(summary: RecoverySummary) -> dict[str, str]:
    return {} if summary.set_aside is None else {"setAside": str(summary.set_aside)}
