"""An archive that may only be read: what can be told is told, all else is refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.archives import user_git
from tests.crawls import Webarc
from tests.disks import read_only, write_protected
from tests.servers import Site


@pytest.fixture
def crawled(webarc: Webarc) -> Iterator[tuple[Webarc, Site, Path]]:
    """An archive with one domain, the site, and its folder."""
    with Site({"/": "<a href=/a>a</a>", "/a": "<p>a"}) as site:
        webarc.crawl(site.url())
        yield webarc, site, webarc.folder(site.url())


def test_a_sound_archive_is_found_sound(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, _ = crawled
    with read_only(webarc.archive):
        ran = webarc.run("verify")
    assert ran.code == 0 and ran.out.startswith("Sound: 2 versions of 1 domain"), (ran.out, ran.err)
    assert ran.out.endswith(" s; nothing is lost or altered.\n")


@pytest.mark.parametrize("harm", ["file", "tag"])
def test_damage_is_found(crawled: tuple[Webarc, Site, Path], harm: str) -> None:
    webarc, site, folder = crawled
    if harm == "file":
        (folder / "a" / "data.html").unlink()
    else:
        user_git(folder, "tag", "-d", *user_git(folder, "tag").split())
    with read_only(webarc.archive):
        ran = webarc.run("verify")
    damaged = [line for line in ran.out.splitlines() if line.startswith("damaged:")]
    assert ran.code == 11 and len(damaged) == 1 and site.domain in damaged[0], (ran.out, ran.err)
    assert "lock file" not in ran.out + ran.err


@pytest.mark.parametrize("command", ["crawl URL", "crawl --resume", "compact", "db-recover", "verify --repair", "init"])
def test_what_must_write_says_what_to_do(crawled: tuple[Webarc, Site, Path], command: str) -> None:
    webarc, site, _ = crawled
    with read_only(webarc.archive):
        ran = webarc.run(*(site.url() if word == "URL" else word for word in command.split()))
    assert ran.code == 3 and ran.err.count("\n") == 1 and ran.out == "", (ran.out, ran.err)
    assert "may not be written to; run the command as the user who owns it" in ran.err


@pytest.mark.parametrize("how", ["disk", "user"])
def test_status_says_that_it_can_be_read_only(crawled: tuple[Webarc, Site, Path], how: str) -> None:
    webarc, site, _ = crawled
    assert webarc.run("schedule", "add", "x", "--every", "1d", site.url()).code == 0
    assert webarc.run("status", "--json").result()["writable"]
    with protected(webarc, how) as reader:
        words, found, schedules = reader.run("status"), reader.run("status", "--json"), reader.run("schedule", "list")
        adding = reader.run("schedule", "add", "y", "--every", "1d", site.url())
    assert words.code == 0 and words.out.endswith("Everything is well.\n"), (words.out, words.err)
    assert "Access     may be read here, but not written to" in words.out and words.err == ""
    assert (found.result()["well"], found.result()["writable"], found.result()["remarks"]) == (True, False, [])
    assert schedules.code == 0 and "every 1d" in schedules.out
    assert adding.code == 3 and adding.err.count("\n") == 1 and "may not be written to" in adding.err


@pytest.mark.parametrize("how", ["disk", "user"])
def test_an_archive_without_schedules_lists_none(crawled: tuple[Webarc, Site, Path], how: str) -> None:
    webarc, _, _ = crawled
    assert not (webarc.archive / ".webarc" / "state.db").exists()
    with protected(webarc, how) as reader:
        listed, as_json = reader.run("schedule", "list"), reader.run("schedule", "list", "--json")
        crontab = reader.run("schedule", "crontab")
    assert listed.code == 0 and "there is no schedule yet" in listed.err, (listed.out, listed.err)
    assert (as_json.code, as_json.out, as_json.err) == (0, "", "") and crontab.code == 0


def test_damage_in_an_archive_that_may_only_be_read(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    (folder / ".git" / "HEAD").write_text("nonsense")
    with protected(webarc, "user") as reader:
        ran = reader.run("status")
    assert ran.code == 11 and "Something is broken." in ran.out and "may be read here" in ran.out


@contextmanager
def protected(webarc: Webarc, how: str) -> Iterator[Webarc]:
    """The same archive for somebody who may not write to it: because of the disk, or of its permissions."""
    if how == "disk":
        with read_only(webarc.archive):
            yield webarc
    else:
        with write_protected(webarc.archive) as prefix:
            yield Webarc(webarc.archive, prefix)
