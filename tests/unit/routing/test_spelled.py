"""Sequences that are counted at once and spelled out when somebody looks."""

from collections.abc import Iterator

import pytest

from core.routing.spelled import Named, Spelled


class TestSpelled:
    def test_nothing_is_made_before_somebody_looks_and_then_only_once(self) -> None:
        made: list[int] = []

        def make() -> Iterator[int]:
            for number in range(3):
                made.append(number)
                yield number * 10

        found = Spelled(3, make)
        assert (len(found), made) == (3, [])
        assert (found[0], found[-1], found[:2], [*found], 20 in found) == (0, 20, (0, 10), [0, 10, 20], True)
        assert made == [0, 1, 2]

    def test_it_is_compared_by_what_it_holds(self) -> None:
        assert Spelled(2, lambda: "ab") == Spelled(2, lambda: ["a", "b"])
        assert Spelled(2, lambda: "ab") != Spelled(2, lambda: "ba")
        assert Spelled(2, lambda: "ab") != ("a", "b")


class TestNamed:
    NAMES = Named(0b1101, ["a", "b", "c", "d"])

    def test_it_is_a_sequence_of_the_names(self) -> None:
        assert (len(self.NAMES), [*self.NAMES], "c" in self.NAMES) == (3, ["a", "c", "d"], True)
        assert (self.NAMES[0], self.NAMES[2], self.NAMES[-1]) == ("a", "d", "d")
        assert self.NAMES[1:] == ("c", "d")

    def test_it_is_compared_by_what_it_holds(self) -> None:
        assert Named(0b11, ["a", "c", "b"]) != self.NAMES
        assert Named(0b111, ["a", "c", "d"]) == self.NAMES
        assert self.NAMES != ("a", "c", "d")

    @pytest.mark.parametrize("index", [3, -4])
    def test_beyond_its_end_there_is_nothing(self, index: int) -> None:
        with pytest.raises(IndexError):
            self.NAMES[index]
