"""Sequences of a decision that are counted at once and spelled out when somebody looks: few answers show them whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar, overload

from core.routing.bits import chosen

T = TypeVar("T")


class Spelled(Sequence[T]):
    """So many values, made all at once when the first of them is wanted, and kept.

    Args:
        count: How many there are.
        make: Makes them, in order; what it reads must not change.
    """

    __slots__ = ("_count", "_made", "_make")

    def __init__(self, count: int, make: Callable[[], Iterable[T]]) -> None:
        self._count = count
        self._make = make
        self._made: tuple[T, ...] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return iter(self._whole())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spelled) and self._whole() == other._whole()

    __hash__ = None  # type: ignore[assignment]  # compared by what it holds

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._whole()[index]

    def _whole(self) -> tuple[T, ...]:
        if self._made is None:
            self._made = tuple(self._make())
        return self._made


class Named(Sequence[str]):
    """The names at the places of a set: counted at once, spelled out when they are wanted."""

    __slots__ = ("_bits", "_names")

    def __init__(self, bits: int, names: Sequence[str]) -> None:
        self._bits = bits
        self._names = names

    def __len__(self) -> int:
        return self._bits.bit_count()

    def __iter__(self) -> Iterator[str]:
        return chosen(self._bits, self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # compared by what it holds, which is not kept

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return next(islice(self, index % len(self), None))
