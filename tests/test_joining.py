"""Hosts that join a crawl: what is kept does not depend on which answer comes first, and nothing of a guest is lost."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.processes import kill_tree
from tests.servers import Page, Site
from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.store import Archive
from webarc.archive.times import CET
from webarc.crawler.capture import PART, Capture, Committed, Order, Own
from webarc.crawler.filtering import make_chain
from webarc.crawler.keeper import Keeper
from webarc.crawler.options import CrawlOptions

LATE = 0.5
PICTURE = Page(b"\x89PNG\r\n\x1a\n" + b"\0" * 40, type="image/png")


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """Three hosts."""
    with ExitStack() as stack:
        yield [stack.enter_context(Site(host=f"127.0.0.{number}")) for number in (1, 2, 3)]


def moved(target: str, delay: float = 0.0) -> Page:
    """A redirect that takes its time."""
    return Page(b"", 302, {"Location": target}, delay=delay)


def outcomes(webarc: Webarc, *arguments: str, code: int = 0) -> dict[str, tuple[str, str]]:
    """Outcome and reason of every URL of a first crawl."""
    webarc.archive = webarc.archive.with_name(f"{webarc.archive.name}x")
    rows = webarc.report("--allow-private", *arguments, code=code)
    return {url: (row["outcome"], row.get("reason", "")) for url, row in rows.items()}


CASES = {
    "host": ((), {"/only", "/deep/x", "/"}),
    "no parent": (("--no-parent",), {"/deep/x", "/deep/"}),
    "any, no parent": (("--no-parent", "--scope", "any"), {"/deep/x", "/deep/"}),
    "any": (("--scope", "any"), {"/only", "/deep/x", "/"}),
    "prefix": (("--scope", "prefix"), {"/deep/x", "/deep/"}),
}
FIRST = "parts from anywhere"
ALL_CASES = {FIRST: (("--requisites-from-anywhere",), {"/only", "/deep/x", "/", "/i.png"}), **CASES}


@pytest.mark.parametrize("case", [FIRST, *(pytest.param(case, marks=pytest.mark.slow) for case in CASES)])
def test_when_a_host_joins_does_not_matter(webarc: Webarc, sites: list[Site], case: str) -> None:
    site, other, _ = sites
    options, wanted = ALL_CASES[case]
    landing = "/deep/" if "parent" in case or case == "prefix" else "/"
    names = "".join(f"<a href={other.url(page)}>x</a>" for page in ("/only", "/deep/x"))
    site.pages |= {"/s/": f"{names}<img src={other.url('/i.png')}>"}
    other.pages |= {"/": "home", "/deep/": "deep", "/only": "only", "/deep/x": "x", "/i.png": PICTURE}
    found = []
    for delays in ((0.0, LATE), (LATE, 0.0)):
        site.pages["/s/"] = Page(f"{names}<img src={other.url('/i.png')}>", delay=delays[0])
        site.pages["/s/go"] = moved(other.url(landing), delays[1])
        found.append(outcomes(webarc, *options, site.url("/s/"), site.url("/s/go")))
        assert wanted <= {url.removeprefix(other.url("")) for url, row in found[-1].items() if row[0] == "stored"}
        assert len(webarc.commits(other.url())) == 1
        assert webarc.git(other.url(), "status", "--porcelain") == b""
    assert found[0] == found[1]


def capture(archive: Archive, staging: Path, number: int) -> tuple[Capture, bytes]:
    url = f"http://guest.test/p{number}"
    body = f"<title>{number}</title>".encode()
    digest = hashlib.sha256(body).hexdigest()
    row = Capture(
        *(number, url, "guest.test", arc_of(url), 200, "1.1", (("Content-Type", "text/html"),), "text/html", "utf-8"),
        *(len(body), digest, str(number), time.time(), None),
    )
    place = staging / domain_folder("guest.test") / row.arc
    place.mkdir(parents=True)
    (place / PART).write_bytes(body)
    return row, body


def test_a_guest_that_becomes_an_owner_keeps_its_pages(tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "archive")
    with archive.new_staging("own.test") as staging:
        start = datetime(2026, 11, 15, 23, 50, tzinfo=CET)
        keeper = Keeper(archive, staging.path, make_chain(CrawlOptions(filters=())), start)
        for number in range(3):
            keeper.keep(capture(archive, staging.path, number)[0])
        keeper.own(Own("guest.test", archive.reserve("guest.test", start)))
        for number in range(3, 5):
            keeper.keep(capture(archive, staging.path, number)[0])
        assert keeper.verdicts().new == {"guest.test": 5}
        keeper.seal()
        events = list(keeper.commit([Order("guest.test", (), (), "five")]))
    assert [event.commit_tag for event in events if isinstance(event, Committed)] == ["2026-11-15T23:50:00@guest.test"]
    repository = archive.repository("guest.test")
    with repository.reader() as reader:
        for number in range(5):
            assert reader.read(f"main:p{number}/data.html") == f"<title>{number}</title>".encode()
            assert b"2026-11-15T23:50:00@guest.test" in (reader.read(f"main:p{number}/data.xml") or b"")


def test_a_guest_that_comes_while_the_crawl_runs(webarc: Webarc, sites: list[Site]) -> None:
    """The same bytes make no second version; other bytes make one, and versions stay in the order of time."""
    site, other, _ = sites
    pictures = "".join(f"<img src={other.url(name)}>" for name in ("/same.png", "/other.png"))
    site.pages["/"] = pictures
    other.pages |= {"/": f"{pictures}<a href=/slow>s</a>", "/same.png": PICTURE, "/other.png": PICTURE}
    other.pages["/slow"] = Page("slow", delay=4.0)
    own = webarc.start("crawl", "--json", other.url())
    while not {"/same.png", "/other.png", "/slow"} <= {request.path for request in other.requests}:
        assert own.poll() is None
        time.sleep(0.02)
    time.sleep(0.2)
    other.pages["/other.png"] = Page(b"\x89PNG\r\n\x1a\n" + b"\1" * 40, type="image/png")
    ran = webarc.run("crawl", "--json", "--allow-private", "--requisites-from-anywhere", site.url())
    assert ran.code == 0 and own.poll() is None, ran.err
    out, err = own.communicate()
    assert own.returncode == 0, err
    counts = json.loads(out)["counts"]
    assert (counts["new"], counts["changed"], counts["unchanged"]) == (3, 0, 1)
    rows = {name: webarc.run("log", "--json", other.url(name)).objects() for name in ("/same.png", "/other.png", "/")}
    assert {name: [row["number"] for row in found] for name, found in rows.items()} == {
        "/same.png": [1],
        "/other.png": [2, 1],
        "/": [1],
    }
    assert rows["/other.png"][0]["crawlTime"] > rows["/other.png"][1]["crawlTime"] > rows["/"][0]["crawlTime"]
    assert rows["/other.png"][0]["size"] == 48
    (crawl,) = (row for row in webarc.run("log", "--json", other.domain).objects() if "counts" in row)
    assert (crawl["counts"]["new"], crawl["counts"]["unchanged"]) == (3, 1)
    assert webarc.git(other.url(), "status", "--porcelain") == b""
    ran = webarc.run("verify")
    assert ran.code == 0, ran.out
    assert webarc.run("db-recover", "--verify").code == 0


def test_what_stands_in_the_place_of_a_guest_costs_the_crawl_nothing_else(webarc: Webarc, sites: list[Site]) -> None:
    site, other, _ = sites
    site.pages["/"] = f"<img src={other.url('/i.png')}>"
    other.pages["/i.png"] = PICTURE
    folder = Archive.create(webarc.archive).root / domain_folder(other.domain)
    folder.mkdir()
    (folder / ".git").write_text("gitdir: elsewhere\n")
    rows = webarc.report("--allow-private", "--requisites-from-anywhere", site.url())
    assert rows[site.url()]["outcome"] == "stored" and webarc.stored(site.url()) == {"%_"}
    assert (rows[other.url("/i.png")]["outcome"], rows[other.url("/i.png")]["reason"]) == ("filtered", "place")
    result = webarc.crawl("--allow-private", "--requisites-from-anywhere", site.url())
    assert ".git is a file that names a repository elsewhere" in " ".join(result["warnings"])


@pytest.mark.parametrize("first", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_two_start_hosts_that_lead_to_one(webarc: Webarc, sites: list[Site], first: int) -> None:
    """The host belongs to the instance that was first, but both pages that were asked for are kept."""
    one, two, common = sites
    one.pages["/"] = moved(common.url("/one"), LATE * (first != 0))
    two.pages["/"] = moved(common.url("/two"), LATE * (first != 1))
    common.pages |= {"/one": "1", "/two": "2"}
    ran = webarc.run("crawl", "--json", "--allow-private", one.url(), two.url())
    assert ran.code == 0, ran.err
    assert webarc.stored(common.url()) == {"one", "two"}


def test_a_resumed_crawl_takes_the_host_in_again(webarc: Webarc, sites: list[Site]) -> None:
    site, other, _ = sites
    leaves = [f"/p{number}" for number in range(20)]
    site.pages["/"] = moved(other.url("/"))
    other.pages |= {"/": "".join(f"<a href={leaf}>x</a>" for leaf in leaves)}
    other.pages |= {leaf: f"<a href={other.url(leaf)}/more>x</a>" for leaf in leaves}
    other.pages |= {f"{leaf}/more": "more" for leaf in leaves}
    other.delay = 0.1
    process = webarc.start("crawl", "--allow-private", "--connections", "1", site.url())
    while len(other.requests) < 8:
        assert process.poll() is None
        time.sleep(0.02)
    kill_tree(process.pid)
    process.communicate()
    other.delay = 0.0
    result = webarc.crawl("--resume", "--allow-private", site.url())
    assert len(webarc.stored(other.url())) == 41 and result["complete"]
    assert b"Webarc-Kind: crawl" in webarc.git(other.url(), "log", "--format=%B")


@pytest.mark.parametrize("slow", ["/go", pytest.param("/list", marks=pytest.mark.slow)])
def test_a_redirect_makes_its_target_near_whatever_came_first(webarc: Webarc, sites: list[Site], slow: str) -> None:
    site, *_ = sites
    site.pages |= {
        "/": "<a href=/go>g</a><a href=/list>l</a>",
        "/go": moved("/x", LATE * (slow == "/go")),
        "/list": Page("<a href=/x>x</a>", delay=LATE * (slow == "/list")),
        "/x": "<a href=/y>y</a>",
        "/y": "end",
    }
    rows = webarc.report("--depth", "2", site.url())
    assert (rows[site.url("/x")]["depth"], rows[site.url("/y")]["outcome"]) == (1, "stored")


@pytest.mark.parametrize("depth", ["3", pytest.param("inf", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "slow", ["/i", *(pytest.param(each, marks=pytest.mark.slow) for each in ("/as-link", "/as-part"))]
)
def test_a_part_that_is_linked_too_may_come_from_elsewhere(
    webarc: Webarc, sites: list[Site], slow: str, depth: str
) -> None:
    site, other, _ = sites
    site.pages |= {
        "/": "<a href=/as-link>l</a><a href=/far>f</a>",
        "/far": "<a href=/as-part>f</a>",
        "/as-link": Page("<a href=/i>x</a>", delay=LATE * (slow == "/as-link")),
        "/as-part": Page("<img src=/i>", delay=LATE * (slow == "/as-part")),
        "/i": moved(other.url("/i.png"), LATE * (slow == "/i")),
    }
    other.pages["/i.png"] = PICTURE
    found = outcomes(webarc, "--depth", depth, "--requisites-from-anywhere", site.url())
    assert found[other.url("/i.png")] == ("stored", "")


@pytest.mark.parametrize("slow", ["/b", pytest.param("/a", marks=pytest.mark.slow)])
def test_the_reason_for_leaving_a_url_out_does_not_depend_on_the_order(
    webarc: Webarc, sites: list[Site], slow: str
) -> None:
    site, *_ = sites
    site.pages |= {
        "/": "<a href=/a>a</a><a href=/b>b</a>",
        "/a": Page("<a href=/x rel=nofollow>x</a>", delay=LATE * (slow == "/a")),
        "/b": Page("<a href=/x>x</a>", delay=LATE * (slow == "/b")),
    }
    assert outcomes(webarc, "--depth", "1", site.url())[site.url("/x")] == ("skipped", "depth")


def test_a_commit_that_lacks_what_the_report_calls_stored_is_an_error(
    webarc: Webarc, sites: list[Site], tmp_path: Path
) -> None:
    site, *_ = sites
    site.pages |= {"/": "<a href=/lost>x</a>", "/lost": "1"}
    webarc.crawl(site.url())
    site.pages |= {"/": "<a href=/lost>x</a>changed", "/lost": "2"}
    forgetful = tmp_path / "bin" / "git"
    forgetful.parent.mkdir()
    forgetful.write_text(
        f"""#!/bin/sh
        git={shutil.which("git")}
        case " $* " in *" fast-import "*) exec sh -c 'sed -u "/lost\\/data/d" | "$@"' sh "$git" "$@" ;; esac
        exec "$git" "$@"
        """
    )
    forgetful.chmod(0o755)
    ran = webarc.run("crawl", "--json", site.url(), PATH=f"{forgetful.parent}:{os.environ['PATH']}")
    assert f"2 pages of {site.domain} were fetched to be stored, but its commit has 1" in ran.result()["error"]
    assert ran.code == 1
    assert list((webarc.archive / ".webarc" / "staging").iterdir()), "nothing is thrown away"


def test_an_index_that_somebody_else_rebuilds_is_no_loss(webarc: Webarc, sites: list[Site]) -> None:
    """It does not have the rows of a commit at every moment; the commit has its pages nevertheless."""
    site, *_ = sites
    site.pages |= {"/": "<a href=/late>x</a>", "/late": "1"}
    webarc.crawl(site.url())
    with sqlite3.connect(webarc.archive / ".webarc" / "index.db") as index:
        index.execute("CREATE TRIGGER late AFTER INSERT ON version BEGIN DELETE FROM version WHERE number = 2; END")
    site.pages |= {"/": "<a href=/late>x</a>changed", "/late": "2"}
    assert webarc.crawl(site.url())["counts"]["changed"] == 2
