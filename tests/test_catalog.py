"""Finding domains, pages, crawls and bytes in an archive, as people name them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import text

from tests import postgres
from tests.crawls import ROOT, environment
from tests.histories import History, Page, eventful
from tests.index_rows import batch, columns, tag
from webarc.archive import times
from webarc.archive.catalog import Catalog, removed_before
from webarc.archive.indexing import catch_up
from webarc.archive.instants import instant
from webarc.archive.nearest import nearest_arcs
from webarc.archive.store import Archive
from webarc.errors import BadTime, BadURL, Damaged, NoSuchVersion, UnknownDomain, UnknownURL
from webarc.sql.index import Index

DAY = "2026-01-01"


@pytest.fixture
def site(tmp_path: Path) -> History:
    """Five crawls, one an hour from 01:00: /a changes twice, /b goes and comes back, /old leads to /a."""
    site = History(Archive.create(tmp_path / "archive"))
    ok = site.outcome
    old = ok("old", 301, target=site.url("a"))
    site.crawl({"a": "a one", "b": "b one", "%C3%BC?x=%C3": "query"}, urls=[ok("a"), ok("b"), old])
    site.crawl({"a": "a two"}, urls=None)
    site.crawl({}, ("b",), urls=[ok("a"), ok("b", 404), old])
    site.crawl({"a": "a three"}, urls=None)
    site.crawl({"b": "b two"}, urls=[ok("a"), ok("b"), old])
    return site


@pytest.fixture
def catalog(site: History) -> Iterator[Catalog]:
    index = Index.at(site.archive.index_file)
    with Catalog(site.archive, index) as catalog:
        yield catalog
    index.close()


def at(clock: str) -> str:
    return f"{DAY} {clock}:00"


PASTED = """
    http://example.org/a  https://example.org/a  example.org/a  //example.org/a  EXAMPLE.org/a#part  <https://example.org/a>
    example.org:80/a  example.org:443/a  https://user:pass@example.org./a  example.org/x/../a  http://example.org/old
    example.org/old
"""


@pytest.mark.parametrize("pasted", [*PASTED.split(), "  example.org/a\n"])
def test_a_page_is_found_however_it_is_pasted(catalog: Catalog, pasted: str) -> None:
    page = catalog.page(pasted)
    assert (page.url, page.domain, page.arc) == ("http://example.org/a", "example.org", "a")
    assert [catalog.read(row) for row in page.versions] == [b"a one", b"a two", b"a three"]


@pytest.mark.parametrize("pasted", ["example.org/ü?x=%C3", "example.org/%c3%bc?x=%c3"])
def test_escapes_may_be_written_in_either_case_or_not_at_all(catalog: Catalog, pasted: str) -> None:
    assert catalog.read(catalog.page(pasted).newest()) == b"query"


def test_an_unknown_page_is_answered_with_the_nearest_ones(catalog: Catalog) -> None:
    with pytest.raises(
        UnknownURL, match=r"no page 'https://example.org/aa'.*the nearest it has:.*http://example.org/a"
    ):
        catalog.page("example.org/aa")
    with pytest.raises(UnknownURL, match=r"nothing of exampel\.org; did you mean example\.org\?"):
        catalog.page("exampel.org/a")
    with pytest.raises(UnknownURL, match="run `webarc list`"):
        catalog.page("nowhere.test/")
    with pytest.raises(BadURL):
        catalog.page(" ")
    with pytest.raises(BadURL, match="only those can be archived"):
        catalog.page("ftp://example.org/a")


def test_redirects_that_lead_nowhere_or_in_circles_end(site: History, catalog: Catalog) -> None:
    ok = site.outcome
    rounds = [ok(f"r{n}", 302, target=site.url(f"r{(n + 1) % 3}")) for n in range(3)]
    lost = ok("lost", 301, target="https://elsewhere.test/")
    site.crawl({}, urls=sorted([*rounds, lost, ok("missing", 404)]))
    with pytest.raises(UnknownURL, match=r"r0.*redirects to"):
        catalog.page("example.org/r0")
    with pytest.raises(UnknownURL, match=r"redirects to 'https://elsewhere\.test/', which it does not have either"):
        catalog.page("example.org/lost")
    with pytest.raises(UnknownURL, match="it answered 404"):
        catalog.page("example.org/missing")


def test_a_redirect_is_followed_into_another_domain(site: History, catalog: Catalog) -> None:
    other = History(site.archive, "other.test:8080")
    other.crawl({"x": "over here"})
    site.crawl({}, urls=[site.outcome("away", 301, target=other.url("x"))])
    page = catalog.page("example.org/away")
    assert (page.domain, catalog.read(page.newest())) == ("other.test:8080", b"over here")
    assert catalog.domain("OTHER.test:8080") == catalog.domain("other.test%_3A8080") == "other.test:8080"


def test_domains_are_found_by_host_or_url(catalog: Catalog) -> None:
    assert catalog.domains() == ["example.org"]
    for pasted in (
        "example.org",
        "EXAMPLE.ORG.",
        "https://example.org/anything?x",
        "example.org:80",
        "http://example.org",
    ):
        assert catalog.domain(pasted) == "example.org"
    with pytest.raises(UnknownDomain, match=r"no domain exmaple\.org; did you mean example\.org\?"):
        catalog.domain("exmaple.org")


def test_a_bare_host_is_a_domain_and_all_else_a_page(catalog: Catalog) -> None:
    assert all(map(catalog.is_domain, ("example.org", " example.org:8080 ", "localhost", "[::1]:80")))
    assert not any(
        map(catalog.is_domain, ("example.org/", "https://example.org", "example.org/a", "example.org?x", ""))
    )


def test_an_empty_archive_says_what_to_do(tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "archive")
    with Catalog(archive, Index.at(archive.index_file)) as catalog, pytest.raises(UnknownDomain, match="webarc crawl"):
        catalog.domain("example.org")


def test_versions_by_number(catalog: Catalog) -> None:
    page = catalog.page("example.org/a")
    assert [page.number(number).number for number in (1, 3, -1, -3)] == [1, 3, 3, 1]
    for number in (0, 4, -4):
        with pytest.raises(NoSuchVersion, match=f"no version {number}; it has 1 to 3"):
            page.number(number)
    assert page.before(page.number(1)) is None and page.before(page.newest()) == page.number(2)


def test_the_version_that_was_current_then(catalog: Catalog) -> None:
    page = catalog.page("example.org/a")
    moments = {"01:00": 1, "01:59": 1, "02:00": 2, "03:30": 2, "04:00": 3, "23:00": 3}
    assert {clock: page.at(times.parse(at(clock))).number for clock in moments} == moments
    with pytest.raises(NoSuchVersion, match=f"its first version is 1, of {at('01:00')} CET"):
        page.at(times.parse(at("00:59")))
    assert page.at(instant("20260101000000")).number == 1  # digits are UTC, so this is 01:00 CET


def test_a_page_that_was_gone_then_gives_its_last_version_and_says_so(catalog: Catalog) -> None:
    page = catalog.page("example.org/b")
    states = {clock: (page.at(times.parse(at(clock))), at(clock)) for clock in ("02:00", "03:00", "04:00", "05:00")}
    assert [row.number for row, _ in states.values()] == [1, 1, 1, 2]
    assert [removed_before(*state) for state in states.values()] == [False, True, True, False]


def test_versions_by_crawl(catalog: Catalog) -> None:
    page = catalog.page("example.org/a")
    tags = {f"{DAY}T0{hour}:00:00@example.org": number for hour, number in ((1, 1), (2, 2), (3, 2), (4, 3), (5, 3))}
    assert {tag: page.tagged(tag).number for tag in tags} == tags
    for wrong in (f"{DAY}T01:00:00@other.org", "nonsense", "nonsense@example.org"):
        with pytest.raises(NoSuchVersion, match="is no crawl of"):
            page.tagged(wrong)


def test_a_version_by_number_crawl_or_time(catalog: Catalog) -> None:
    page = catalog.page("example.org/a")
    chosen = {
        "1": 1,
        "-1": 3,
        " 2 ": 2,
        f"{DAY}T02:00:00@example.org": 2,
        f"{DAY} 02:30": 2,
        DAY: 3,
        "2026": 3,
        "now": 3,
    }
    assert {text: page.chosen(text).number for text in chosen} == chosen
    with pytest.raises(NoSuchVersion):
        page.chosen("7")
    with pytest.raises(BadTime):
        page.chosen("soon")


def test_numbers_with_gaps_are_never_positions(site: History, catalog: Catalog) -> None:
    catch_up(site.repo, catalog.index)
    with catalog.index.transaction() as connection:
        connection.execute(text("DELETE FROM version WHERE arc = 'a' AND number = 2"))
    page = catalog.page("example.org/a")
    assert [page.number(number).number for number in (1, 3, -1, -2)] == [1, 3, 3, 1]
    with pytest.raises(NoSuchVersion, match="no version 2; it has 1 to 3; 1 more was thinned out or forgotten"):
        page.number(2)
    assert page.before(page.number(3)) == page.number(1)


def test_crawls_by_tag_time_or_place(catalog: Catalog) -> None:
    tags = [f"{DAY}T0{hour}:00:00@example.org" for hour in range(1, 6)]
    assert list(catalog.crawl_tags("example.org")) == tags[::-1]
    names = {"-1": tags[4], "-5": tags[0], DAY: tags[4], at("02:59"): tags[1], tags[2]: tags[2], "now": tags[4]}
    assert {name: catalog.crawl("example.org", name) for name in names} == names
    with pytest.raises(NoSuchVersion, match=f"its first crawl is {tags[0]}"):
        catalog.crawl("example.org", "2025-12-31")
    with pytest.raises(NoSuchVersion, match="it has 5 crawls"):
        catalog.crawl("example.org", "-6")
    with pytest.raises(NoSuchVersion, match=f"the one before is {tags[1]}"):
        catalog.crawl("example.org", f"{DAY}T02:30:00@example.org")
    for wrong in ("x@example.org", f"{DAY}T01:00:00@other.org"):
        with pytest.raises(NoSuchVersion, match="is no crawl of"):
            catalog.crawl("example.org", wrong)


def test_a_domain_that_only_guests_came_to_has_their_crawls(site: History, catalog: Catalog) -> None:
    guest = History(site.archive, "guest.test")
    tag = guest.crawl({"logo": "x"}, kind="guest")
    assert catalog.crawl("guest.test", "-1") == catalog.crawl("guest.test", "now") == tag
    with pytest.raises(NoSuchVersion, match="it has none"):
        catalog.crawl(History(site.archive, "empty.test").domain, "now")


def test_the_state_of_the_whole_site_at_a_time(catalog: Catalog) -> None:
    def state(clock: str) -> dict[str, int]:
        return {row.arc: row.number for row in catalog.versions_at("example.org", at(clock))}

    query = catalog.page("example.org/ü?x=%C3").arc
    assert state("00:00") == {}
    assert state("01:00") == {"a": 1, "b": 1, query: 1}
    assert state("02:00") == {"a": 2, "b": 1, query: 1}
    assert state("03:30") == {"a": 2, query: 1}
    assert state("04:00") == {"a": 3, query: 1}
    assert state("05:00") == state("23:00") == {"a": 3, "b": 2, query: 1}


def test_states_over_many_pages_agree_with_the_tip(site: History, catalog: Catalog) -> None:
    # More ARCs than one page of rows, and holes of all sizes in what stood there when.
    site.crawl({f"n/{number:04}": "x" for number in range(2500)})
    site.crawl({"last": "x"}, tuple(f"n/{number:04}" for number in range(1, 2400)))
    before = [row.arc for row in catalog.versions_at("example.org", at("06:30"))]
    assert len(before) == 2503 and before == sorted(before)
    now = [row.arc for row in catalog.versions_at("example.org", at("23:00"))]
    assert now == [row.arc for row in catalog.index.current_arcs("example.org")] and len(now) == 105
    assert list(catalog.versions_at("example.org", at("00:00"))) == []


def test_bytes_come_whole_in_part_in_pieces_or_into_a_file(site: History, catalog: Catalog) -> None:
    body = "0123456789" * 300_000
    site.crawl({"big": body, "empty": Page("", type="text/plain")})
    row = catalog.page("example.org/big").newest()
    assert catalog.read(row) == body.encode()
    assert catalog.read(row, 12) == b"012345678901" and catalog.read(row, 0) == b""
    assert catalog.read(row, 10**9) == body.encode()
    with catalog.open(row) as pieces:
        got = list(pieces)
    assert len(got) > 1 and b"".join(got) == body.encode()
    target = BytesIO()
    catalog.copy(row, target)
    assert target.getvalue() == body.encode()
    assert catalog.read(catalog.page("example.org/empty").newest()) == b""
    small = catalog.page("example.org/a")
    assert list(catalog.read_many([row, *small.versions, row])) == [
        body.encode(),
        b"a one",
        b"a two",
        b"a three",
        body.encode(),
    ]
    assert catalog.metadata(row).response.headers == (("Server", "made up"),)


def test_lost_and_altered_bytes_are_never_handed_out(catalog: Catalog) -> None:
    one, two = catalog.page("example.org/a").versions[:2]
    for row in (one._replace(data_blob=None), one._replace(data_blob="f" * 40), one._replace(data_blob=two.data_blob)):
        with pytest.raises(Damaged, match=r"version 1 of http://example.org/a .*webarc verify example.org"):
            catalog.read(row)
        with pytest.raises(Damaged), catalog.open(row):
            pass
        assert isinstance(next(catalog.read_many([row])), Damaged)
    assert catalog.read(one) == b"a one"


def test_a_new_crawl_is_seen_by_an_open_catalog(site: History, catalog: Catalog) -> None:
    assert catalog.page("example.org/a").newest().number == 3
    site.crawl({"a": "a four"})
    assert catalog.read(catalog.page("example.org/a").newest()) == b"a four"


def test_damage_in_git_leaves_what_is_indexed_readable(site: History, catalog: Catalog) -> None:
    said: list[str] = []
    old = catalog.page("example.org/a").newest()
    tip = site.repo.git_dir / "refs" / "heads" / "main"
    tip.write_text("1" * 40 + "\n")
    with Catalog(site.archive, catalog.index, warn=said.append) as other:
        assert other.read(other.page("example.org/a").newest()) == other.read(old)
        other.page("example.org/b")
    assert len(said) == 1 and "the newest commit of its history is gone" in said[0] and other.damaged == {"example.org"}


def test_the_nearest_of_a_hundred_thousand_are_found_in_a_moment() -> None:
    arcs = [f"section{number % 97}/sub-folder/{number:06}/page-with-a-long-name.html" for number in range(100_000)]
    arcs[70_000] = "docs/handbook/installation.html"
    began = time.perf_counter()
    assert nearest_arcs("docs/handbook/instalation.htm", arcs)[0] == "docs/handbook/installation.html"
    nearest_arcs("x" * 16_000, arcs)
    assert time.perf_counter() - began < 4
    assert nearest_arcs("a", []) == [] and nearest_arcs("a", ["b"]) == ["b"]


def test_one_oldest_version_of_thousands_is_read_in_a_moment(tmp_path: Path) -> None:
    index = Index.at(tmp_path / "index.db")
    rows = batch(None)
    for number in range(3_000):
        columns_of = columns("a", crawl_time=f"2026-01-01 {number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}")
        rows.version("a", f"{tag(1)}{number}", columns_of)
        rows.end(str(number))
    assert index.write(rows)
    began = time.perf_counter()
    assert [row.number for row in index.versions_at("example.org", "2026-01-01 00:00:00")] == [1]
    assert [(row.number, count) for row, count in index.urls("example.org")] == [(3_000, 3_000)]
    assert time.perf_counter() - began < 1
    index.close()


# -- an archive that may only be read ----------------------------------------------------------------------------


def as_reader(archive: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run webarc as somebody who may write nothing there: root, too, if it gives up its right to ignore permissions."""

    def give_up() -> None:
        drop_from_bounding_set, ignore_permissions = 24, 1
        ctypes.CDLL(None).prctl(drop_from_bounding_set, ignore_permissions, 0, 0, 0)

    command = [sys.executable, "-m", "webarc", "--archive", str(archive), *arguments]
    root = os.getuid() == 0
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment(), preexec_fn=give_up if root else None
    )


@pytest.fixture
def sealed(site: History) -> Iterator[History]:
    """The folders of the archive may not be written to, once the test says so."""
    yield site
    for folder, _, _ in os.walk(site.archive.root):
        Path(folder).chmod(0o755)


def seal(archive: Archive) -> None:
    for folder, _, names in os.walk(archive.root, topdown=False):
        for name in names:
            Path(folder, name).chmod(0o444)
        Path(folder).chmod(0o555)


def test_an_archive_that_may_not_be_written_to_can_be_read(sealed: History) -> None:
    with_index = Index.at(sealed.archive.index_file)
    catch_up(sealed.repo, with_index)
    with_index.close()
    seal(sealed.archive)
    got = as_reader(sealed.archive.root, "get", "example.org/a")
    assert (got.returncode, got.stdout, got.stderr) == (0, "a three", "")
    assert "example.org" in as_reader(sealed.archive.root, "list").stdout
    assert as_reader(sealed.archive.root, "log", "example.org/a", "--json").stdout.count("\n") == 3


def test_what_the_index_lacks_there_is_a_warning(sealed: History) -> None:
    with_index = Index.at(sealed.archive.index_file)
    catch_up(sealed.repo, with_index)
    with_index.close()
    sealed.crawl({"a": "a four"})
    seal(sealed.archive)
    got = as_reader(sealed.archive.root, "get", "example.org/a")
    assert (got.returncode, got.stdout) == (0, "a three")
    assert "may not be written to and does not have the newest crawls" in got.stderr


def test_without_an_index_there_is_one_clear_sentence(sealed: History) -> None:
    seal(sealed.archive)
    got = as_reader(sealed.archive.root, "get", "example.org/a")
    assert (got.returncode, got.stdout) == (3, "")
    assert got.stderr.count("\n") == 1 and "has no index and may not be written to; ask its owner" in got.stderr


def test_an_index_in_use_by_its_owner_can_be_read_at_the_same_time(sealed: History) -> None:
    owner = Index.at(sealed.archive.index_file)
    catch_up(sealed.repo, owner)
    owner.domains()
    assert Path(f"{sealed.archive.index_file}-wal").exists()
    seal(sealed.archive)
    got = as_reader(sealed.archive.root, "get", "example.org/a")
    assert (got.returncode, got.stdout) == (0, "a three"), got.stderr
    owner.close()


# -- PostgreSQL ---------------------------------------------------------------------------------------------------


def test_postgresql_gives_the_same_answers(tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "archive")
    site = History(archive)
    for _ in eventful(site):
        pass
    with postgres.server() as url:
        indexes = [Index.at(archive.index_file), Index(url)]
        answers = []
        for index in indexes:
            with Catalog(archive, index) as catalog:
                catalog.domain("example.org")
                states = [list(catalog.versions_at("example.org", at(f"{hour:02}:30"))) for hour in range(15)]
                listed = (list(index.urls("example.org")), list(index.arcs("example.org")))
                crawls = (
                    list(index.crawls_between("example.org", f"{DAY}T03", f"{DAY}T09")),
                    catalog.crawl("example.org", "-2"),
                )
                figures = (index.totals("example.org"), index.guest_visits("example.org"))
                answers.append((states, *listed, *crawls, *figures, catalog.page("example.org/a")))
            index.close()
    assert answers[0] == answers[1]
    assert len(answers[0][0][3]) == 3 and answers[0][6]
