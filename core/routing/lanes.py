"""Columns of numbers packed into one integer each, so that sums and comparisons of columns take a few operations.

A loop over ten thousand models takes milliseconds for each term of a score; one multiplication of a packed column takes
microseconds. Every value has a lane of 64 bits of its own and must never leave it: sums are bounded beforehand.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

_LANE_BYTES: Final = 8
_SUM_BITS: Final = 63  # the highest bit of a lane is for comparisons

# A lane's highest byte, after a comparison, as a binary digit.
_DIGITS: Final = bytes(48 + (octet >> 7) for octet in range(256))
_HIGHEST: Final = _LANE_BYTES - 1 if sys.byteorder == "little" else 0


class Lanes:
    """One column of whole numbers, none negative; `values` are the numbers themselves, `most` the largest."""

    __slots__ = ("most", "packed", "values")

    def __init__(self, values: Iterable[int]) -> None:
        self.values = array("Q", values)
        self.most = max(self.values, default=0)
        self.packed = int.from_bytes(self.values.tobytes(), sys.byteorder)


class Sums:
    """Sums of columns, row by row, each below 2^63; made by `weighted_sum`."""

    __slots__ = ("_packed", "values")

    def __init__(self, packed: int, size: int) -> None:
        self._packed = packed
        self.values = array("Q")
        self.values.frombytes(packed.to_bytes(size * _LANE_BYTES, sys.byteorder))

    def at_least(self, bound: int) -> int:
        """The rows whose sum is not below `bound`, as a set of bits."""
        size = len(self.values)
        if not size or bound >> _SUM_BITS:
            return 0
        ones = _ones(size)
        # Each lane borrows from its own highest bit, or does not.
        compared = ((self._packed | ones << _SUM_BITS) - ones * max(bound, 0)).to_bytes(
            size * _LANE_BYTES, sys.byteorder
        )
        return int(compared[_HIGHEST::_LANE_BYTES].translate(_DIGITS)[::-1], 2)


def weighted_sum(terms: Sequence[tuple[int, Lanes]]) -> Sums:
    """For each row the sum of `weight x value` over the terms.

    Args:
        terms: Weights, none negative, and columns of one size; at least one.

    Raises:
        OverflowError: A sum could pass 63 bits.
    """
    if sum(weight * lanes.most for weight, lanes in terms).bit_length() > _SUM_BITS:
        raise OverflowError("the weights are too large for these columns")
    return Sums(sum(weight * lanes.packed for weight, lanes in terms), len(terms[0][1].values))


@lru_cache(maxsize=8)
def _ones(size: int) -> int:
    """A one in each lane."""
    return int.from_bytes(array("Q", [1]) * size, sys.byteorder)
