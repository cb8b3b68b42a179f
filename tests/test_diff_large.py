"""`webarc diff` of pages of 5 MB: an answer in seconds, whatever is in them."""

from __future__ import annotations

import random
import resource

import pytest

from tests.crawls import Webarc
from tests.histories import History, Page
from webarc.archive.store import Archive

DOMAIN = "example.org"
MEGABYTES = 5_000_000
FAST = 5.0


def prose(count: int, seed: int) -> list[str]:
    words = [f"{number:x}" for number in range(50, 30_050)]
    return random.Random(seed).choices(words, [1 / rank for rank in range(1, 30_001)], k=count)


def page_of(words: list[str]) -> str:
    """About 5 MB of HTML from about a million words."""
    return "".join(f"<p class=text>{' '.join(words[at : at + 40])}.</p>\n" for at in range(0, len(words), 40))


def pair(name: str) -> tuple[Page, Page]:
    plain = {"type": "text/plain", "file": "data.txt"}
    if name == "page":
        words = prose(int(MEGABYTES / 4.1), 1)
        edited = [word if number % 2000 else "changed" for number, word in enumerate(words)]
        return Page(page_of(words)), Page(page_of(edited))
    if name == "rewritten":
        return Page(page_of(prose(int(MEGABYTES / 4.1), 1))), Page(page_of(prose(int(MEGABYTES / 4.1), 2)))
    if name == "nested":
        return Page("<div>" * (MEGABYTES // 5) + "x"), Page("<div>" * (MEGABYTES // 5) + "y")
    if name == "one word":
        return Page("a " * (MEGABYTES // 2), **plain), Page("a " * (MEGABYTES // 2 - 9) + "b ", **plain)
    if name == "two words":
        first, second = (" ".join(random.Random(seed).choices("ab", k=MEGABYTES // 2)) for seed in (1, 2))
        return Page(first, **plain), Page(second, **plain)
    if name == "one line":
        numbers = [f"{number:x}" for number in range(MEGABYTES // 6)]
        return Page(" ".join(numbers), **plain), Page(" ".join(reversed(numbers)), **plain)
    assert name == "all lines different"
    first, second = ("".join(f"{sign}{number}\n" for number in range(MEGABYTES // 8)) for sign in "xy")
    return Page(first, **plain), Page(second, **plain)


def seconds(webarc: Webarc, *arguments: str) -> float:
    """The processor time of a comparison and its children, which a busy machine changes little."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    ran = webarc.run("diff", *arguments)
    assert ran.code == 0, ran.err
    return spent() - before


def big(webarc: Webarc, name: str) -> None:
    site = History(Archive.create(webarc.archive))
    old, new = pair(name)
    assert len(old.body) > 0.9 * MEGABYTES
    site.crawl({"big": old})
    site.crawl({"big": new})


def test_a_page_of_5_megabytes_answers_in_5_seconds(webarc: Webarc) -> None:
    big(webarc, "page")
    assert seconds(webarc, f"{DOMAIN}/big") < FAST
    assert seconds(webarc, "--source", f"{DOMAIN}/big") < FAST
    assert webarc.run("diff", "--stat", "--json", f"{DOMAIN}/big").result()["similarity"] > 0.999


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rewritten", "nested", "one word", "two words", "one line", "all lines different"])
def test_nor_does_any_other_take_longer(webarc: Webarc, name: str) -> None:
    big(webarc, name)
    assert seconds(webarc, f"{DOMAIN}/big") < 2 * FAST
    assert seconds(webarc, "--source", f"{DOMAIN}/big") < 2 * FAST
