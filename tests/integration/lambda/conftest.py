"""A Runtime API for each test."""

from collections.abc import AsyncIterator

import pytest

from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock


@pytest.fixture
async def api() -> AsyncIterator[RuntimeApiEmulator]:
    async with RuntimeApiEmulator() as emulator:
        yield emulator


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def deadline(clock: ManualClock) -> float:
    """A minute from the start."""
    return clock.now() + 60
