"""Columns of numbers packed into one integer each, so that sums and comparisons of columns take a few operations.

A loop over ten thousand models takes milliseconds for each term of a score; one multiplication of a packed column takes
microseconds. Every value has a lane of its own and must never leave it: sums are bounded before they are made.
"""

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from heapq import nlargest, nsmallest
from typing import Final, Literal, TypeAlias

from core.routing.bits import places

Width: TypeAlias = Literal[4, 8]
"""How many bytes a lane has."""

FEW: Final = 400
"""So many numbers are looked at one by one; of more, first those that a comparison leaves."""

_CODES: Final[dict[Width, str]] = {4: "I", 8: "Q"}
_SAMPLE: Final = 256

# A lane's highest byte, after a comparison, as a binary digit.
_DIGITS: Final = bytes(48 + (octet >> 7) for octet in range(256))


class Lanes:
    """One column of whole numbers, none negative.

    `values` are the numbers themselves, `most` is the largest. All columns of one sum have one width.
    """

    __slots__ = ("most", "packed", "values", "width")

    def __init__(self, values: Iterable[int], width: Width = 8) -> None:
        self.values = array(_CODES[width], values)
        self.most = max(self.values, default=0)
        self.width = width
        self.packed = int.from_bytes(self.values.tobytes(), sys.byteorder)


class Sums:
    """Sums of columns, row by row; made by `weighted_sum`. The highest bit of each lane is kept for comparisons."""

    __slots__ = ("_packed", "_width", "values")

    def __init__(self, packed: int, size: int, width: Width) -> None:
        self._packed = packed
        self._width = width
        self.values = array(_CODES[width])
        self.values.frombytes(packed.to_bytes(size * width, sys.byteorder))

    def at_least(self, bound: int) -> int:
        """The rows whose sum is not below `bound`, as a set of bits."""
        size, width = len(self.values), self._width
        top = 8 * width - 1
        if not size or bound >> top:
            return 0
        ones = _ones(size, width)
        # Each lane borrows from its own highest bit, or does not.
        compared = (self._packed | ones << top) - ones * max(bound, 0)
        highest = compared.to_bytes(size * width, sys.byteorder)[width - 1 if sys.byteorder == "little" else 0 :: width]
        return int(highest.translate(_DIGITS)[::-1], 2)

    def largest(self, rows: int, count: int) -> list[int]:
        """The `count` rows of a set with the largest sums, largest first; of equals the first."""
        near = rows
        if rows.bit_count() > FEW:
            near &= self.at_least(self._guess(count, from_top=True))
        return self._first(near, rows, count, nlargest)

    def smallest(self, rows: int, count: int) -> list[int]:
        """The `count` rows of a set with the smallest sums, smallest first; of equals the first."""
        near = rows
        if rows.bit_count() > FEW:
            near &= ~self.at_least(self._guess(count, from_top=False) + 1)
        return self._first(near, rows, count, nsmallest)

    def _first(self, near: int, rows: int, count: int, choose: Callable[..., list[int]]) -> list[int]:
        return choose(count, places(near if near.bit_count() >= count else rows), key=self.values.__getitem__)

    def _guess(self, count: int, *, from_top: bool) -> int:
        """A sum with some more than `count` beyond it, if a sample of the rows does not deceive."""
        step = max(1, len(self.values) // _SAMPLE)
        sample = sorted(self.values[::step], reverse=from_top)
        return sample[min(2 * count // step + 2, len(sample) - 1)]


def weighted_sum(terms: Sequence[tuple[int, Lanes]]) -> Sums:
    """For each row the sum of `weight x value` over the terms.

    Args:
        terms: Weights, none negative, and columns of one size and width; at least one.

    Raises:
        OverflowError: A sum could reach the highest bit of its lane.
    """
    width = terms[0][1].width
    if sum(weight * lanes.most for weight, lanes in terms).bit_length() > 8 * width - 1:
        raise OverflowError("the weights are too large for these columns")
    return Sums(sum(weight * lanes.packed for weight, lanes in terms), len(terms[0][1].values), width)


@lru_cache(maxsize=8)
def _ones(size: int, width: Width) -> int:
    """A one in each lane."""
    return int.from_bytes(array(_CODES[width], [1]) * size, sys.byteorder)
