"""Cuts bytes into reads in any way, for laws that say that the cuts never show."""

from itertools import pairwise

from hypothesis import strategies as st


def cut(data: bytes, at: list[int]) -> list[bytes]:
    """The data in pieces, cut at the given offsets; repeated offsets give empty pieces."""
    edges = [0, *sorted(at), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def pieces(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Any way to receive the data: whole, in single bytes, or cut anywhere."""
    anywhere = st.lists(st.integers(0, len(data)), max_size=12).map(lambda at: cut(data, at))
    single = st.just([data[i : i + 1] for i in range(len(data))])
    return st.one_of(anywhere, single)
