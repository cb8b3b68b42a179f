"""The documentation says what is there: links lead somewhere, commands and options exist, examples are true."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest

from tests.crawls import Webarc
from tests.servers import Site
from webarc import __version__
from webarc.archive.document import validate
from webarc.archive.layout import path_of
from webarc.archive.reports import read_urls
from webarc.archive.tags import tag_name
from webarc.archive.urls import canonical
from webarc.cli.main import COMMANDS, cli
from webarc.cli.shared_options import SHARED
from webarc.crawler.resting import carried_mark, unlinked_mark
from webarc.errors import CHANGED, MEANINGS, WebarcError
from webarc.sql.schema import scripts

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ALWAYS_THERE = {"-h", "--help"}


def ids(page: Path) -> str:
    return page.name


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """The anchors that a forge makes of headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} links to {link}, which does not exist"
        assert not anchor or anchor in anchors(target), (
            f"{page.name} links to {link}, but {target.name} has no such heading"
        )


def test_every_page_is_reached_from_the_first() -> None:
    first = ROOT / "docs" / "index.md"
    linked = {link.partition("#")[0] for link in LINK.findall(prose(first))}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def commands(group: click.Group, name: str = "webarc") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for part in group.list_commands(context):
        command = group.get_command(context, part)
        assert command is not None
        yield f"{name} {part}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {part}")


ALL = dict(commands(cli))


def options(command: click.Command) -> set[str]:
    found = (option for option in command.params if isinstance(option, click.Option))
    return {name for option in found for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_help_and_is_documented(name: str) -> None:
    assert ALL[name].help, f"{name} has no help text"
    everything = "\n".join(page.read_text() for page in PAGES)
    documented = name in everything
    if not documented and name.count(" ") == 2:
        # A list of subcommands beside their group will do.
        group, _, part = name.rpartition(" ")
        documented = group in everything and f"`{part}`" in everything
    assert documented, f"{name} stands in no page of the documentation"


def test_the_table_of_commands_is_complete() -> None:
    first = (ROOT / "docs" / "index.md").read_text()
    assert [name for name in COMMANDS if f"| `webarc {name}" not in first] == []


def test_every_option_of_a_crawl_is_documented() -> None:
    page = (ROOT / "docs" / "crawler.md").read_text()
    crawl = ALL["webarc crawl"]
    missing = []
    for option in crawl.params:
        if isinstance(option, click.Option) and not option.hidden:
            names = [name for name in (*option.opts, *option.secondary_opts) if name.startswith("--")]
            if not any(re.search(rf"{re.escape(name)}(?![\w-])", page) for name in names):
                missing.append(option.opts[-1])
    assert missing == []


def typed_lines() -> list[tuple[str, str]]:
    """Every line of an example that calls webarc."""
    found = []
    for page in PAGES:
        for _, block in FENCE.findall(page.read_text()):
            for line in block.splitlines():
                line = line.removeprefix("$ ").partition("  #")[0].strip()
                if line.startswith("webarc ") and "webarc: " not in line and "[" not in line:
                    found.append((page.name, line))
    return found


@pytest.mark.parametrize(("page", "line"), typed_lines())
def test_examples_use_commands_and_options_that_exist(page: str, line: str) -> None:
    words = shlex.split(line.partition(" | ")[0].partition(" > ")[0].partition(" && ")[0])[1:]
    command: click.Command = cli
    known = options(cli) | ALWAYS_THERE
    name = "webarc"
    for word in words:
        if isinstance(command, click.Group) and f"{name} {word}" in ALL:
            name = f"{name} {word}"
            command = ALL[name]
            known |= options(command)
            if command.context_settings.get("ignore_unknown_options"):  # it hands them on to a crawl
                known |= options(ALL["webarc crawl"])
        elif word == "--":
            break
        elif word.startswith("-") and word != "-" and not re.fullmatch(r"-\d+", word):
            assert word.partition("=")[0] in known, f"{page}: {line!r} uses {word}, which {name} does not know"
    assert command is not cli or not words or words[0].startswith("-"), f"{page}: {line!r} names no command"


def test_names_on_disk_are_as_documented() -> None:
    page = (ROOT / "docs" / "on-disk.md").read_text()
    examples = re.findall(r"^\| `(https?://[^`]+)` \| `([^`]+)` \|$", page, re.MULTILINE)
    assert len(examples) > 15
    assert [(url, path_of(canonical(url))) for url, _ in examples] == examples


def test_tags_are_as_documented() -> None:
    page = (ROOT / "docs" / "on-disk.md").read_text()
    found = re.search(r"the crawl `([^`]+)` is the tag `([^`]+)`", page)
    assert found is not None
    assert tag_name(found.group(1)) == found.group(2)


def test_documents_on_disk_are_as_documented() -> None:
    blocks = FENCE.findall((ROOT / "docs" / "on-disk.md").read_text())
    arc, urls = (block.encode() for language, block in blocks if language == "xml")
    validate(arc)
    assert [row.status for row in read_urls(urls)] == [200, 301, 0]


def test_every_table_of_the_index_is_documented() -> None:
    made = "\n".join(file.read_text() for file in (ROOT / "sql" / "schema").glob("index_*.sql"))
    tables = set(re.findall(r"^CREATE TABLE (\w+)", made, re.MULTILINE)) - {"schema_version"}
    page = (ROOT / "docs" / "database.md").read_text().partition("## Every column")[0]
    assert tables == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def error_classes(root: type[WebarcError] = WebarcError) -> Iterator[type[WebarcError]]:
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)


def test_every_option_of_all_commands_is_in_their_table() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text().partition("## Quiet")[0]
    documented = re.findall(r"^\| `(--?[a-z-]+)", page, re.MULTILINE)
    assert documented == [option.opts[0] for option in SHARED]
    overview = (ROOT / "docs" / "index.md").read_text()
    assert all(f"`{option}" in overview for option in documented)


def test_every_exit_code_means_what_is_documented() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text()
    documented = {int(code): meaning for code, meaning in re.findall(r"^\| (\d+) \| ([^|]*) \|", page, re.MULTILINE)}
    assert documented == MEANINGS


def test_every_exit_code_is_documented() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text()
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert documented == {error.exit_code for error in error_classes()} | {0, 10, CHANGED}


def test_changelog_is_of_this_version() -> None:
    newest = re.search(r"^## (?!Unreleased$)(\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == __version__


def test_every_column_of_the_index_is_documented() -> None:
    """Table by table, in the order of the schema: people write SQL of their own."""
    page = (ROOT / "docs" / "database.md").read_text()
    documented = {
        section.partition("\n")[0]: re.findall(r"^\| `(\w+)` \| \S", section, re.MULTILINE)
        for section in re.split(r"^##+ ", page, flags=re.MULTILINE)
    }
    with closing(sqlite3.connect(":memory:")) as index:
        for script in scripts("index").values():
            for part in script:
                index.execute(part)
        tables = [name for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: [row[1] for row in index.execute(f"PRAGMA table_info({table})")] for table in tables}
    assert {table: documented.get(table) for table in tables} == columns


def named_in(column: str) -> set[str]:
    """What stands in code marks in the description of a column of the index."""
    (row,) = re.findall(rf"^\| `{column}` \| (.*) \|$", (ROOT / "docs" / "database.md").read_text(), re.MULTILINE)
    return set(re.findall(r"`([^`]*)`", row))


def test_what_the_index_says_of_a_crawl_is_documented(webarc: Webarc) -> None:
    with Site({"/": "<p>one"}) as site:
        webarc.crawl("--depth", "2", site.url("/"))
        with closing(sqlite3.connect(webarc.archive / ".webarc" / "index.db")) as index:
            ((options, counts),) = index.execute("SELECT options, counts FROM crawl").fetchall()
        assert set(json.loads(counts)) == named_in("counts")
        # Nothing but what was given.
        assert json.loads(options) == {"depth": "2", "starts": json.dumps([site.url("/")])}


def test_every_mark_is_documented() -> None:
    url, marks = "https://example.org/?a", {""}
    for _ in range(9):
        asked = {
            unlinked_mark(url, mark, crawl, whole=whole) for mark in marks for crawl in (1, 11, 101) for whole in (0, 1)
        }
        marks |= asked | {carried_mark(mark) for mark in marks}
    found = {re.sub(r"resting \d+", "resting N", mark) for mark in marks if mark}
    assert found | {"from http", "from https"} == named_in("mark")
