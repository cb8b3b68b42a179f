"""How alike two texts or files are: what the figures promise, for any input and in bounded time."""

from __future__ import annotations

import random
from collections import Counter
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.diff.binary import binary_similarity
from webarc.diff.matching import matching
from webarc.diff.shares import rounded
from webarc.diff.similarity import similarity
from webarc.diff.wording import Words, words_of

WORD = st.text("ab,.\u4e2dé1_-", min_size=1, max_size=3)
TEXT = st.lists(WORD, max_size=40).map(" ".join) | st.text(max_size=60)
FEW = st.lists(st.sampled_from("abc"), max_size=40)


def longest_common(a: list[str], b: list[str]) -> int:
    """The textbook's quadratic way."""
    row = [0] * (len(b) + 1)
    for item in a:
        before, row = row, [0]
        for place, other in enumerate(b):
            row.append(before[place] + 1 if item == other else max(before[place + 1], row[place]))
    return row[-1]


def check(a: list[str], b: list[str]) -> int:
    """Blocks are common to both lists and rise, whichever list comes first; returns how much they cover."""
    blocks = matching(a, b)
    end_a = end_b = 0
    for x, y, size in blocks:
        assert size > 0
        assert x >= end_a and y >= end_b
        assert x > end_a or y > end_b or end_a == 0, "two blocks that are one"
        assert a[x : x + size] == b[y : y + size]
        end_a, end_b = x + size, y + size
    assert matching(b, a) == [(y, x, size) for x, y, size in blocks]
    return sum(size for _, _, size in blocks)


def edited(items: list[str], edits: int, words: list[str], seed: int = 1) -> list[str]:
    """The same list with some items replaced, removed and added."""
    chance = random.Random(seed)
    items = list(items)
    for _ in range(edits):
        place = chance.randrange(len(items) + 1)
        kind = chance.randrange(3)
        items[place : place + (kind < 2)] = [] if kind == 0 else [chance.choice(words)]
    return items


def zipf(count: int, words: list[str], seed: int = 1) -> list[str]:
    """Words as often as they are in prose."""
    return random.Random(seed).choices(words, [1 / rank for rank in range(1, len(words) + 1)], k=count)


VOCABULARY = [f"w{number}" for number in range(5000)]


@given(TEXT, TEXT)
def test_the_figure_is_symmetric_and_between_0_and_1(a: str, b: str) -> None:
    figure = similarity(a, b)
    assert 0.0 <= figure <= 1.0
    assert figure == similarity(b, a)


@given(TEXT)
def test_a_text_is_like_itself_whatever_its_white_space(a: str) -> None:
    assert similarity(a, a) == 1.0
    assert similarity(a, f"\n\t {a}\u00a0\r\n") == 1.0


@given(TEXT, TEXT)
def test_1_is_said_only_of_the_same_words(a: str, b: str) -> None:
    assert (similarity(a, b) == 1.0) == (words_of(a) == words_of(b))


@given(TEXT, TEXT)
def test_of_short_texts_it_is_exact(a: str, b: str) -> None:
    words_a, words_b = words_of(a), words_of(b)
    total = len(words_a) + len(words_b)
    kept = max(2 * longest_common(words_a, words_b), 0.5 * (Counter(words_a) & Counter(words_b)).total())
    assert similarity(a, b) == (kept / total if total else 1.0)


@given(st.lists(st.sampled_from(["a", "b"]), min_size=1), st.lists(st.sampled_from(["c", "d"]), min_size=1))
def test_0_means_nothing_in_common(a: list[str], b: list[str]) -> None:
    assert similarity(" ".join(a), " ".join(b)) == 0.0


@given(TEXT, TEXT, TEXT)
def test_more_of_the_same_makes_it_no_less_alike(a: str, b: str, more: str) -> None:
    assert similarity(f"{a} {more}", f"{b} {more}") >= similarity(a, b)


@given(TEXT)
def test_words_can_be_put_together_again(text: str) -> None:
    words = Words(text)
    assert words.words == words_of(text)
    if words.words:
        rebuilt = "".join(words.gap(number) + words.text(number, number + 1) for number in range(len(words.words)))
        assert text == rebuilt + text[len(rebuilt) :]
        assert text[len(rebuilt) :].strip() == ""
        assert words.gap(0) + words.text(0, len(words.words)) == rebuilt


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 1,234.50 EUR, on 2026-11-15.", ["It's", "1,234.50", "EUR", ",", "on", "2026-11-15", "."]),
        ("今日は雨", ["今", "日", "は", "雨"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("a_b{c:1}", ["a_b", "{", "c", ":", "1", "}"]),
        (" \n\t", []),
    ],
)
def test_what_a_word_is(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(FEW, FEW)
def test_short_lists_are_matched_in_the_best_way(a: list[str], b: list[str]) -> None:
    assert check(a, b) == longest_common(a, b)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([2, 3, 30, 3000]), st.integers(0, 3000), st.integers(0, 400))
def test_long_lists_are_matched_validly(seed: int, names: int, length: int, edits: int) -> None:
    words = [f"w{number}" for number in range(names)]
    a = random.Random(seed).choices(words, k=length)
    b = edited(a, edits, words, seed) if a else []
    common = check(a, b)
    assert common <= (Counter(a) & Counter(b)).total()
    assert common >= length - 2 * edits - length // 20, "far from what was kept"


@pytest.mark.parametrize("edits", [10, 1000, 5000])
def test_long_texts_with_edits_keep_their_figure(edits: int) -> None:
    a = zipf(100_000, VOCABULARY)
    b = edited(a, edits, VOCABULARY)
    assert 2 * check(a, b) / (len(a) + len(b)) == pytest.approx(1 - 0.66 * edits / 100_000, abs=0.15 * edits / 100_000)


def test_a_long_text_of_two_words_with_edits() -> None:
    a = random.Random(1).choices(["yes", "no"], k=400_000)
    b = edited(a, 300, ["yes", "no"])
    assert check(a, b) > 398_000


def test_half_of_a_text_moved() -> None:
    a = zipf(100_000, VOCABULARY)
    assert check(a, a[50_000:] + a[:50_000]) >= 50_000


HARD = {
    "one word": (["a"] * 400_000, ["a"] * 399_000),
    "another period": (["a", "b"] * 200_000, ["a", "a", "b"] * 133_000),
    "two words at random": (
        random.Random(1).choices("ab", k=400_000),
        random.Random(2).choices("ab", k=400_000),
    ),
    "reversed": ([str(number) for number in range(200_000)], [str(number) for number in range(200_000, 0, -1)]),
    "shuffled": (
        [str(number) for number in range(200_000)],
        random.Random(1).sample([str(number) for number in range(200_000)], 200_000),
    ),
    "nothing in common": ([f"a{number}" for number in range(200_000)], [f"b{number}" for number in range(200_000)]),
    "two texts of one language": (zipf(200_000, VOCABULARY, 1), zipf(200_000, VOCABULARY, 2)),
}


@pytest.mark.parametrize("name", HARD)
def test_the_time_is_bounded(name: str) -> None:
    """Time spent by this process, which other processes do not change much; a quadratic way would take hours."""
    start = process_time()
    matching(*HARD[name])
    assert process_time() - start < 10.0


@pytest.mark.parametrize("count", [400, 4_000, 80_000])
def test_the_same_words_in_another_order_are_never_nothing_in_common(count: int) -> None:
    words = [f"w{number}" for number in range(count)]
    shuffled = random.Random(1).sample(words, count)
    figure = similarity(" ".join(words), " ".join(shuffled))
    assert figure == pytest.approx(0.25)
    assert figure == similarity(" ".join(shuffled), " ".join(words))


def test_of_texts_of_some_thousand_words_it_is_exact() -> None:
    a, b = zipf(1000, VOCABULARY, 1), zipf(900, VOCABULARY, 2)
    assert 2 * longest_common(a, b) / 1900 > 0.15
    assert check(a, b) == longest_common(a, b)


def test_long_texts_written_anew_are_as_much_alike_as_short_ones() -> None:
    short = similarity(" ".join(zipf(3_000, VOCABULARY, 1)), " ".join(zipf(3_000, VOCABULARY, 2)))
    long = similarity(" ".join(zipf(60_000, VOCABULARY, 1)), " ".join(zipf(60_000, VOCABULARY, 2)))
    assert long == pytest.approx(short, abs=0.1)


@given(st.floats(0, 1), st.sampled_from([3, 6]))
def test_0_and_1_are_only_said_of_what_is_exactly_that(share: float, places: int) -> None:
    assert (rounded(share, places) == 0) == (share == 0)
    assert (rounded(share, places) == 1) == (share == 1)
    assert abs(rounded(share, places) - share) <= 10**-places


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_bytes_are_symmetric_and_between_0_and_1(a: bytes, b: bytes) -> None:
    figure = binary_similarity(a, b)
    assert 0.0 <= figure <= 1.0
    assert figure == binary_similarity(b, a)
    assert binary_similarity(a, a) == 1.0


def test_bytes_that_were_put_in_move_the_others_without_harm() -> None:
    data = random.Random(1).randbytes(200_000)
    assert binary_similarity(data, data[:70_000] + b"put in" + data[70_000:]) > 0.98
    assert binary_similarity(data, data[100_000:] + data[:100_000]) > 0.98
    assert binary_similarity(data, data[:100_000]) == pytest.approx(2 / 3, abs=0.01)
    assert binary_similarity(data, random.Random(2).randbytes(200_000)) < 0.01


@pytest.mark.parametrize("data", [bytes(3_000_000), b"e " * 1_500_000, b"\x05" * 3_000_000], ids=["0", "ends", "5"])
def test_bytes_that_repeat_take_no_longer(data: bytes) -> None:
    start = process_time()
    assert binary_similarity(data, data[:-1]) > 0.99
    assert process_time() - start < 5.0
