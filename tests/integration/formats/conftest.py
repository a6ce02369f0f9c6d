"""One gateway in front of every kind of vendor, for all tests of a module."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from openai import AsyncOpenAI

from tests.support.gateway import Running, running_gateway
from tests.support.vendors.checking import CheckingUpstream, CheckingVendor
from tests.support.vendors.credentials import ENVIRONMENT
from tests.support.vendors.rows import ROWS, catalog_of, keys_of


@dataclass(frozen=True)
class Street:
    """All vendors, and the gateway that callers reach them by; `sdk` is a client for each surface."""

    running: Running
    upstream: CheckingUpstream
    sdk: dict[str, AsyncOpenAI]

    def vendor(self, slug: str) -> CheckingVendor:
        """A vendor, with nothing on its record."""
        vendor = self.upstream.vendors[slug]
        vendor.refused.clear()
        vendor.served.clear()
        return vendor


@pytest.fixture(scope="module")
def aws() -> AsyncIterator[None]:
    """AWS credentials in the process's own environment, where AWS's library looks for them."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in ENVIRONMENT.items():
            environment.setenv(name, value)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def street(tmp_path_factory: pytest.TempPathFactory, aws: None) -> AsyncIterator[Street]:
    folder = tmp_path_factory.mktemp("street")
    async with CheckingUpstream(ROWS) as upstream:
        catalog = catalog_of(ROWS, upstream.url).replace("{", "{{").replace("}", "}}")
        variables = {**keys_of(ROWS), **ENVIRONMENT}
        async with running_gateway(folder, upstream.url, catalog=catalog, variables=variables) as running:
            sdk = {
                prefix: AsyncOpenAI(base_url=running.url + prefix, api_key=running.token, max_retries=0)
                for prefix in ("/v1", "/api/v1/inference")
            }
            yield Street(running, upstream, sdk)
            for client in sdk.values():
                await client.close()
