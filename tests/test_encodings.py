"""Every encoding of the web as the WHATWG standard decodes it; a browser is asked what that is."""

from __future__ import annotations

import json
import random
import re
from itertools import product

import pytest
from webencodings import LABELS

from tests.browser import Tab, browser
from webarc.archive.encodings import bytes_of, decoded, encoding_named, text_of

ENCODINGS = sorted(set(LABELS.values()) - {"replacement"})
SEVERAL_BYTES = (
    "big5",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "gbk",
    "iso-2022-jp",
    "shift_jis",
    "utf-16be",
    "utf-16le",
    "utf-8",
)
# Each text by bytes that Python's codec of the nearest name reads in another way, or not at all.
KNOWN = [
    ("euc-jp", b"\xad\xa1\xad\xb7\xadj a", "①Ⅲ�j a"),
    ("euc-jp", b"\xad\xb5\xad\xea\xfc\xe3", "Ⅰ㈱髜"),
    ("euc-jp", b"\x8f\xb0\xa1\x8e\xb1", "丂ｱ"),
    ("iso-2022-jp", b"\x1b$B-!-7-j\x1b(B<a>", "①Ⅲ㈱<a>"),
    ("iso-2022-jp", b"\x1b(I1\x1b(J\\~\x1b(B", "ｱ¥‾"),
    ("shift_jis", b"\x87\x40\xfa\x40\xf0\x40\x80\xa0", "①ⅰ\ue000\x80�"),
    ("gb18030", b"\xa8\xbc\xa6\xd9\x815\xf47\x80", "ḿ︐\ue7c7€"),
    ("gbk", b"\x80\xa2\xe3\x810\x810", "€€\x80"),
    ("big5", b"\x87\x40\xf9\xd6\x88\x62\xc6\xa1", "䏰碁Ê̄①"),
    ("euc-kr", b"\x81\x41\xc9\xa1\xb0\xa1a", "갂�가a"),
    ("windows-1252", b"\x80\x81\x8d\x8f\x90\x9d", "€\x81\x8d\x8f\x90\x9d"),
    ("windows-1253", b"\x80\xaa\xd2\xff", "€���"),
    ("windows-874", b"\x80\x81\xa1\xdb", "€\x81ก�"),
    ("windows-1255", b"\xca\xd9\xe0", "\u05ba�א"),
    ("koi8-u", b"\xae\xbe\xa4", "ўЎє"),
    ("macintosh", b"\xdb\xf0", "€\uf8ff"),
    ("x-mac-cyrillic", b"\xa2\xb6\xff", "ҐґЂ"[:2] + "€"),
    ("iso-8859-8-i", b"\xe0\xa1", "א�"),
    ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
    ("utf-16le", b"a\0\0\xd8b\0c", "a�b�"),
    ("replacement", b"<a href=x>\xff", "<a href=x>�"),
]


@pytest.mark.parametrize(("encoding", "data", "text"), KNOWN)
def test_bytes_that_python_reads_in_another_way(encoding: str, data: bytes, text: str) -> None:
    assert text_of(data, encoding) == text


def test_labels_are_those_of_the_standard() -> None:
    assert (len(LABELS), len(ENCODINGS)) == (228, 39)
    assert {label: encoding_named(f"\t {label.upper()}\n") for label in LABELS} == LABELS
    assert [encoding_named(label) for label in ("utf-7", "", "\xa0utf-8", "\u212aoi8-r", "utf\0-8")] == [None] * 5


def test_the_byte_order_mark_belongs_to_unicode_only() -> None:
    assert decoded(b"\xef\xbb\xbfa", "utf-8") == decoded(b"\xff\xfea\0", "utf-16le") == "a"
    assert decoded(b"\x841\x953a", "gb18030") == "\ufeffa"


def test_what_an_encoding_lacks_is_written_as_browsers_send_it() -> None:
    assert bytes_of("\u2460é", "euc-jp") == b"\xad\xa1\x8f\xab\xb1"[:2] + b"&#233;"
    assert bytes_of("①", "iso-2022-jp") == b"\x1b$B-!\x1b(B"
    assert bytes_of("a\ud800", "windows-1252") == b"a?"
    assert bytes_of("é", "utf-16be") == b"\0\xe9"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_sequence_is_read_as_a_browser_reads_it(encoding: str) -> None:
    with browser() as tab:
        read = Oracle(tab, encoding)
        read.compare([b""])
        several = encoding in SEVERAL_BYTES
        for first in range(256 if several else 1):
            read.compare([bytes((first,))] if several else [])
        for prefix in PREFIXES.get(encoding, ()):
            read.compare([prefix, *(prefix + bytes((byte,)) for byte in range(256))])
        if encoding in ("gb18030", "gbk"):
            for first, second in product(range(0x81, 0xFF), range(0x30, 0x3A)):
                read.compare([bytes((first, second, third)) for third in range(0x81, 0xFF)], range(0x30, 0x3A))
        read.compare_any(20_000)
        print(f"{encoding}: {read.count} sequences")


# What comes before the one or two last bytes of longer sequences.
PREFIXES = {
    "euc-jp": [b"\x8f"],
    "iso-2022-jp": [b"\x1b", b"\x1b$B", b"\x1b$@", b"\x1b(I", b"\x1b(J"],
    "utf-8": [b"\xe0", b"\xe3", b"\xed", b"\xf0\x90", b"\xf4\x8f", b"\xf4\x90"],
}


# Where Chromium 150 does not do what the standard says: four letters of Big5 that are two characters each, what follows
# a broken character of three bytes in EUC-JP, and a broken escape in ISO-2022-JP.
NOT_STANDARD = {
    "big5": re.compile(rb"\x88[\x62\x64\xa3\xa5]"),
    "euc-jp": re.compile(rb"\x8f[\xa1-\xfe]?(?:[^\xa1-\xfe]|\x8e|\x8f)"),
    "iso-2022-jp": re.compile(rb"\x1b(?:[$](?![@B])|[(](?![BIJ]))"),
}


class Oracle:
    """A browser that decodes."""

    def __init__(self, tab: Tab, encoding: str) -> None:
        self._tab, self._encoding, self.count = tab, encoding, 0
        tab.value(
            f"""globalThis.read = bytes =>
                new TextDecoder({encoding!r}, {{ignoreBOM: true}}).decode(new Uint8Array(bytes));
            globalThis.all = (prefixes, lasts) => prefixes.flatMap(
                prefix => lasts.map(last => read([...prefix, ...last])));0"""
        )

    def compare(self, prefixes: list[bytes], lasts: range = range(256)) -> None:
        """Compare what is read from all of the prefixes, each followed by one of the bytes."""
        self._compare(prefixes, [bytes((last,)) for last in lasts])

    def compare_any(self, times: int) -> None:
        """Compare what is read from some bytes, many of which are no characters."""
        dice = random.Random(self._encoding)
        bytes_of_interest = [
            0x1B,
            0x24,
            0x28,
            0x30,
            0x39,
            0x41,
            0x42,
            0x49,
            0x4A,
            0x5C,
            *range(0x7E, 256, 5),
            0x8E,
            0x8F,
        ]
        self._compare([bytes(dice.choices(bytes_of_interest, k=dice.randrange(1, 9))) for _ in range(times)], [b""])

    def _compare(self, prefixes: list[bytes], lasts: list[bytes]) -> None:
        if not prefixes:
            return
        asked = json.dumps([list(map(list, prefixes)), list(map(list, lasts))])
        theirs = json.loads(self._tab.value(f"JSON.stringify(all(...{asked}))"))
        data = [prefix + last for prefix in prefixes for last in lasts]
        ours = [text_of(each, self._encoding) for each in data]
        assert len(ours) == len(theirs)
        odd = NOT_STANDARD.get(self._encoding)
        both = zip(data, ours, theirs, strict=True)
        different = [row for row in both if row[1] != row[2] and not (odd and odd.search(row[0]))]
        assert not different, (len(different), [(a.hex(), ascii(b), ascii(c)) for a, b, c in different[:20]])
        self.count += len(data)
