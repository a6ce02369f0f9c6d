"""One gateway in front of every kind of vendor, for all tests of a module."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.support.vendors.credentials import ENVIRONMENT
from tests.support.vendors.rows import ROWS
from tests.support.vendors.street import Street, open_street


@pytest.fixture(scope="module")
def aws() -> Iterator[None]:
    """AWS credentials in the process's own environment, where AWS's library looks for them."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in ENVIRONMENT.items():
            environment.setenv(name, value)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def street(tmp_path_factory: pytest.TempPathFactory, aws: None) -> AsyncIterator[Street]:
    async with open_street(tmp_path_factory.mktemp("street"), ROWS) as opened:
        yield opened
