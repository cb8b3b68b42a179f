"""Options before and after the command, -q that says nothing unless something is wrong, and exit code 20."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tests.crawls import Ran, Webarc, environment
from tests.servers import Page, Site
from webarc.cli.main import cli

SITE = {"/": "<title>t</title><a href=/a>a</a><a href=/b>b</a>", "/a": "first words", "/b": "more words"}


def silent(ran: Ran) -> None:
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Webarc, Site]]:
    """An archive of a small site with two crawls."""
    webarc = Webarc(tmp_path_factory.mktemp("quiet") / "archive")
    with Site(dict(SITE)) as site:
        silent(webarc.run("-q", "crawl", site.url()))
        site.pages["/a"] = "second words"
        silent(webarc.run("crawl", site.url(), "-q"))
        yield webarc, site


@pytest.fixture
def own(crawled: tuple[Webarc, Site], tmp_path: Path) -> Webarc:
    """A copy that may be changed."""
    webarc, _ = crawled
    shutil.copytree(webarc.archive, tmp_path / "archive", symlinks=True)
    return Webarc(tmp_path / "archive")


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from leaves(found, (*path, name))
        else:
            yield (*path, name), found


@pytest.mark.parametrize("path", [path for path, _ in leaves(cli)], ids="-".join)
def test_common_options_are_taken_before_and_after_every_command(path: tuple[str, ...]) -> None:
    wanted = {
        "archive_option": Path("there"),
        "config_option": Path("my.toml"),
        "strict": True,
        "database": "sqlite:///x.db",
        "zone": "UTC",
        "verbosity": 2,
        "quiet": True,
    }
    options = ["--archive", "there", "--config", "my.toml", "--strict-config", "--database", "sqlite:///x.db"]
    options += ["--zone", "UTC"]
    options += ["-v", "-q", "--verbose"]
    found = dict(leaves(cli))[path]
    for before, after in ((options, []), ([], options), (options[:7], options[7:]), (["--archive", "no"], options)):
        context = cli.make_context("webarc", [*before, *path], resilient_parsing=True)
        inner = found.make_context(path[-1], list(after), parent=context, resilient_parsing=True)
        assert {name: getattr(inner.obj, name) for name in wanted} == wanted
        text = "".join(found.get_help(inner).split())
        assert "-q,--quiet" in text and "--strict-config" in text


def test_an_archive_and_a_config_file_may_be_named_after_the_command(
    crawled: tuple[Webarc, Site], tmp_path: Path
) -> None:
    webarc, site = crawled
    config = tmp_path / "own.toml"
    config.write_text("[crawl]\ndepth = 77\n")
    elsewhere = Webarc(tmp_path / "none")
    listed = elsewhere.run("list", "--archive", webarc.archive)
    assert listed.code == 0 and site.domain in listed.out, listed.err
    (depth,) = (
        row
        for row in elsewhere.run("config", "show", "--json", "--config", config).objects()
        if row["key"] == "crawl.depth"
    )
    assert (depth["value"], depth["origin"]) == (77, f"{config}:2")


def test_commands_that_do_something_say_nothing_when_all_went_well(own: Webarc, crawled: tuple[Webarc, Site]) -> None:
    _, site = crawled
    out = own.archive.parent / "out"
    for words in (
        ("init",),
        ("status",),
        ("db-recover",),
        ("schedule", "add", "nightly", "--cron", "0 3 * * *", "https://example.org/"),
        ("schedule", "remove", "nightly"),
        ("checkout", site.domain, str(out)),
    ):
        done = inside(own, *words, "-q")
        assert (done.exit_code, done.output) == (0, ""), words
    assert (out / "index.html").exists()
    for words in (
        ("verify",),
        ("compact",),
        ("schedule", "run", "--once"),
        ("retain", "--keep", "last=1", "--yes"),
        ("forget", site.url("/b"), "--reason", "test", "--yes"),
    ):
        silent(own.run(*words, "-q"))


def inside(webarc: Webarc, *words: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(cli, ["--archive", str(webarc.archive), *words], env=environment())


def test_what_was_asked_for_is_printed_though_quiet(own: Webarc, crawled: tuple[Webarc, Site]) -> None:
    _, site = crawled
    page = site.url("/a")
    assert own.run("get", "-q", page).out == "second words"
    for words in (
        ("list",),
        ("list", site.domain),
        ("log", page),
        ("diff", page),
        ("changes", site.domain),
        ("when", site.domain, "words"),
        ("config", "show"),
        ("filters",),
        ("retain", "--keep", "last=1", "--dry-run"),
        ("verify", "--json"),
        ("status", "--json"),
        ("completion", "bash"),
    ):
        ran = inside(own, "-q", *words)
        assert ran.exit_code == 0 and ran.stdout and not ran.stderr, (words, ran.stderr)
    for option in ("--dry-run", "--json"):
        crawl = own.run("-q", "crawl", option, site.url())
        assert crawl.code == 0 and crawl.out and not crawl.err, crawl.err


def test_a_quiet_crawl_of_a_broken_site_says_what_is_wrong(tmp_path: Path) -> None:
    pages = {"/": "<a href=/a>a</a><a href=/broken>b</a>", "/a": "a", "/broken": (500, {}, "sorry")}
    webarc = Webarc(tmp_path / "archive")
    with Site(pages) as site:
        ran = webarc.run("-q", "crawl", "--tries", "1", site.url())
        assert (ran.code, ran.out) == (8, "")
        assert ran.err.startswith(f"webarc: {site.domain}: not complete") and "crawling" not in ran.err, ran.err
        limited = webarc.run("crawl", "-q", "--max-pages", "1", site.url())
        assert (limited.code, limited.out) == (13, "") and "--max-pages" in limited.err
    ran = webarc.run("crawl", "-q", "--tries", "1", site.url())
    assert (ran.code, ran.out) == (4, "") and site.domain in ran.err
    assert "Traceback" not in ran.err


def test_quiet_commands_say_what_is_broken(own: Webarc, crawled: tuple[Webarc, Site]) -> None:
    _, site = crawled
    pack = next((own.folder(site.url()) / ".git" / "objects" / "pack").glob("*.pack"))
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:-40])
    ran = own.run("-q", "verify")
    assert ran.code == 11 and "damaged" in ran.out, (ran.out, ran.err)
    (own.folder(site.url()) / ".git" / "HEAD").unlink()
    ran = own.run("-q", "status")
    assert ran.code == 11 and site.domain in ran.out, (ran.out, ran.err)
    assert "Archive  " not in ran.out


def test_of_scheduled_crawls_those_are_told_of_that_failed_and_20_is_no_failure(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({"/": lambda _: str(time.monotonic_ns()), "/none": (404, {}, "gone")}) as site:
        silent(webarc.run("schedule", "add", "news", "--every", "1s", "--changed-exit-code", site.url(), "-q"))
        silent(webarc.run("-q", "schedule", "add", "bad", "--every", "1s", site.url("/none")))
        ran = webarc.run("schedule", "run", "--once", "-q")
        while not ran.err:
            ran = webarc.run("schedule", "run", "--once", "-q")
    (line,) = ran.err.splitlines()
    log = webarc.archive / ".webarc" / "log" / "schedule-bad.log"
    assert line == f"webarc: warning: bad: ended with exit code 8; its output is in {log}"
    assert ran.code == 8 and log.exists()
    assert [row["exitCode"] for row in webarc.run("schedule", "list", "--json").objects()] == [8, 20]


def test_exit_code_20_tells_of_something_new(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({**SITE, "/b": Page("b", etag='"1"')}) as site:
        words = ("crawl", "--changed-exit-code", "-q", site.url())
        assert webarc.run(*words).code == 20
        assert webarc.run(*words).code == 0
        del site.pages["/b"]
        assert webarc.run(*words).code == 20
        site.pages["/a"], site.pages["/"] = "third words", (500, {}, "sorry")
        assert webarc.run(*words, "--tries", "1").code == 8


def test_the_object_of_a_crawl_has_the_exit_code_of_the_command(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({"/": Page("one", etag='"1"')}) as site:
        for code in (20, 0):
            ran = webarc.run("crawl", "--changed-exit-code", "--json", site.url())
            assert (ran.code, ran.result()["exitCode"], ran.err) == (code, code, "")


def test_comparisons_end_with_20_where_something_differs(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    for words in (("diff", site.url("/a")), ("changes", site.domain)):
        assert inside(webarc, *words).exit_code == 0
        assert inside(webarc, *words, "--changed-exit-code").exit_code == 20
    assert inside(webarc, "diff", site.url("/a"), "--exit-code", "--changed-exit-code").exit_code == 1
    assert inside(webarc, "diff", site.url("/b"), "--changed-exit-code").exit_code == 0
    assert inside(webarc, "changes", site.domain, "-1", "-1", "--changed-exit-code").exit_code == 0
