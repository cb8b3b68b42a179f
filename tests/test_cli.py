"""The command line: help everywhere, errors of one line with the right exit code, a quick start."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tests.crawls import Webarc, environment
from tests.histories import History, Page
from webarc import __version__
from webarc.archive.store import Archive
from webarc.cli.context import Context, command
from webarc.cli.main import COMMANDS, LazyGroup, cli
from webarc.cli.output import safe
from webarc.config.keys import KEYS
from webarc.errors import Locked, NoSpace, StorageProblem

ROOT = Path(__file__).parent.parent
HEAVY = (
    "rich",
    "lxml",
    "sqlalchemy",
    "pycurl",
    "git",
    "requests",
    "selectolax",
    "magic",
    "croniter",
    "regex",
    "tomllib",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path) -> Iterator[None]:
    with chdir(tmp_path):
        yield


def webarc(*arguments: str, **environ: str) -> Result:
    """Run webarc as a user with nothing set up."""
    clean = dict.fromkeys([name for name in os.environ if name.startswith("WEBARC_")])
    return CliRunner().invoke(cli, arguments, env={**clean, "HOME": str(Path.cwd()), **environ})


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(Path.cwd())}
    line = [sys.executable, "-m", "webarc", *arguments]
    return subprocess.run(line, env=environ, capture_output=True, text=True, check=False, timeout=60, **options)


def commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its path, loaded."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield (*path, name), found
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))


def test_every_command_and_option_is_explained() -> None:
    for path, found in commands():
        assert found.help, path
        for parameter in found.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (path, parameter.name)
        text = webarc(*path, "-h")
        assert text.exit_code == 0, (path, text.output)
        assert "Example" in text.output, path
    assert all(parameter.help for parameter in cli.params if isinstance(parameter, click.Option))


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    for name, (_, summary) in COMMANDS.items():
        found = cli.get_command(click.Context(cli), name)
        assert found is not None
        assert found.help is not None
        assert found.help.split("\n\n")[0].replace("\n", " ") == summary, name
        assert f"{name} " in webarc("-h").output


@pytest.mark.parametrize("argument", ["--version", "--help", "-h"])
def test_start_up_loads_click_and_nothing_heavier(argument: str) -> None:
    code = (
        "import sys\nfrom webarc.cli.main import main\n"
        f"sys.argv = ['webarc', {argument!r}]\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "print('\\n'.join(sys.modules))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()
    assert "click" in loaded
    assert [name for name in loaded if name.partition(".")[0] in HEAVY] == []
    assert [name for name in loaded if name.startswith("webarc.") and "cli" not in name and "errors" not in name] == []


def test_version() -> None:
    assert webarc("--version").output == f"webarc {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("crwl",), "there is no command 'crwl', did you mean 'crawl'?"),
        (("zzzz",), "there is no command 'zzzz'"),
        (("--foo",), "--foo"),
        (("crawl",), "at least one start URL"),
        (("crawl", "--depht", "3", "x"), "--depth"),
        (("crawl", "--depth", "three", "https://e.org/"), "--depth must be a whole number"),
        (("completion", "tcsh"), "tcsh"),
        (("config", "show", "--strict"), "--strict"),
        (("--archive", "/nowhere/at/all", "db-recover"), "/nowhere/at/all"),
        (("--archive", "/nowhere/at/all", "schedule", "list"), "/nowhere/at/all"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    result = webarc(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("webarc: ")
    assert said in line


def test_without_a_command_the_help_is_shown() -> None:
    result = webarc()
    assert result.exit_code == 2
    assert "Set up:" in result.stderr


def test_errors_as_json() -> None:
    result = webarc("--archive", "none", "db-recover", "--json")
    assert result.exit_code == 2
    error = json.loads(result.stderr)
    assert error["error"] == "NotAnArchive"
    assert "none" in error["message"]


def ending(problem: BaseException | int | None, *arguments: str) -> Result:
    """How a command that ends like this looks from outside."""

    @command
    def body(context: Context) -> int | None:
        if isinstance(problem, BaseException):
            raise problem
        return problem

    class One(LazyGroup):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return click.Command("init", callback=body)

    @click.group(cls=One)
    @click.option("-v", count=True)
    def group(v: int) -> None:
        pass

    return CliRunner().invoke(group, [*arguments, "init"])


_FULL = "webarc: the command found the disk full; free some space and run the command again.\n"


def _failed(reason: str) -> str:
    return f"webarc: the command failed ({reason}); mend the cause and run the command again.\n"


@pytest.mark.parametrize(
    ("problem", "code", "line"),
    [
        (None, 0, ""),
        (8, 8, ""),
        (Locked("busy\n  now."), 12, "webarc: busy now.\n"),
        (NoSpace("full \x1b[31m."), 3, "webarc: full \\x1b[31m.\n"),
        (StorageProblem("x."), 3, "webarc: x.\n"),
        (PermissionError(13, "Permission denied", "/a/b"), 3, _failed("Permission denied: /a/b")),
        (OSError(28, "No space left on device", "/a"), 3, _FULL),
        (
            RuntimeError("odd"),
            1,
            "webarc: internal error (RuntimeError: odd); run it again with -v to see where.\n",
        ),
    ],
)
def test_how_errors_end(problem: BaseException | int | None, code: int, line: str) -> None:
    result = ending(problem)
    assert (result.exit_code, result.stderr) == (code, line)


def test_ctrl_c_ends_with_13() -> None:
    result = ending(KeyboardInterrupt())
    assert result.exit_code == 13
    assert result.stderr.strip() == "webarc: stopped."


def test_a_traceback_is_shown_only_on_demand() -> None:
    assert "Traceback" not in ending(RuntimeError("odd")).stderr
    for option in ("-v", "-vv", "--verbose"):
        assert "Traceback" in ending(RuntimeError("odd"), option).stderr
    assert "Traceback" in ending(Locked("x."), "-v", "-v").stderr


def test_nobody_reads_on() -> None:
    line = f"{sys.executable} -m webarc config show | head -n 1"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(3):
        done = subprocess.run(line, shell=True, env=environ, capture_output=True, text=True, check=True, timeout=60)
        assert done.stderr == ""


def test_texts_cannot_steer_the_terminal() -> None:
    assert safe("a\x1b]0;x\x07\nb\u202e") == "a\\x1b]0;x\\x07\\x0ab\\u202e"


def test_config_show() -> None:
    Path("webarc.toml").write_text('[crawl]\ndepth = 2\nhttp_password = "hunter2"\n')
    result = webarc("config", "show", WEBARC_CRAWL_JOBS="7")
    assert result.exit_code == 0
    lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()}
    assert lines["crawl.depth"] == ["2", "webarc.toml:2"]
    assert lines["crawl.jobs"] == ["7", "$WEBARC_CRAWL_JOBS"]
    assert lines["crawl.tries"] == ["3", "built-in"]
    assert "hunter2" not in result.output


def test_config_show_as_json() -> None:
    result = webarc("--archive", "x", "config", "show", "--json", WEBARC_CRAWL_HTTP_PASSWORD="hunter2")
    found = {entry["key"]: entry for entry in map(json.loads, result.stdout.splitlines())}
    assert found["archive"] == {"key": "archive", "value": "x", "origin": "--archive"}
    assert found["crawl.depth"]["value"] == 5
    assert found["filters.use"]["value"] == ["mime"]
    assert found["crawl.interval"]["value"] is None
    assert "hunter2" not in result.output


FORMS: dict[str, object] = {
    "true": True,
    "false": False,
    "0": 0,
    "7": 7,
    "2.5": 2.5,
    '""': "",
    '"none"': "none",
    '"inf"': "inf",
    '"2"': "2",
    '"6h"': "6h",
    '"5M"': "5M",
    '"local"': "local",
    '"/dev/null"': "/dev/null",
    '"http://u:p@h:1"': "http://u:p@h:1",
    "[]": [],
    '["a", "b"]': ["a", "b"],
    '["text/*", "image/png"]': ["text/*", "image/png"],
    '["A: b", "Cookie: c"]': ["A: b", "Cookie: c"],
    "{}": {},
    '{a = "b"}': {"a": "b"},
}
TEXTS = ("yes", "off", "0", "7", "2.5", "none", "6h", "5M", "a", "a,b", "text/*", "A: b", "a=b,c=d", "socks5://h:1", "")


def accepted(read: Callable[[Any], object], form: object) -> bool:
    try:
        read(form)
    except ValueError:
        return False
    return True


def forms() -> Iterator[tuple[str, dict[str, str]]]:
    """Config files and environments; in one of them each key has this form of value, if it takes it."""
    own = {name: re.findall(r'"(\w+)"', key.kind.wanted) for name, key in KEYS.items()}
    for number in range(len(FORMS) + 1):
        lines, environ = [], {}
        for name, key in KEYS.items():
            read = [literal for literal, form in FORMS.items() if accepted(key.kind.read, form)]
            read += [f'"{word}"' for word in own[name] if accepted(key.kind.read, word)]
            parsed = [text for text in TEXTS if accepted(key.kind.parse, text)]
            lines += [f"{name} = {read[number]}\n"] if number < len(read) else []
            environ |= {key.variable: parsed[number]} if number < len(parsed) else {}
        yield "".join(lines), {}
        yield "", environ


def test_config_show_shows_every_key_in_every_form_of_value() -> None:
    for file, environ in forms():
        Path("webarc.toml").write_text(file)
        shown = webarc("config", "show", "--config", "webarc.toml", **environ)
        assert shown.exit_code == 0, (file, environ, shown.output)
        result = webarc("config", "show", "--config", "webarc.toml", "--json", **environ)
        assert result.exit_code == 0, (file, environ, result.output)
        assert {json.loads(line)["key"] for line in result.stdout.splitlines()} == set(KEYS)


@pytest.mark.parametrize(
    ("given", "shown"),
    [("true", "true"), ("false", "false"), ('["h", "10.0.0.0/8"]', "h, 10.0.0.0/8"), ("[]", "false")],
)
def test_config_show_of_hosts(given: str, shown: str) -> None:
    Path("webarc.toml").write_text(f"[crawl]\nallow_private = {given}\n")
    row = webarc("config", "show", "crawl.allow_private").stdout.splitlines()[-1]
    assert row.split(None, 1)[1].startswith(f"{shown} ")


def test_a_cookie_file_that_is_missing_stops_crawls_only() -> None:
    Path("webarc.toml").write_text('[crawl]\nload_cookies = "no.txt"\n')
    for arguments in (("config", "show"), ("config", "show", "--json"), ("filters",)):
        shown = webarc(*arguments)
        assert shown.exit_code == 0, shown.output
        assert "no.txt cannot be read" in shown.stderr
    refused = webarc("crawl", "https://e.org/")
    assert refused.exit_code == 2
    assert "line 2: crawl.load_cookies must be" in refused.stderr.splitlines()[-1]
    assert not Path("archive").exists()


def test_a_wrong_config_warns_or_stops() -> None:
    Path("webarc.toml").write_text("[crawl]\ndepht = 2\n")
    result = webarc("-q", "config", "show")
    assert result.exit_code == 0
    assert result.stderr.startswith("webarc: warning: webarc.toml, line 2: unknown key crawl.depht")
    assert len(result.stderr.splitlines()) == 1
    strict = webarc("--strict-config", "config", "show")
    assert strict.exit_code == 2
    assert "crawl.depht" in strict.stderr
    assert "ignored" not in strict.stderr
    missing = webarc("--config", "no.toml", "config", "show")
    assert missing.exit_code == 0
    assert "no.toml" in missing.stderr


def test_config_path() -> None:
    result = webarc("config", "path")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "built-in values" in result.stderr
    Path("webarc.toml").write_text("")
    assert webarc("config", "path").stdout.strip() == str(Path("webarc.toml").absolute())
    assert json.loads(webarc("config", "path", "--json").stdout)["path"] == str(Path("webarc.toml").absolute())


def test_filters() -> None:
    Path("own.py").write_text("def keep(path): return True\n")
    Path("filters").mkdir()
    Path("filters/size.toml").write_text('max = "1M"\n')
    Path("webarc.toml").write_text('[filters]\nuse = ["size", "own"]\nmodules = {own = "own.py:keep"}\n')
    result = webarc("filters")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[:3] for line in lines[1:]] == [
        ["size", "on", "webarc"],
        ["own", "on", "config"],
        ["duplicate", "off", "webarc"],
        ["mime", "off", "webarc"],
        ["pattern", "off", "webarc"],
    ]
    found = [json.loads(line) for line in webarc("filters", "--json").stdout.splitlines()]
    assert found[0]["settings"] == {"max": "1M"}
    assert found[0]["file"].endswith("filters/size.toml")
    assert found[1]["target"].endswith("own.py:keep")


def test_filters_that_nothing_provides() -> None:
    result = webarc("filters", WEBARC_FILTERS_USE="mimee")
    assert result.exit_code == 2
    assert "did you mean 'mime'?" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    result = webarc("completion", shell)
    assert result.exit_code == 0
    assert "_WEBARC_COMPLETE" in result.stdout


def test_completion_completes() -> None:
    environ = {"_WEBARC_COMPLETE": "bash_complete", "_WEBARC_LINE": "webarc sch"}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'webarc'; from webarc.cli.main import main; main()"],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "word schedule\n"


def test_init_makes_an_archive_and_keeps_what_is_there() -> None:
    first = webarc("init", "web")
    assert first.exit_code == 0, first.output
    config = Path("web/webarc.toml")
    assert Path("web/.webarc").is_dir()
    config.write_text(config.read_text() + "\n# mine\n")
    again = webarc("init", "web")
    assert again.exit_code == 0
    assert config.read_text().endswith("# mine\n")
    with chdir("web"):
        shown = {
            entry["key"]: entry for entry in map(json.loads, webarc("config", "show", "--json").stdout.splitlines())
        }
        assert Path(shown["archive"]["value"]).absolute() == Path.cwd()
        assert shown["archive"]["origin"].startswith("webarc.toml:")
        assert shown["crawl.depth"]["origin"] == "built-in"
        assert webarc("schedule", "list").exit_code == 0


def test_init_where_the_settings_say() -> None:
    assert webarc("init", WEBARC_ARCHIVE="there").exit_code == 0
    assert Path("there/.webarc").is_dir()
    Path("file").write_text("")
    result = webarc("init", "file")
    assert result.exit_code in (2, 3)
    assert len(result.stderr.splitlines()) == 1


def test_recovery_of_an_empty_archive() -> None:
    webarc("init", "web")
    result = webarc("--archive", "web", "db-recover", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["domains"], found["versions"], found["problems"]) == (0, 0, [])
    assert "0 versions of 0 domains" in webarc("--archive", "web", "db-recover").stdout


def scheduled(*arguments: str) -> Result:
    return webarc("--archive", "web", "schedule", *arguments)


def test_schedules_are_added_listed_and_removed() -> None:
    Path("urls.txt").write_text("https://example.org/\n")
    added = scheduled("add", "nightly", "--cron", "0 3 * * *", "-l", "3", "--report=r.json", "--no-robots", "urls.txt")
    assert added.exit_code == 0, added.output
    assert "nightly: first crawl" in added.stdout
    assert scheduled("add", "news", "--every", "360m", "https://example.org/news").exit_code == 0
    listed = [json.loads(line) for line in scheduled("list", "--json").stdout.splitlines()]
    assert [entry["name"] for entry in listed] == ["news", "nightly"]
    assert listed[0]["every"] == "6h"
    here = Path.cwd()
    assert listed[1]["argv"] == ["-l", "3", f"--report={here}/r.json", "--no-robots", f"{here}/urls.txt"]
    text = scheduled("list").stdout
    assert "every 6h" in text
    assert "never" in text
    lines = scheduled("crontab").stdout
    assert f"--archive {here}/web crawl -q -l 3" in lines
    assert "schedule run" in scheduled("systemd").stdout
    assert scheduled("remove", "news").exit_code == 0
    assert scheduled("remove", "news").exit_code == 2
    again = scheduled("add", "nightly", "--every", "1h", "https://example.org/")
    assert again.exit_code == 2
    assert "already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("n", "https://e.org/"), "--cron or --every"),
        (("n", "--cron", "0 3 * * *", "--every", "1h", "https://e.org/"), "--cron or --every"),
        (("n", "--cron", "0 3 * *", "https://e.org/"), "five fields"),
        (("n", "--every", "often", "https://e.org/"), "duration"),
        (("n", "--every", "1h"), "start URL"),
        (("n", "--every", "1h", "missing.txt"), "missing.txt"),
        (("n", "--every", "1h", "-"), "standard input"),
        (("n", "--every", "1h", "--depth", "x", "https://e.org/"), "--depth"),
        (("n", "--every", "1h", "--depht", "1", "https://e.org/"), "--depht"),
        (("n", "--every", "1h", "--interval", "2h", "https://e.org/"), "--interval"),
        (("n", "--every", "1h", "--dry-run", "https://e.org/"), "--dry-run"),
        (("n", "--every", "1h", "--http-password", "hunter2", "https://e.org/"), "passwords"),
        (("n", "--every", "1h", "https://me:hunter2@e.org/"), "passwords"),
        (("n", "--every", "1h", "--proxy", "http://me:hunter2@p:1", "https://e.org/"), "passwords"),
        (("n", "--every", "1h", "--proxy", "me:hunter2@p:1", "https://e.org/"), "--proxy"),
        (("n", "--every", "1h", "--header", "Authorization: Bearer hunter2", "https://e.org/"), "crawl.headers"),
        (("n", "--every", "1h", "--header=cookie:hunter2", "https://e.org/"), "crawl.headers"),
        (("n", "--every", "1h", "--header", "Proxy-Authorization: hunter2", "https://e.org/"), "crawl.headers"),
        (("n", "--every", "1h", "--header", "X-Api-Key: hunter2", "https://e.org/"), "crawl.headers"),
        (("n", "--every", "1h", "--header", "X-Who: Basic hunter2", "https://e.org/"), "crawl.headers"),
        (("n", "--every", "1h", "--load-cookies", "no.txt", "https://e.org/"), "no.txt"),
        (("n", "--every", "1h", "--accept-type", "html", "https://e.org/"), "--accept-type"),
        (("n", "--every", "1h", "--no-filter", "nope", "https://e.org/"), "'nope'"),
        (("n", "--every", "1h", "--filter", "nope", "https://e.org/"), "'nope'"),
        (("../n", "--every", "1h", "https://e.org/"), "name"),
        (("--depth", "1", "n", "--every", "1h", "https://e.org/"), "NAME first"),
    ],
)
def test_a_schedule_that_cannot_work_is_refused_at_once(arguments: tuple[str, ...], said: str) -> None:
    webarc("init", "web")
    result = scheduled("add", *arguments)
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert said in line
    assert "hunter2" not in line
    assert scheduled("list", "--json").stdout == ""
    assert not any(b"hunter2" in file.read_bytes() for file in Path("web").rglob("*") if file.is_file())


def printed(result: Result) -> list[str]:
    """The words before `crawl` of the one command that was printed."""
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    (line,) = (line for line in result.stdout.splitlines() if " --archive " in line)
    words = shlex.split(line.partition(" -m webarc ")[2])
    return words[: words.index("crawl" if "crawl" in words else "schedule")]


@pytest.mark.parametrize("what", ["crontab", "systemd"])
def test_what_is_printed_works_from_anywhere(what: str) -> None:
    here = Path.cwd()
    webarc("init", "web")
    assert scheduled("add", "n", "--every", "1h", "--header", "Accept-Language: de", "https://e.org/").exit_code == 0
    archive, config = ["--archive", f"{here}/web"], ["--config", f"{here}/web/webarc.toml"]
    assert printed(scheduled(what)) == archive
    assert printed(webarc("schedule", what, WEBARC_CONFIG="web/webarc.toml")) == archive + config
    named = webarc("--config", "web/webarc.toml", "--strict-config", "schedule", what)
    assert printed(named) == [*archive, *config, "--strict-config"]
    with chdir("web"):
        # The archive's own file is found by way of the archive, and the user's own from everywhere.
        assert printed(webarc("schedule", what)) == archive
        given = webarc("--database", "sqlite:///my.db", "schedule", what)
        assert printed(given) == [*archive, "--database", f"sqlite:///{here}/web/my.db"]
    home = Path(".config/webarc/webarc.toml")
    home.parent.mkdir(parents=True)
    home.write_text('archive = "../../web"\ndatabase = "sqlite:///i.db"\n')
    words = printed(webarc("schedule", what))
    assert words[2:] == ["--database", f"sqlite:///{here}/{home.parent}/i.db"]
    Path("webarc.toml").write_text("")
    assert printed(scheduled(what)) == [*archive, "--config", f"{here}/webarc.toml", *words[2:][:0]]
    Path("webarc.toml").unlink()
    lost = scheduled_with(what, WEBARC_CRAWL_DEPTH="1")
    assert lost.exit_code == 0
    assert "$WEBARC_CRAWL_DEPTH" in lost.stderr


def scheduled_with(what: str, *options: str, **environ: str) -> Result:
    return webarc("--archive", "web", *options, "schedule", what, **environ)


@pytest.mark.parametrize("what", ["crontab", "systemd"])
def test_a_password_of_the_database_is_not_printed(what: str) -> None:
    webarc("init", "web")
    scheduled("add", "n", "--every", "1h", "https://e.org/")
    url = "postgresql+psycopg://me:hunter2@h/d"
    for result in (scheduled_with(what, "--database", url), scheduled_with(what, WEBARC_DATABASE=url)):
        assert result.exit_code == 2
        assert "config file" in result.stderr
        assert "hunter2" not in result.output
    Path("webarc.toml").write_text(f'database = "{url}"\n')
    result = scheduled(what)
    assert "hunter2" not in result.output
    assert printed(result)[2:] == ["--config", f"{Path.cwd()}/webarc.toml"]


def test_names_of_schedules_to_run_are_checked() -> None:
    webarc("init", "web")
    done = process("--archive", "web", "schedule", "run", "--once", "nope")
    assert done.returncode == 2
    assert "no schedule 'nope'" in done.stderr


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A small site on loopback."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text('<!DOCTYPE html><title>t</title><a href="b.html">b</a><a href="c.txt">c</a>')
    (folder / "b.html").write_text("<!DOCTYPE html><p>b")
    (folder / "c.txt").write_text("plain words\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_line_for_crontab_crawls_with_the_settings_of_its_archive(site: str, tmp_path: Path) -> None:
    webarc("init", "web")
    Path("other").mkdir()
    config = Path("web/webarc.toml")
    config.write_text(config.read_text().replace("# depth = 5", "depth = 0"))
    with chdir("web"):
        assert webarc("schedule", "add", "n", "--cron", "0 3 * * *", site).exit_code == 0
        line = webarc("schedule", "crontab").stdout.splitlines()[-1]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        shlex.split(line.partition("* * * ")[2]), cwd="other", env=environ, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    folder = next(Path("web").glob("127.0.0.1*"))
    assert not (folder / "b.html").exists()


def test_a_crawl_that_is_started_keeps_the_settings(site: str) -> None:
    webarc("init", "web")
    with chdir("web"):
        config = Path("webarc.toml")
        config.write_text(config.read_text().replace("# depth = 5", "depth = 0"))
        assert webarc("schedule", "add", "n", "--every", "1s", site).exit_code == 0
        time.sleep(1.1)
        done = process("--database", "sqlite:///my.db", "schedule", "run", "--once")
        assert done.returncode == 0, done.stderr + Path(".webarc/log/schedule-n.log").read_text()
        assert Path("my.db").exists()
        assert not (next(Path().glob("127.0.0.1*")) / "b.html").exists()


def test_a_schedule_crawls_filters_and_is_recovered(site: str) -> None:
    webarc("init", "web")
    Path("web/filters").mkdir()
    Path("web/filters/mime.toml").write_text('excludes = ["text/plain"]\n')
    assert webarc("--config", "web/webarc.toml", "schedule", "add", "n", "--every", "1s", site).exit_code == 0
    time.sleep(1.1)
    done = process("--config", "web/webarc.toml", "schedule", "run", "--once")
    log = Path("web/.webarc/log/schedule-n.log").read_text()
    assert done.returncode == 0, done.stderr + log
    (row,) = map(json.loads, scheduled("list", "--json").stdout.splitlines())
    assert row["exitCode"] == 0
    assert row["lastEnd"] >= row["lastStart"]
    folder = next(Path("web").glob("127.0.0.1*"))
    assert (folder / "b.html" / "data.html").read_text() == "<!DOCTYPE html><p>b"
    assert not (folder / "c.txt").exists()
    recovered = process("--archive", "web", "db-recover")
    assert recovered.returncode == 0, recovered.stderr
    assert "2 versions of 1 domain in" in recovered.stdout


def test_signs_that_the_terminal_does_not_have_are_shown_as_escapes(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    site.crawl({"": Page("<p>\u65e5\u672c", title="\u65e5\u672c \u03a9")})
    for words in (("log", "example.org/"), ("when", "\u65e5\u65e5")):
        ran = Webarc(site.archive.root).run(*words, PYTHONIOENCODING="latin-1")
        assert ran.code == 0 and "\\u65e5" in ran.out, (ran.out, ran.err)


def test_an_archive_whose_path_is_not_utf8(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / os.fsdecode(b"arch\xff") / "archive"))
    site.crawl({"": Page("<p>one")})
    webarc = Webarc(site.archive.root)
    for words in (
        ("schedule", "add", "n", "--every", "1d", "https://example.org/"),
        ("schedule", "list"),
        ("status",),
        ("when", "one"),
        ("verify",),
    ):
        ran = webarc.run(*words)
        assert ran.code == 0 and "error" not in ran.err, (words, ran.err)


def test_a_pipe_that_is_closed_ends_a_command_as_it_ends_git(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    site.crawl({f"{'long' * 30}{number}": Page("<p>one") for number in range(500)})
    script = '"$0" -m webarc --archive "$1" list -q example.org --json | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}'
    words = ["bash", "-c", script, sys.executable, str(site.archive.root)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("141\n", "")
