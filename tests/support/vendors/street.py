"""A gateway in front of checking vendors, and clients for both of its surfaces."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from core.catalog.model import Model
from tests.support.gateway import Running, running_gateway
from tests.support.vendors.checking import CheckingUpstream, CheckingVendor
from tests.support.vendors.credentials import ENVIRONMENT
from tests.support.vendors.rows import Row, catalog_of, keys_of

PLAIN, ROUTING = "/v1", "/api/v1/inference"


@dataclass(frozen=True)
class Street:
    """Vendors, and the gateway that callers reach them by; `sdk` is a client for each surface."""

    running: Running
    upstream: CheckingUpstream
    sdk: Mapping[str, AsyncOpenAI]

    def vendor(self, slug: str) -> CheckingVendor:
        """A vendor, with nothing on its record."""
        vendor = self.upstream.vendors[slug]
        vendor.refused.clear()
        vendor.served.clear()
        return vendor


@asynccontextmanager
async def open_street(
    folder: Path, rows: Sequence[Row], *, models: Sequence[Model] = (), **gateway: Any
) -> AsyncIterator[Street]:
    """Serve until the context ends.

    Args:
        folder: Where the gateway's database goes.
        rows: The vendors, each with a model of its own.
        models: More models, of several vendors.
        gateway: More for `running_gateway`.
    """
    async with CheckingUpstream(rows) as upstream:
        catalog = catalog_of(rows, upstream.url, models)
        variables = {**keys_of(rows), **ENVIRONMENT}
        escaped = catalog.replace("{", "{{").replace("}", "}}")
        async with running_gateway(folder, upstream.url, catalog=escaped, variables=variables, **gateway) as running:
            async with client(running, PLAIN) as plain, client(running, ROUTING) as routing:
                yield Street(running, upstream, {PLAIN: plain, ROUTING: routing})


def client(running: Running, prefix: str, token: str | None = None) -> AsyncOpenAI:
    """A client that repeats nothing by itself."""
    return AsyncOpenAI(base_url=running.url + prefix, api_key=token or running.token, max_retries=0)
