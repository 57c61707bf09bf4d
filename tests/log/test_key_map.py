from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.log.key_map import SLOT_SIZE, KeyMap, slots_for

SALT = b"a salt of a test"


@given(st.lists(st.binary(max_size=3), max_size=60))
def test_it_answers_what_a_dict_would(keys: list[bytes]) -> None:
    key_map = KeyMap(100, 0.9, SALT)
    assert key_map.put(enumerate(keys)) is None
    plain = {key: offset for offset, key in enumerate(keys)}
    assert len(key_map) == len(plain)
    assert key_map.newest([*keys, b"absent"]) == [*(plain[key] for key in keys), -1]


def test_a_full_map_takes_no_new_key_but_still_the_ones_it_knows() -> None:
    key_map = KeyMap(11, 0.9, SALT)
    assert key_map.put((number, b"%d" % number) for number in range(100)) == 9
    assert len(key_map) == key_map.capacity == 9
    assert key_map.put([(200, b"3"), (201, b"50"), (202, b"4")]) == 201
    assert key_map.newest([b"3", b"50", b"4"]) == [200, -1, 4]


def test_probing_wraps_around_the_end() -> None:
    """At this load clusters are long; every key must still be found, whatever slot it started from."""
    key_map = KeyMap(1000, 0.95, SALT)
    keys = [b"%d" % number for number in range(950)]
    assert key_map.put(enumerate(keys)) is None
    assert key_map.newest(keys) == list(range(950))


def test_a_salt_moves_every_key() -> None:
    """So nobody who does not know the salt can choose keys that collide."""
    keys = [b"%d" % number for number in range(100)]
    one, other = (list(KeyMap(1000, 0.5, salt)._places(enumerate(keys))) for salt in (b"one", b"other"))
    assert not {place[2:] for place in one} & {place[2:] for place in other}


def test_slots_are_those_of_the_buffer_or_fewer() -> None:
    assert slots_for(1 << 40, 128 << 20, 0.9) == (128 << 20) // SLOT_SIZE
    few = slots_for(10, 128 << 20, 0.9)
    assert few < 20
    assert KeyMap(few, 0.9, SALT).capacity >= 10
