"""Going on with a crawl that was killed or stopped, without asking again for what is already whole."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.processes import kill_tree
from tests.servers import Page, Site, redirect

LEAVES = [f"/p{number}" for number in range(40)]
HUB = "<title>Hub</title>" + "".join(f"<a href={leaf}>x</a>" for leaf in LEAVES)
PAGES = {"/": "<a href=/hub>hub</a><a href=/old>old</a>", "/hub": HUB, "/old": redirect("/p1", 301)}
PAGES |= {leaf: f"<title>{leaf}</title><p>{leaf * 50}</p>" for leaf in LEAVES}
WHOLE = len(PAGES) - 1


@pytest.fixture
def site() -> Site:
    """A site of 42 pages and a redirect."""
    return Site(PAGES, etags=True)


def temp_dirs(webarc: Webarc) -> list[Path]:
    """What is left in the staging folder."""
    return list((webarc.archive / ".webarc" / "staging").iterdir())


def killed(webarc: Webarc, site: Site, *options: str, whole: int = 12) -> set[str]:
    """Kill a crawl when some pages are whole in its temp dir; returns their ARCs."""
    site.delay = 0.1
    process = webarc.start("crawl", "--connections", "1", *options)
    while len(staged(webarc)) < whole:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    kill_tree(process.pid)
    process.communicate()
    site.delay = 0.0
    return staged(webarc)


def staged(webarc: Webarc) -> set[str]:
    """The ARCs that are whole in a temp dir."""
    # os.walk, for folders come and go meanwhile.
    found = os.walk(webarc.archive / ".webarc" / "staging")
    return {Path(folder).name for folder, _, names in found if "data.html" in names and is_described(Path(folder))}


def is_described(folder: Path) -> bool:
    """Whether the metadata is there to its end."""
    with suppress(FileNotFoundError):
        return (folder / "data.xml").read_bytes().rstrip().endswith(b"</arc>")
    return False


def asked(site: Site) -> Counter[str]:
    """How often each page was asked for since the last look."""
    found = Counter(site.targets())
    site.requests.clear()
    return found


def test_a_killed_crawl_goes_on(webarc: Webarc, site: Site) -> None:
    with site:
        whole = killed(webarc, site, site.url())
        before = asked(site)
        result = webarc.crawl("--resume", site.url())
        after = asked(site)
    assert all(after[f"/{arc}"] == 0 for arc in whole if arc.startswith("p")), (whole, after)
    assert set(before) | set(after) >= set(PAGES)
    assert result["complete"] and result["counts"]["new"] == WHOLE
    assert len(webarc.stored(site.url())) == WHOLE
    assert all(webarc.document(site.url(leaf)) == PAGES[leaf].encode() for leaf in LEAVES)  # type: ignore[union-attr]
    assert temp_dirs(webarc) == []


def test_a_resumed_crawl_has_a_tag_of_its_own(webarc: Webarc, site: Site) -> None:
    with site:
        killed(webarc, site, site.url())
        (note,) = (webarc.archive / ".webarc" / "staging").glob("*/.webarc/crawl.json")
        began = note.read_text().partition('"began": "')[2][:19].replace(" ", "T")
        result = webarc.crawl("--resume", site.url())
    assert result["commitTag"] > began
    assert webarc.commits(site.url()) == [result["commitTag"]]
    xml = webarc.git(site.url(), "show", "main:p1/data.xml").decode()
    assert f"<commitTag>{result['commitTag']}</commitTag>" in xml


def test_a_crawl_killed_again_and_again(webarc: Webarc, site: Site) -> None:
    with site:
        before: set[str] = set()
        for least in (8, 16, 24):
            whole = killed(webarc, site, "--resume", site.url(), whole=least)
            again = asked(site)
            assert all(again[f"/{arc}"] == 0 for arc in before if arc.startswith("p"))
            assert before <= whole
            before = whole
        result = webarc.crawl("--resume", site.url())
        again = asked(site)
    assert all(again[f"/{arc}"] == 0 for arc in before if arc.startswith("p"))
    assert result["complete"] and result["counts"]["new"] == WHOLE
    assert len(webarc.stored(site.url())) == WHOLE


def test_without_a_source_every_interrupted_crawl_goes_on(webarc: Webarc, site: Site) -> None:
    with site:
        killed(webarc, site, "--depth", "7", "--exclude", "p39$", site.url())
        ran = webarc.run("crawl", "--resume")
        assert ran.code == 0 and "goes on with the crawl that began at" in ran.err
        assert len(webarc.stored(site.url())) == WHOLE - 1
        nothing = webarc.run("crawl", "--resume")
    assert nothing.code == 0 and "no interrupted crawl" in nothing.err


def test_a_stopped_crawl_goes_on(webarc: Webarc, site: Site) -> None:
    with site:
        site.delay = 0.05
        process = webarc.start("crawl", "--connections", "1", site.url())
        while len(site.requests) < 15:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 13
        site.delay = 0.0
        before = asked(site)
        committed = webarc.stored(site.url())
        result = webarc.crawl("--resume", site.url())
        after = asked(site)
    assert committed and all(after[f"/{arc}"] == 0 for arc in committed if arc.startswith("p"))
    assert all(count == 1 for leaf, count in (before + after).items() if leaf in LEAVES and leaf[1:] in committed)
    assert result["complete"] and result["counts"]["new"] == WHOLE - len(committed)
    assert len(webarc.stored(site.url())) == WHOLE and len(webarc.commits(site.url())) == 2
    assert temp_dirs(webarc) == []


def test_a_limit_is_a_stop(webarc: Webarc, site: Site) -> None:
    with site:
        webarc.crawl("--max-pages", "10", site.url(), code=13)
        asked(site)
        webarc.crawl("--max-pages", "10", "--resume", site.url(), code=13)
        assert sum(asked(site).values()) <= 11
        assert 15 <= len(webarc.stored(site.url())) <= 20


def test_after_a_resumed_crawl_what_is_gone_goes(webarc: Webarc, site: Site) -> None:
    with site:
        webarc.crawl(site.url())
        site.pages["/p7"] = (404, {}, "gone")
        for leaf in LEAVES[10:]:
            site.pages[leaf] = Page(f"<title>new {leaf}</title>")
        killed(webarc, site, site.url())
        result = webarc.crawl("--resume", site.url())
    assert result["complete"] and result["counts"]["gone"] == 1 and result["counts"]["changed"] == 30
    assert webarc.document(site.url("/p7")) is None


def test_half_a_file_is_fetched_again(webarc: Webarc, site: Site) -> None:
    with site:
        killed(webarc, site, site.url())
        (half,) = (webarc.archive / ".webarc" / "staging").glob("*/*/p3/data.html")
        half.write_bytes(half.read_bytes()[:-1])
        asked(site)
        webarc.crawl("--resume", site.url())
        assert asked(site)["/p3"] == 1
    assert webarc.document(site.url("/p3")) == str(PAGES["/p3"]).encode()


@pytest.mark.parametrize("damage", ["cut", "gone", "junk"])
def test_a_spoilt_list_costs_no_file(webarc: Webarc, site: Site, damage: str) -> None:
    with site:
        whole = killed(webarc, site, site.url())
        (file,) = (webarc.archive / ".webarc" / "staging").glob("*/.webarc/frontier.db")
        file.with_name("frontier.db-wal").unlink()
        if damage == "gone":
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:1000] if damage == "cut" else b"junk" * 3000)
        asked(site)
        assert webarc.crawl("--resume", site.url())["counts"]["new"] == WHOLE
        after = asked(site)
    assert all(after[f"/{arc}"] == 0 for arc in whole if arc.startswith("p"))


def test_another_crawl_of_the_domain_starts_anew_and_says_so(webarc: Webarc, site: Site) -> None:
    with site:
        killed(webarc, site, site.url())
        other = webarc.run("crawl", "--resume", "--depth", "1", site.url())
        assert other.code == 0 and "goes on" not in other.err
        killed(webarc, site, site.url())
        plain = webarc.run("crawl", site.url())
    assert plain.code == 0 and "--resume would go on with that one" in plain.err
    assert temp_dirs(webarc) == []


def test_secrets_are_not_kept(webarc: Webarc, site: Site) -> None:
    with site:
        killed(webarc, site, "--header", "X-Token: hush-hush", site.url())
        kept = b"".join(file.read_bytes() for file in webarc.archive.rglob("*") if file.is_file())
        assert b"hush-hush" not in kept
        ran = webarc.run("crawl", "--resume")
        assert ran.code == 2 and "give its start URLs and options again" in ran.err
        again = webarc.run("crawl", "--resume", "--header", "X-Token: hush-hush", site.url())
        assert again.code == 0 and "goes on" in again.err


def test_a_temp_dir_of_a_living_crawl_is_left_alone(webarc: Webarc, site: Site) -> None:
    with site:
        site.delay = 0.2
        process = webarc.start("crawl", "--connections", "1", site.url())
        while len(staged(webarc)) < 5:
            time.sleep(0.02)
        ran = webarc.run("crawl", "--resume", "--lock-wait", "0", site.url())
        assert ran.code == 12
        said = ran.out + ran.err
        assert "is locked by process" in said and "(webarc crawl, since 20" in said, said
        site.delay = 0.0
        assert process.wait(30) == 0, process.communicate()
    assert len(webarc.stored(site.url())) == WHOLE


def test_a_temp_dir_that_cannot_be_read_is_no_obstacle(webarc: Webarc, site: Site) -> None:
    with site:
        killed(webarc, site, site.url())
        (note,) = (webarc.archive / ".webarc" / "staging").glob("*/.webarc/crawl.json")
        note.write_text("{")
        assert webarc.crawl("--resume", site.url())["counts"]["new"] == WHOLE
        shutil.rmtree(note.parent.parent)
