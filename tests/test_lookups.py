"""What people type without a scheme is found, with `www.` or without; what is deleted must be named as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archives import DOMAIN
from tests.crawls import Webarc
from tests.histories import History
from webarc.archive.store import Archive

WWW, BARE = f"www.{DOMAIN}", "example.net"


@pytest.fixture(scope="module")
def webarc(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """A site that is archived with `www.`, and one that is without."""
    webarc = Webarc(tmp_path_factory.mktemp("lookups") / "archive")
    archive = Archive.create(webarc.archive)
    for domain in (WWW, BARE):
        site = History(archive, domain)
        site.crawl({"": "home", "page": "<p>one</p>"}, urls=[site.outcome("page")])
        site.crawl({"page": "<p>two</p>"}, urls=[site.outcome("page")])
    return webarc


@pytest.mark.parametrize(
    "words",
    [
        f"get {DOMAIN}/page",
        f"get www.{BARE}/page",
        f"log {DOMAIN}/page",
        f"list {DOMAIN}",
        f"list www.{BARE}",
        f"when {DOMAIN}/page two",
        f"verify {DOMAIN}",
        f"checkout {DOMAIN} DIR",
    ],
)
def test_with_and_without_www(webarc: Webarc, words: str, tmp_path: Path) -> None:
    ran = webarc.run(*words.replace("DIR", str(tmp_path / "site")).split())
    assert ran.code == 0, (ran.out, ran.err)


@pytest.mark.parametrize("scheme", ["", "http://", "https://"])
def test_either_scheme_or_none(webarc: Webarc, scheme: str) -> None:
    assert webarc.run("get", f"{scheme}{WWW}/page").out == "<p>two</p>"


def test_a_scheme_means_that_very_host(webarc: Webarc) -> None:
    ran = webarc.run("get", f"https://{DOMAIN}/page")
    assert ran.code == 2 and f"did you mean {WWW}" in ran.err, ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"forget {DOMAIN}/page --reason why --yes", f"the nearest is http://{WWW}/page; name that one to forget it"),
        (f"forget {DOMAIN} --reason why --yes", f"did you mean {WWW}"),
        (f"retain --keep last=1 --yes {DOMAIN}", f"did you mean {WWW}"),
    ],
)
def test_what_is_deleted_is_only_suggested(webarc: Webarc, words: str, said: str) -> None:
    ran = webarc.run(*words.split())
    assert ran.code == 2 and said in ran.err, (ran.out, ran.err)
    assert len(webarc.run("log", "--json", f"{WWW}/page").objects()) == 2


def test_a_host_as_it_is_comes_first(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    archive = Archive.create(webarc.archive)
    for domain in (WWW, DOMAIN):
        History(archive, domain).crawl({"page": domain})
    History(archive, WWW).crawl({"alone": "alone"})
    assert webarc.run("get", f"{DOMAIN}/page").out == DOMAIN
    assert webarc.run("get", f"{WWW}/page").out == WWW
    assert webarc.run("get", f"{DOMAIN}/alone").out == "alone"
