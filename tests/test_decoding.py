"""Content-Encoding: undone faithfully, piece by piece, never beyond the cap."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.crawler.decoding import PIECE, BadEncoding, Decoder, TooLarge, decoder_for

TEXT = b"".join(b"line %d of a page\n" % number for number in range(5000))
CAP = 1 << 30


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODINGS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def decode(encoding: str, data: bytes, step: int = 1000, cap: int = CAP) -> bytes:
    decoder = decoder_for(encoding, cap)
    assert decoder is not None
    out = b"".join(piece for start in range(0, len(data), step) for piece in decoder.feed(data[start : start + step]))
    decoder.finish()
    return out


@pytest.mark.parametrize("encoding", CODINGS)
@pytest.mark.parametrize("step", [1, 7, 1000, 1 << 20])
def test_each_coding_in_pieces_of_any_size(encoding: str, step: int) -> None:
    assert decode(encoding, CODINGS[encoding](TEXT), step) == TEXT
    assert decode(encoding.upper(), CODINGS[encoding](b""), step) == b""


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*CODINGS, "raw"]), st.binary(max_size=3000), st.integers(1, 4000))
def test_whatever_was_coded_comes_back(encoding: str, data: bytes, step: int) -> None:
    coded = raw_deflate(data) if encoding == "raw" else CODINGS[encoding](data)
    assert decode("deflate" if encoding == "raw" else encoding, coded, step) == data


def test_bare_deflate_is_understood() -> None:
    assert decode("deflate", raw_deflate(TEXT)) == TEXT
    assert decode("deflate", raw_deflate(TEXT), step=1) == TEXT


def test_several_members_and_frames() -> None:
    for encoding in ("gzip", "zstd"):
        assert decode(encoding, CODINGS[encoding](b"one") + CODINGS[encoding](b"two"), step=3) == b"onetwo"


def test_what_follows_a_gzip_stream_is_ignored_as_browsers_do() -> None:
    assert decode("gzip", gzip.compress(TEXT) + b"\0" * 100) == TEXT


@pytest.mark.parametrize("encoding", CODINGS)
def test_a_stream_cut_short_is_an_error(encoding: str) -> None:
    coded = CODINGS[encoding](TEXT)
    for length in (len(coded) - 1, len(coded) // 2, 1):
        with pytest.raises(BadEncoding):
            decode(encoding, coded[:length])


@pytest.mark.parametrize("encoding", CODINGS)
def test_garbage_is_an_error(encoding: str) -> None:
    with pytest.raises(BadEncoding):
        decode(encoding, b"<html>this was never packed</html>" * 10)


def test_a_gzip_stream_with_a_wrong_checksum_is_an_error() -> None:
    coded = gzip.compress(TEXT)
    with pytest.raises(BadEncoding):
        decode("gzip", coded[:-8] + b"\0" * 8)


def test_stacked_codings_are_undone_in_reverse() -> None:
    coded = CODINGS["br"](CODINGS["gzip"](CODINGS["zstd"](TEXT)))
    assert decode("zstd, gzip,br", coded) == TEXT
    assert decode("gzip, gzip, identity, gzip", gzip.compress(gzip.compress(gzip.compress(TEXT)))) == TEXT


def test_twenty_stacked_codings_are_refused() -> None:
    for word in ("gzip", "identity"):
        with pytest.raises(BadEncoding, match="20 stacked"):
            decoder_for(", ".join([word] * 20), CAP)


@pytest.mark.parametrize("encoding", ["", "identity", "utf-8", "none", "compress", "gzip, compress", ","])
def test_nothing_to_undo(encoding: str) -> None:
    assert decoder_for(encoding, CAP) is None


def test_an_empty_body_is_no_broken_stream() -> None:
    decoder = decoder_for("gzip", CAP)
    assert decoder is not None
    decoder.finish()


@pytest.mark.parametrize("encoding", CODINGS)
def test_a_bomb_comes_in_bounded_pieces(encoding: str) -> None:
    decoder = decoder_for(encoding, CAP)
    assert decoder is not None
    coded = brotli.compress(bytes(64 << 20), quality=1) if encoding == "br" else CODINGS[encoding](bytes(64 << 20))
    assert len(coded) < 100_000
    largest = total = 0
    for piece in decoder.feed(coded):
        largest, total = max(largest, len(piece)), total + len(piece)
    assert total == 64 << 20
    assert largest <= 32 * PIECE


def test_what_lies_between_two_codings_is_capped_too() -> None:
    hidden = gzip.compress(gzip.compress(b"small") + bytes(10 << 20))
    assert decode("gzip, gzip", hidden) == b"small"
    with pytest.raises(TooLarge):
        decode("gzip, gzip", hidden, cap=1 << 20)


def test_a_zstd_frame_may_not_ask_for_a_huge_window() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    coded = packer.compress(bytes(1000)) + packer.flush()
    with pytest.raises(BadEncoding):
        decode("zstd", coded)


def test_a_decoder_without_stages_passes_bytes_on() -> None:
    assert b"".join(Decoder([], CAP).feed(b"x")) == b"x"
