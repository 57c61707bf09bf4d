from __future__ import annotations

import random
from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from odradek.log.key_map import SLOT_SIZE, KeyMap, slots_for

SALT = b"a salt of a test"


@given(st.lists(st.binary(max_size=3), max_size=60))
def test_it_answers_what_a_dict_would(keys: list[bytes]) -> None:
    key_map, plain = KeyMap(100, 0.9, SALT), dict[bytes, int]()
    for offset, key in enumerate(keys):
        assert key_map.put(key, offset)
        plain[key] = offset
    assert len(key_map) == len(plain)
    for key in [*keys, b"absent"]:
        assert key_map.newest(key) == plain.get(key, -1)


def test_a_full_map_takes_no_new_key_but_still_the_ones_it_knows() -> None:
    key_map = KeyMap(11, 0.9, SALT)
    taken = [number for number in range(100) if key_map.put(b"%d" % number, number)]
    assert taken == list(range(9))
    assert key_map.put(b"3", 200)
    assert key_map.newest(b"3") == 200
    assert key_map.newest(b"50") == -1


def test_probing_wraps_around_the_end() -> None:
    """At this load clusters are long; every key must still be found, whatever slot it started from."""
    key_map = KeyMap(1000, 0.95, SALT)
    for number in range(950):
        assert key_map.put(b"%d" % number, number)
    assert [key_map.newest(b"%d" % number) for number in range(950)] == list(range(950))


def test_a_salt_moves_every_key() -> None:
    """So nobody who does not know the salt can choose keys that collide."""
    rng = random.Random(1)
    keys = [rng.randbytes(8) for _ in range(100)]
    first, second = (KeyMap(1000, 0.5, salt)._fingerprint for salt in (b"one", b"two"))
    assert not {first(key) for key in keys} & {second(key) for key in keys}
    assert first(keys[0])[1] == int.from_bytes(
        blake2b(keys[0], digest_size=16, key=b"one").digest()[8:], "little"
    )


def test_slots_are_those_of_the_buffer_or_fewer() -> None:
    assert slots_for(1 << 40, 128 << 20, 0.9) == (128 << 20) // SLOT_SIZE
    few = slots_for(10, 128 << 20, 0.9)
    assert few < 20
    assert KeyMap(few, 0.9, SALT).capacity >= 10
