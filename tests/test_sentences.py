"""Every mistake is answered with one sentence: what happened, and what to do next."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.histories import History
from webarc.archive.store import Archive
from webarc.cli.main import cli

HOST = "example.org"
TAG = "2026-01-01T01:00:00@example.org"
UNKNOWN = "2026-01-01T09:00:00@example.org"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A domain with two pages, one of two versions."""
    site = History(Archive.create(tmp_path_factory.mktemp("sentences") / "archive"))
    site.crawl({"": "<p>one two", "doc": "document"})
    site.crawl({"": "<p>one three"})
    return site.archive.root


def said(archive: Path, capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code and what stood on standard error."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["--archive", str(archive), *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code, capfd.readouterr().err


def one_sentence(err: str) -> str:
    """One line that ends as sentences do, without anything that only a programmer would know."""
    (line,) = err.splitlines()
    assert re.search(r"[^.?!][.?]$", line), line
    assert not re.search(r"Errno|Traceback|internal error|[?!;,]\.|\.\.|\.;|\?;", line), line
    assert line.startswith("webarc: ") and (";" in line or "?" in line), f"nothing says what to do: {line}"
    return line


MISTAKES = {
    "list exmaple.org": "did you mean example.org?",
    "list nowhere.test": "webarc list",
    "list --all": "name one",
    "list --versions": "there is no option --versions",
    "log exmaple.org": "did you mean example.org?",
    f"log {HOST}/dco": f"http://{HOST}/doc",
    f"log {HOST} --since soon": "'soon' is not a time",
    f"log {HOST} -n 0": "webarc log -h",
    f"get {HOST}/dco": f"http://{HOST}/doc",
    "get exmaple.org/": "did you mean example.org?",
    "get ftp://example.org/": "http",
    "get http://[::1": "check its spelling",
    "get": "webarc get -h",
    f"get {HOST}/ a b": "(a b); see",
    f"get {HOST}/ --at 1999-01-01": "its first version is 1",
    f"get {HOST}/ --at soon": "'3 days ago'",
    f"get {HOST}/ --version 9": "it has 1 to 2",
    f"get {HOST}/ --version x": "webarc get -h",
    f"get {HOST}/ --commit {UNKNOWN}": "the one before is",
    f"get {HOST}/ --commit nonsense": f"webarc log {HOST}",
    f"get {HOST}/ --commit 2026-01-01T01:00:00@other.org": f"webarc log {HOST}",
    f"get {HOST}/ --at now --version 1": "give one of them",
    f"get {HOST}/ -o .": "name a file in it",
    f"get {HOST}/ -o": "requires an argument",
    f"diff {HOST}/ 9": "it has 1 to 2",
    f"diff {HOST}/ {UNKNOWN}": "the one before is",
    f"diff {HOST}/ 1 soon": "'soon' is not a time",
    f"diff {HOST}/ 1 2 3": "two can be compared, not 3",
    f"diff --words {HOST}/": "there is no option --words",
    f"diff {HOST}/ --stats": "did you mean --stat?",
    "changes exmaple.org": "did you mean example.org?",
    f"changes {HOST} -9": "it has 2 crawls",
    f"changes {HOST} 1": "-1 for the last crawl",
    f"changes {HOST} 1999-01-01": f"its first crawl is {TAG}",
    f"changes {HOST} {UNKNOWN}": "the one before is",
    "when exmaple.org x": "did you mean example.org?",
    f"when {HOST} \t": "the phrase is empty",
    f"when {HOST}/dco x": f"http://{HOST}/doc",
    f"checkout {HOST} /proc": "is not empty",
    f"checkout {HOST} new --at 1999-01-01": "its first crawl",
    f"checkout {HOST} new --at {UNKNOWN}": "the one before is",
    f"checkout {HOST} new --links short": "'relative'",
    "checkout exmaple.org new": "did you mean example.org?",
    f"checkout {HOST} /proc/new": "writing to /proc/new failed",
    "status now": "webarc status -h",
    "verify exmaple.org": "did you mean example.org?",
    "compact exmaple.org": "did you mean example.org?",
    f"forget {HOST}/": "--reason",
    f"forget {HOST}/dco --reason x --yes": f"http://{HOST}/doc",
    f"forget {HOST}/ --reason x --yes --version 9": "it has 1 to 2",
    "retain --keep often=3 --yes": "daily=30,monthly=12",
    "retain exmaple.org --keep daily=3 --yes": "did you mean example.org?",
    "chekout": "did you mean 'checkout'?",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence(
    archive: Path, mistake: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, err = said(archive, capfd, *mistake.split(" "))
    assert MISTAKES[mistake] in one_sentence(err)
    assert code in (2, 3)
    assert list(tmp_path.iterdir()) == []


CONDITIONS = {
    "colour = 'red'": "no field 'colour'",
    "status": "'status' alone is no condition",
    "true": "alone is no condition",
    "status =": "cannot be read",
    "status = 'abc'": "'abc' is not a whole number",
    "status IN 200": "status IN (200, 404)",
    "status IN ()": "status IN (200, 404)",
    "status IN (SELECT 1)": "status IN (200, 404)",
    "title IN (url)": "status IN (200, 404)",
    "title IS 5": "use =",
    "title LIKE 5": "LIKE '%tide%'",
    "crawlTime > 'soon'": "'soon' is not a time",
    "crawlTime IN ('2026-01-01', '')": "is not a time",
    "createTime BETWEEN 'soon' AND 'now'": "'soon' is not a time",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_wrong_condition_is_one_sentence(archive: Path, condition: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, err = said(archive, capfd, "list", "--where", condition)
    assert CONDITIONS[condition] in one_sentence(err)
    assert code == 2


COMMANDS = ["list", f"log {HOST}/", f"get {HOST}/", f"diff {HOST}/", f"changes {HOST}", f"when {HOST} x"]
COMMANDS += [f"checkout {HOST} new", "status", "verify", "compact", f"forget {HOST}/ --reason x --yes"]
COMMANDS += ["retain --keep daily=3 --yes"]


@pytest.mark.parametrize("command", COMMANDS)
def test_where_there_is_no_archive(command: str, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, err = said(tmp_path, capfd, *command.split(" "))
    assert "webarc init" in one_sentence(err)
    assert code == 2


@pytest.mark.parametrize("name", ["get", "changes"])
def test_a_folder_that_is_missing_is_named(
    archive: Path, name: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    option = ["-o"] if name == "get" else ["--html"]
    for folder in (tmp_path / "missing", tmp_path / "file"):
        (tmp_path / "file").touch()
        code, err = said(archive, capfd, name, f"{HOST}/", *option, str(folder / "page.html"))
        assert f"{folder} {'does not exist' if folder.name == 'missing' else 'is no folder'}" in one_sentence(err)
        assert code == 3


@pytest.mark.parametrize("command", [each for each in COMMANDS[1:] if HOST in each] + [f"verify {HOST}"])
def test_a_folder_that_is_no_repository_any_more_is_named(
    archive: Path, command: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy, symlinks=True)
    shutil.rmtree(copy / HOST / ".git")
    code, err = said(copy, capfd, *command.split(" "))
    assert f"{copy / HOST} is no git repository any more" in one_sentence(err)
    assert code == 2


def test_a_version_that_is_lost_is_named_once(archive: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy, symlinks=True)
    for pack in (copy / HOST / ".git" / "objects").rglob("*.pack"):
        pack.unlink()
    code, err = said(copy, capfd, "get", f"{HOST}/doc")
    warning, error = err.splitlines()
    assert "its history is gone" in one_sentence(warning) and one_sentence(error).count("version 1 of") == 1
    assert code == 11
