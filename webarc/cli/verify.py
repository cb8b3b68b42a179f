"""`webarc verify`: is everything that was ever stored still there, and still what it was?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from webarc.cli.bar import advancing
from webarc.cli.context import Context, command
from webarc.cli.output import counted, json_line, one_line, say_error
from webarc.cli.versions import named

if TYPE_CHECKING:
    from webarc.archive.findings import Finding
    from webarc.archive.verification import Summary

_EPILOG = """\b
Examples:
  webarc verify
  webarc verify example.org --repair
  webarc verify --since-last --json
\b
Exit codes: 0 everything is sound, 10 damage was found and repaired, 11 damage is left.
"""


@click.command(epilog=_EPILOG)
@click.argument("domains", nargs=-1, metavar="[DOMAIN]...")
@click.option(
    "--repair", is_flag=True, help="Mend what can be mended; what is replaced is kept, and the output says where."
)
@click.option(
    "--since-last", is_flag=True, help="Of the history, verify only what came since the last verify that was sound."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a finding, and a summary.")
@command
def verify(context: Context, domains: tuple[str, ...], repair: bool, since_last: bool, as_json: bool) -> int:
    """Prove that nothing is lost or altered, and mend what can be mended.

    Looks at every object in git, at every version's document, bytes and hash, at the crawls' reports, tags and refs,
    at the files in the folders, and compares the index with one rebuilt from git. A crawl may go on meanwhile.

    With --since-last, older history is not read again: bits that rot in it are found only by a full run, so run one
    now and then. Refs, folders and index are always looked at.
    """
    from webarc.archive.verification import Wishes
    from webarc.archive.verification import verify as run
    from webarc.cli.takedowns import finish_interrupted

    archive = context.archive()
    if repair:
        archive.check_writable()
    finish_interrupted(context)
    chosen = named(context, archive, domains)
    count = len(archive.domains()) if chosen is None else len(chosen)
    wishes = Wishes(repair=repair, since_last=since_last)
    with advancing(context, count, "verified") as advance:
        summary = run(
            archive,
            context.database_url(),
            chosen,
            wishes,
            tell=lambda finding: show_finding(context, finding),
            moved=advance.moved,
            done=advance.done,
        )
    show_summary(context, summary)
    return summary.exit_code


def show_finding(context: Context, finding: Finding) -> None:
    """One finding: a line on standard output, notes on standard error."""
    if context.as_json:
        json_line(finding.as_json())
        return
    where = [finding.domain or "archive"]
    if finding.url:
        where.append(finding.url)
    if finding.version is not None:
        where.append(f"version {finding.version}")
    if finding.commit_tag:
        where.append(f"crawl {finding.commit_tag}")
    if finding.path:
        where.append(finding.path)
    cure = f"; {finding.cure}" if finding.cure and finding.severity != "repaired" else ""
    kept = f"; what was there is kept in {finding.kept}" if finding.kept else ""
    line = one_line(f"{finding.severity}: {', '.join(where)}: {finding.what}{cure}{kept}.")
    if finding.severity == "note":
        context.note(line)
    else:
        context.echo(line)


def show_summary(context: Context, summary: Summary) -> None:
    """The last line, and what could not be looked at."""
    for failure in summary.failures:
        say_error(type(failure).__name__, str(failure), context.as_json)
    if context.as_json:
        json_line(
            {
                "summary": _verdict(summary),
                "domains": summary.domains,
                "versions": summary.versions,
                "files": summary.files,
                "damaged": summary.damaged,
                "repaired": summary.repaired,
                "notes": summary.notes,
                "seconds": round(summary.seconds, 3),
            }
        )
        return
    seen = f"{counted(summary.versions, 'version')} of {counted(summary.domains, 'domain')}"
    repaired = f", {summary.repaired} repaired" if summary.repaired else ""
    verdict = f"{summary.damaged} damaged{repaired}" if summary.damaged else f"sound{repaired}"
    if summary.failures:
        verdict = f"not all could be verified, {summary.damaged} damaged so far{repaired}"
    # "Sound" is no word that everybody knows.
    meaning = "" if summary.damaged or summary.failures else "; nothing is lost or altered"
    say = context.echo if summary.damaged or summary.repaired or summary.failures else context.tell
    say(f"{verdict[0].upper()}{verdict[1:]}: {seen} in {summary.seconds:.1f} s{meaning}.")


def _verdict(summary: Summary) -> str:
    if summary.damaged:
        return "damaged"
    if summary.failures:
        return "incomplete"
    return "repaired" if summary.repaired else "sound"
