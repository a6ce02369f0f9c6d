"""Columns of numbers packed into one integer each, so that a weighted sum of columns takes a few multiplications.

A loop over ten thousand models takes milliseconds for each term of a score; one multiplication of a packed column takes
microseconds. Every value has a lane of 64 bits of its own and must never leave it: sums are bounded beforehand.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

_LANE_BYTES: Final = 8
_LANE_BITS: Final = 64


class Lanes:
    """One column of whole numbers, none negative; `values` are the numbers themselves."""

    __slots__ = ("most", "packed", "values")

    def __init__(self, values: Iterable[int]) -> None:
        self.values = array("Q", values)
        self.most = max(self.values, default=0)
        self.packed = int.from_bytes(self.values.tobytes(), sys.byteorder)


def weighted_sum(terms: Sequence[tuple[int, Lanes]]) -> "array[int]":
    """For each row the sum of `weight x value` over the terms.

    Args:
        terms: Weights, none negative, and columns of one size; at least one.

    Raises:
        OverflowError: A sum could pass 64 bits.
    """
    if sum(weight * lanes.most for weight, lanes in terms).bit_length() > _LANE_BITS:
        raise OverflowError("the weights are too large for these columns")
    total = sum(weight * lanes.packed for weight, lanes in terms)
    sums = array("Q")
    sums.frombytes(total.to_bytes(len(terms[0][1].values) * _LANE_BYTES, sys.byteorder))
    return sums
