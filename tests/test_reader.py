"""Reading in another process: answers come back to who asked, nothing is told twice without need, nobody blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webarc.crawler.reader import Question, ReaderLine
from webarc.crawler.reading import Reading
from webarc.crawler.ring import Ring
from webarc.errors import WebarcError

URL = "http://h/"
HTML = "text/html"


@pytest.fixture
def ring() -> Ring:
    return Ring(1 << 20)


@pytest.fixture
def reader(ring: Ring, tmp_path: Path) -> Iterator[ReaderLine]:
    with ReaderLine.begin(ring, tmp_path / "cache" / "links.db") as line:
        line.know("2026-11-15 23:50:00")
        yield line


def question(body: bytes | None, url: str = URL, sha256: str = "0") -> Question:
    return Question(url, sha256, HTML, "utf-8", "", HTML, True, None, 0, body=body)


def answers(line: ReaderLine, *questions: Question) -> list[Reading | None]:
    heard: list[Reading | None] = []
    for one in questions:
        line.ask(one, heard.append)
    line.settle()
    return heard


def page(*links: str) -> bytes:
    return "".join(f'<a href="{link}">x</a>' for link in links).encode()


def test_bodies_come_from_the_ring_a_file_or_the_question(reader: ReaderLine, ring: Ring, tmp_path: Path) -> None:
    slot = ring.put(page("ring"))
    (tmp_path / "data.part").write_bytes(page("file"))
    assert slot is not None
    found = answers(
        reader,
        question(None)._replace(start=slot.start, length=slot.length),
        question(None)._replace(place=str(tmp_path / "data.part")),
        question(page("question")),
    )
    assert [list(reading.links) for reading in found if reading] == [
        [f"{URL}{name}"] for name in ("ring", "file", "question")
    ]


def test_what_was_told_lately_is_not_told_again_until_it_is_to_be(reader: ReaderLine) -> None:
    body = page("a", "b")
    first, second = answers(reader, question(body), question(body, f"{URL}other"))
    assert first and second and len(list(first.links)) == 2 and list(second.links) == []
    reader.forget()
    (third,) = answers(reader, question(body, f"{URL}third"))
    assert third and third.links == first.links


def test_the_next_crawl_needs_no_body_for_what_has_not_changed(ring: Ring, tmp_path: Path) -> None:
    found: list[Reading | None] = []
    for crawl in ("1", "2"):
        with ReaderLine.begin(ring, tmp_path / "links.db") as line:
            line.know(crawl)
            found += answers(line, question(None), question(None, sha256="1"))
            answers(line, *([question(page("a"))] if crawl == "1" else []))
            line.close(sweep=True)
    assert found[:2] == [None, None] and found[3] is None
    assert found[2] is not None and found[2].links == [f"{URL}a"]


def test_thousands_of_questions_with_long_answers_block_nobody(reader: ReaderLine) -> None:
    bodies = [page(*(f"{number}-{link}-{'x' * 200}" for link in range(50))) for number in range(600)]
    found = answers(reader, *(question(body, f"{URL}{number}") for number, body in enumerate(bodies)))
    assert [len(list(reading.links)) for reading in found if reading] == [50] * 600


def test_a_reader_that_dies_is_an_error_of_ours(reader: ReaderLine, tmp_path: Path) -> None:
    with pytest.raises(WebarcError, match="the process that reads pages failed"):
        answers(reader, question(None)._replace(place=str(tmp_path / "missing")))
