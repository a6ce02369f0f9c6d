"""Sets of places as the bits of one integer: thousands of candidates are narrowed in a few machine operations.

A set says nothing about what stands at its places.
"""

from collections.abc import Iterable, Iterator
from itertools import compress
from struct import unpack
from typing import Final, TypeVar

T = TypeVar("T")

# What `compress` selects by: the digits of a binary number as zeros and ones.
_TRUTH: Final = bytes.maketrans(b"01", b"\x00\x01")

# Sets with fewer places than one in so many are looked through word by word.
_SPARSE: Final = 16


def bits_of(places: Iterable[int], size: int) -> int:
    """The set of these places, each below `size`."""
    octets = bytearray(size // 8 + 1)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


def span(start: int, count: int) -> int:
    """The set of `count` places from `start` on."""
    return ((1 << count) - 1) << start


def union(sets: Iterable[int]) -> int:
    """The places that are in any of the sets."""
    found = 0
    for each in sets:
        found |= each
    return found


def chosen(bits: int, of: Iterable[T]) -> Iterator[T]:
    """The values that stand at the places of the set, in order."""
    return compress(of, f"{bits:b}"[::-1].encode().translate(_TRUTH))


def places(bits: int) -> list[int]:
    """The places of the set, in order."""
    size = bits.bit_length()
    if bits.bit_count() * _SPARSE > size:
        return [*chosen(bits, range(size))]
    words = size // 64 + 1
    found: list[int] = []
    for number, word in enumerate(unpack(f"<{words}Q", bits.to_bytes(words * 8, "little"))):
        while word:
            lowest = word & -word
            found.append(number * 64 + lowest.bit_length() - 1)
            word ^= lowest
    return found


class Runs:
    """Places in neighbouring runs, as a model's hosts are: tells which runs a set touches.

    Args:
        lengths: How many places each run has, at least one.
    """

    __slots__ = ("_highest", "_lower")

    def __init__(self, lengths: Iterable[int]) -> None:
        ends: list[int] = []
        place = 0
        for length in lengths:
            place += length
            ends.append(place - 1)
        self._highest = bits_of(ends, place)
        self._lower = span(0, place) & ~self._highest

    def touched(self, bits: int) -> int:
        """The last place of each run that has a place in the set."""
        # Adding all lower places of a run to any of them carries into its highest.
        return (((bits & self._lower) + self._lower) | bits) & self._highest

    def count(self, bits: int) -> int:
        """How many runs have a place in the set."""
        return self.touched(bits).bit_count()
