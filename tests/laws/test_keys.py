"""Laws of callers' keys: unbiased, and refused without a look-up when anything about them is wrong."""

import hashlib
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.accounts.keys import ENTROPY_BYTES, PREFIX, digest, hint, is_well_formed, make_key

BASE62 = string.digits + string.ascii_letters
entropy = st.binary(min_size=ENTROPY_BYTES, max_size=ENTROPY_BYTES).filter(
    lambda data: sum(byte < 248 for byte in data) >= 34
)
made = entropy.map(make_key)


@given(key=made)
def test_a_made_key_has_the_form(key: str) -> None:
    assert key.startswith("hr_")
    assert len(key) == 43
    assert set(key.removeprefix(PREFIX)) <= set(BASE62)
    assert is_well_formed(key)


@given(key=made, data=st.data())
def test_any_change_of_one_character_is_refused(key: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(key) - 1))
    other = data.draw((st.sampled_from(BASE62) | st.characters()).filter(lambda c: c != key[place]))
    assert not is_well_formed(key[:place] + other + key[place + 1 :])


def test_every_change_of_one_character_of_a_key_is_refused() -> None:
    key = make_key(bytes(range(ENTROPY_BYTES)))
    for place, letter in enumerate(key):
        for other in BASE62:
            changed = key[:place] + other + key[place + 1 :]
            assert is_well_formed(changed) is (other == letter)


@given(key=made, place=st.integers(0, 41))
def test_two_characters_that_changed_places_are_noticed(key: str, place: int) -> None:
    first, second = key[place], key[place + 1]
    swapped = key[:place] + second + first + key[place + 2 :]
    assert is_well_formed(swapped) is (first == second)


@given(key=made, cut=st.integers(0, 42))
def test_a_part_of_a_key_is_refused(key: str, cut: int) -> None:
    assert not is_well_formed(key[:cut])
    assert not is_well_formed(key[cut + 1 :])


@given(key=made, more=st.text(min_size=1, max_size=5))
def test_more_than_a_key_is_refused(key: str, more: str) -> None:
    assert not is_well_formed(key + more)
    assert not is_well_formed(more + key)


@given(text=st.text())
def test_any_other_text_is_refused(text: str) -> None:
    assert not is_well_formed(text)


@pytest.mark.parametrize(
    "token",
    [
        *("", "hr_", "sk-1234", "null", "undefined", "None", "Bearer"),
        "' OR '1'='1",
        "' OR 1=1 --",
        "hr_' OR '1'='1' --aaaaaaaaaaaaaaaaaaaaaaaaa",
        "sk-' OR pg_sleep(5)--",
        "' UNION SELECT token FROM keys --",
        "'; DROP TABLE api_key; --",
        "hr_'||(SELECT digest FROM api_key LIMIT 1)||",
        "hr_" + "0" * 39 + "\n",
        "hr_" + "0" * 40,
        "hr_" + "\u0660" * 40,  # digits, but not ours
        "HR_" + "0" * 40,
        "hr_" + "0" * 1_000_000,
    ],
)
def test_what_attackers_and_mistaken_callers_send_is_refused(token: str) -> None:
    assert not is_well_formed(token)


@given(first=entropy, second=entropy)
def test_other_randomness_gives_another_key(first: bytes, second: bytes) -> None:
    used = [[byte % 62 for byte in data if byte < 248][:34] for data in (first, second)]
    assert (make_key(first) == make_key(second)) is (used[0] == used[1])


def test_no_letter_is_likelier_than_another() -> None:
    # Each byte value once at the first place: what is skipped there lets the second byte through.
    firsts = Counter(make_key(bytes([byte]) + bytes(63))[3] for byte in range(248))
    assert firsts == Counter(dict.fromkeys(BASE62, 4))
    for skipped in range(248, 256):
        assert make_key(bytes([skipped, 61]) + bytes(62))[3] == "z"


@pytest.mark.parametrize("data", [b"", bytes(33), b"\xff" * ENTROPY_BYTES, b"\xf8" * 31 + bytes(33)])
def test_too_little_randomness_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="random"):
        make_key(data)


@given(key=made)
def test_digest_and_hint_are_what_is_kept(key: str) -> None:
    assert digest(key) == hashlib.sha256(key.encode("ascii")).hexdigest()
    assert key.endswith(hint(key))
    assert len(hint(key)) == 4
