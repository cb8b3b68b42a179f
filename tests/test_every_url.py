"""Every URL that a site names or is asked for is in the archive or in the report, whatever the order of the answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.crawls import Webarc
from tests.servers import Site
from tests.trouble import EXIT_CODE, OPTIONS, Trouble
from webarc.archive.layout import arc_of
from webarc.archive.urls import host_of


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """Three hosts."""
    with ExitStack() as stack:
        yield [stack.enter_context(Site(host=f"127.0.0.{number}")) for number in (1, 2, 3)]


def check_run(webarc: Webarc, trouble: Trouble, seed: int) -> None:
    """One crawl into an archive of its own."""
    trouble.begin(seed)
    rows = webarc.report(*OPTIONS, *trouble.starts, code=EXIT_CODE)
    found = {url: (row["outcome"], row.get("reason", "")) for url, row in rows.items()}
    differences = {
        url: (found.get(url), wanted) for url, wanted in trouble.expected.items() if found.get(url) != wanted
    }
    assert not differences, seed
    # The crawl asks each host once for a name of its own making, to know what it says to that, and owns up to it.
    made_up = {url for url, outcome in found.items() if outcome == ("skipped", "unknown-name")}
    assert found.keys() - made_up == trouble.expected.keys() and len(made_up) <= 2
    assert trouble.requested() <= found.keys()
    assert all(row["target"] in found for row in rows.values() if row["outcome"] == "redirect")
    check_stored(webarc, trouble)


def check_stored(webarc: Webarc, trouble: Trouble) -> None:
    """The archive has the bytes of what the report calls stored, and nothing else."""
    for site in (trouble.one, trouble.two, trouble.outside):
        bodies = {arc_of(url): body for url, body in trouble.bodies.items() if host_of(url) == site.domain}
        assert webarc.stored(site.url()) == bodies.keys()
        for arc, body in bodies.items():
            (document,) = (file for file in (webarc.folder(site.url()) / arc).glob("data.*") if file.name != "data.xml")
            assert document.read_bytes() == body, arc


def test_nothing_is_lost(webarc: Webarc, sites: list[Site]) -> None:
    trouble = Trouble(sites, items=84)
    for seed in range(3):
        check_run(webarc, trouble, seed)
        shutil.rmtree(webarc.archive)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(20))
def test_nothing_of_two_thousand_urls_is_lost_whatever_the_order(webarc: Webarc, sites: list[Site], seed: int) -> None:
    trouble = Trouble(sites, items=1_000)
    assert len(trouble.expected) > 2_000
    check_run(webarc, trouble, seed)
