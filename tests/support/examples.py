"""How many examples a law gets that needs more, or fewer, than the others: a share of the profile's number."""

from hypothesis import settings


def times(share: float) -> int:
    """That many times the examples of the profile in force (see tests/conftest.py); at least one."""
    return max(1, round(share * settings().max_examples))
