"""Bodies in shared memory: none is overwritten while it is needed, and room is used again."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from webarc.crawler.ring import Ring, Slot

SIZE = 100
STEPS = st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.integers(0, 3)), max_size=60)


def body_of(ring: Ring, slot: Slot) -> bytes:
    return bytes(ring.body(slot.start, slot.length))


@given(STEPS)
def test_what_is_needed_stays(steps: list[tuple[int, bool, int]]) -> None:
    ring = Ring(SIZE)
    needed: list[tuple[Slot, bytes]] = []
    captures = done = 0
    for number, (length, at_once, advance) in enumerate(steps):
        body = bytes([number]) * length
        slot = ring.put(body)
        if slot is not None:
            needed.append((slot, body))
        assert all(body_of(ring, kept) == expected for kept, expected in needed)
        if needed and at_once:
            ring.release(needed.pop(0)[0])
        elif needed:
            captures += 1
            ring.release(needed[0][0], after=captures)
            done = min(captures, done + advance)
            ring.count(done)
            if done >= captures:
                needed.pop(0)


def test_a_ring_is_never_full_for_good() -> None:
    ring = Ring(SIZE)
    for number in range(1000):
        slot = ring.put(bytes([number % 256]) * 40)
        assert slot is not None and body_of(ring, slot) == bytes([number % 256]) * 40
        ring.release(slot)


def test_a_full_ring_says_so_until_the_others_have_come_further() -> None:
    ring = Ring(SIZE)
    slots = [ring.put(b"x" * 50), ring.put(b"y" * 50)]
    assert None not in slots and ring.put(b"z") is None and Ring(SIZE).put(b"x" * (SIZE + 1)) is None
    assert slots[0] is not None
    ring.release(slots[0], after=3)
    ring.count(2)
    assert ring.put(b"z") is None
    ring.count(3)
    assert ring.put(b"z") is not None


def test_another_process_sees_what_is_put_in_after_it_began() -> None:
    ring = Ring(SIZE)
    begin, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(begin, 1)
        ring.count(7)
        os._exit(0 if bytes(ring.body(0, 5)) == b"after" else 1)
    slot = ring.put(b"after")
    os.write(go, b"!")
    assert os.waitpid(child, 0)[1] == 0
    assert slot is not None
    ring.release(slot, after=7)
    big = ring.put(b"x" * SIZE)
    assert big is not None and big.start == 0, "the other process has counted to seven"
