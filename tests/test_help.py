"""Help where newcomers look for it: `webarc help`, the manual page, tasks, and what wget calls otherwise."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import click
import pytest
from click.testing import CliRunner, Result

from tests.crawls import Webarc, environment
from webarc.cli.crawl_options import _SECTIONS
from webarc.cli.main import _GROUPS, COMMANDS, cli
from webarc.cli.manual import manual
from webarc.cli.wget_names import _INSTEAD
from webarc.config.keys import KEYS
from webarc.errors import MEANINGS

ROOT = Path(__file__).resolve().parent.parent


def run(*words: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, words, env=environment(**environ))


def test_the_overview_names_every_command_once() -> None:
    assert sorted(name for names in _GROUPS.values() for name in names) == sorted(COMMANDS)
    shown = run("help")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, run("--help").stdout, "")
    for name in COMMANDS:
        assert len(re.findall(rf"^  {name} +[A-Z]", shown.stdout, re.MULTILINE)) == 1


@pytest.mark.parametrize("path", [("crawl",), ("schedule",), ("schedule", "add"), ("help",)], ids=" ".join)
def test_help_of_a_command_is_what_the_command_says(path: tuple[str, ...]) -> None:
    assert run("help", *path).stdout == run(*path, "--help").stdout
    assert run("help", *path).stdout.startswith(f"Usage: webarc {' '.join(path)} ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("crwl",), "there is no command 'crwl', did you mean 'crawl'?"),
        (("schedule", "lst"), "there is no command 'lst', did you mean 'list'? See `webarc schedule -h`."),
        (("zzzz",), "there is no command 'zzzz'; see `webarc -h`."),
        (("crawl", "now"), "'webarc crawl' has no commands below it"),
    ],
)
def test_help_of_an_unknown_command(words: tuple[str, ...], said: str) -> None:
    result = run("help", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"webarc: {said}") and result.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual page as it is installed."""
    home = tmp_path_factory.mktemp("home")
    silent = run("completion", "--man", "-q", HOME=str(home))
    assert (silent.exit_code, silent.output) == (0, "")
    file = home / ".local" / "share" / "man" / "man1" / "webarc.1"
    file.unlink()
    result = Webarc(home / "archive").run("completion", "--man", HOME=str(home))
    assert result.code == 0 and str(file) in result.out and "man webarc" in result.out, result.err
    return file


def test_the_manual_page_goes_where_the_user_keeps_data(tmp_path: Path) -> None:
    result = run("completion", "--man", XDG_DATA_HOME=str(tmp_path))
    assert str(tmp_path / "man" / "man1" / "webarc.1") in result.stdout
    assert (tmp_path / "man" / "man1" / "webarc.1").read_text() == manual(cli)
    (tmp_path / "file").write_text("")
    refused = run("completion", "--man", XDG_DATA_HOME=str(tmp_path / "file"))
    assert refused.exit_code == 3 and refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    ["mandoc -T lint -W warning", "groff -man -ww -T utf8 -z", "man --warnings -l"],
    ids=["mandoc", "groff", "man"],
)
def test_the_manual_page_is_rendered_without_a_warning(page: Path, command: str) -> None:
    words = shlex.split(command)
    if which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed, so the manual page is NOT TESTED with it")
    done = subprocess.run([*words, page], env=environment(MANWIDTH="100"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    if words[0] == "man":
        text = re.sub(r".\x08", "", done.stdout)
        for name in COMMANDS:
            assert f"   webarc {name}\n" in text
        assert "webarc log https://example.org/news/" in text and "-np, --no-parent" in text
        assert "--exclude '/calendar/' urls.txt" in text and "~/.config/webarc" in text and "(ti" not in text


def test_a_data_folder_that_is_relative_is_ignored(tmp_path: Path) -> None:
    result = run("completion", "--man", XDG_DATA_HOME="data", HOME=str(tmp_path))
    assert str(tmp_path / ".local" / "share" / "man" / "man1" / "webarc.1") in result.stdout


def test_the_manual_page_shows_a_crawl_as_its_help_does() -> None:
    page = re.sub(r"\\&|\\e", "", manual(cli)).replace("\\-", "-")
    mine = page.partition(".SS webarc crawl\n")[2].partition(".SS ")[0]
    shown = run("help", "crawl").stdout
    assert re.findall(r"^\.I (.*)$", mine, re.MULTILINE) == re.findall(r"^(\w[\w ]+):$", shown, re.MULTILINE)
    named = [line.split()[0].strip(",") for line in re.findall(r"^\.B (-.*)$", mine, re.MULTILINE)]
    assert named == [line.split()[0].strip(",") for line in re.findall(r"^  (-.*)$", shown, re.MULTILINE)]
    assert mine.index("\n.PP\n.nf\nExamples:") > mine.index("-h, --help")


def test_the_manual_page_has_codes_variables_and_files_as_they_are_documented() -> None:
    page = re.sub(r"\\&", "", manual(cli)).replace("\\-", "-").replace(r"\(ti", "~")
    sections = dict(
        re.findall(r"^\.SH (EXIT STATUS|ENVIRONMENT|FILES)\n(.*?)(?=^\.SH )", page, re.MULTILINE | re.DOTALL)
    )
    terms = {title: re.findall(r"^\.B (.*)$", text, re.MULTILINE) for title, text in sections.items()}
    assert terms["EXIT STATUS"] == [str(code) for code in MEANINGS]
    assert {key.variable for key in KEYS.values()} < set(terms["ENVIRONMENT"])
    documented = (ROOT / "docs" / "on-disk.md").read_text() + (ROOT / "docs" / "configuration.md").read_text()
    for file in terms["FILES"]:
        assert f" {file.removeprefix('ARCHIVE/')}" in documented.replace("`", " ").replace("example.org/", "DOMAIN/"), (
            file
        )


def tasks() -> Iterator[str]:
    """Every command line of the page of tasks."""
    for row in re.findall(r"^\| .* \|$", (ROOT / "docs" / "tasks.md").read_text(), re.MULTILINE):
        yield from re.findall(r"`(webarc [^`]*)`", row.split(" | ")[1])


def test_there_are_twenty_tasks() -> None:
    rows = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", (ROOT / "docs" / "tasks.md").read_text(), re.MULTILINE)
    wanted = [row for row in rows if row[0] != "I want to ..."]
    assert len(wanted) >= 20
    assert all("`webarc " in command and "](" in more for _, command, more in wanted)


@pytest.mark.parametrize("line", list(tasks()))
def test_a_task_is_done_by_a_command_that_can_be_typed(line: str) -> None:
    context = cli.make_context("webarc", shlex.split(line)[1:])
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
        assert command is not None and name is not None
        context = command.make_context(name, rest, parent=context)


def test_examples_in_the_help_can_be_typed_too() -> None:
    for name in COMMANDS:
        lines = re.findall(r"^ +(webarc .*)$", run("help", name).stdout, re.MULTILINE)
        for line in lines:
            if "|" not in line and "&&" not in line:
                test_a_task_is_done_by_a_command_that_can_be_typed(line.partition(" > ")[0].split("  ")[0])


def test_names_of_wget_are_known_or_answered() -> None:
    same = {"--level": "3", "--accept-regex": "a", "--reject-regex": "b", "--user": "me", "--password": "x"}
    crawl = cli.get_command(click.Context(cli), "crawl")
    assert crawl is not None
    given = crawl.make_context("crawl", [word for pair in same.items() for word in pair]).params
    assert (given["crawl_depth"], given["crawl_include"], given["crawl_exclude"]) == ("3", ("a",), ("b",))
    assert (given["crawl_http_user"], given["crawl_http_password"]) == ("me", "x")
    for names, hint in _INSTEAD.items():
        for name in names:
            result = run("crawl", name, "https://example.org/")
            assert result.exit_code == 2 and result.stderr == (
                f"webarc: there is no option {name}; {hint}; see `webarc crawl -h`.\n"
            )
        for option in re.findall(r"(?<!`webarc )(--[a-z-]+)", hint if "`" not in hint else ""):
            assert any(option in each.opts + each.secondary_opts for each in crawl.params), option


def test_settings_can_be_asked_for_by_name() -> None:
    shown = run("config", "show", "crawl.depth", "archive", "--json")
    assert [line.partition('", ')[0] for line in shown.stdout.splitlines()] == [
        '{"key": "crawl.depth',
        '{"key": "archive',
    ]
    for wrong in ("crawl.dept", "depth"):
        refused = run("config", "show", wrong)
        assert refused.exit_code == 2 and "did you mean crawl.depth?" in refused.stderr


def test_letters_of_a_handed_on_option_are_not_taken_for_options(tmp_path: Path) -> None:
    archive = ("--archive", str(tmp_path / "archive"))
    run("init", *archive)
    result = run("schedule", "add", "n", "--every", "1h", "-Uquick-vh", "-w2s", "https://example.org/", *archive)
    assert result.exit_code == 0 and "first crawl" in result.stdout, result.output
    listed = run("schedule", "list", "--json", *archive).stdout
    assert '"argv": ["-U", "quick-vh", "-w", "2s", "https://example.org/"]' in listed


def test_the_options_of_a_crawl_stand_in_sections_each_once() -> None:
    crawl = cli.get_command(click.Context(cli), "crawl")
    assert crawl is not None
    shown = run("help", "crawl").stdout
    assert re.findall(r"^(\w[\w ]+):$", shown, re.MULTILINE) == [*list(_SECTIONS)[:-1], "The run", "Output"]
    for option in (each for each in crawl.params if isinstance(each, click.Option)):
        if option.get_help_record(click.Context(crawl, click.Context(cli))):
            assert len(re.findall(rf"^  (?=-).*{option.opts[-1]}(?![-\w])", shown, re.MULTILINE)) == 1, option
    for names in _SECTIONS.values():
        for name in names.split():
            assert name == "help" or {name, f"crawl_{name}"} & {each.name for each in crawl.params}, name
