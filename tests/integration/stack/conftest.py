"""The stack, transformed once for all tests of it."""

import pytest

from tests.support.stack import Stack, transformed


@pytest.fixture(scope="session")
def stacks() -> tuple[Stack, tuple[Stack, ...]]:
    return transformed({})


@pytest.fixture(scope="session")
def source(stacks: tuple[Stack, tuple[Stack, ...]]) -> Stack:
    """The template as it is written."""
    return stacks[0]


@pytest.fixture(scope="session")
def stack(stacks: tuple[Stack, tuple[Stack, ...]]) -> Stack:
    """What AWS makes of it."""
    return stacks[1][0]
