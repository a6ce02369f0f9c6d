"""One plain host of every format on one loopback address, for answers that a test scripts itself."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from core.catalog.compiled import compile_catalog
from core.catalog.model import Auth, Target
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Step
from tests.support.upstream import ScriptedUpstream

Answer: TypeAlias = Callable[[str, Received], Sequence[Step]]
"""The script for a call, by the name of the host that it came to."""


@asynccontextmanager
async def open_hosts(
    folder: Path, targets: Mapping[str, Target], answer: Answer, **gateway: Any
) -> AsyncIterator[tuple[Running, ScriptedUpstream]]:
    """Serve a gateway with these hosts until the context ends; each one's name is its model's.

    Args:
        folder: Where the gateway's database goes.
        targets: Hosts by name; keys are not asked for.
        answer: What they answer.
        gateway: More for `running_gateway`.
    """

    def script(request: Received) -> Sequence[Step]:
        _, wire, name, *_ = request.path.split("/")
        return answer(f"{wire}/{name}", request)

    async with ScriptedUpstream(script, checks=False) as upstream:
        catalog = _catalog(targets, upstream.url).replace("{", "{{").replace("}", "}}")
        async with running_gateway(folder, upstream.url, catalog=catalog, **gateway) as running:
            yield running, upstream


def _catalog(targets: Mapping[str, Target], address: str) -> str:
    vendors, models = [], []
    for name, target in targets.items():
        vendors.append(replace(target.vendor, name=name, base_url=f"{address}/{name}", auth=Auth.NONE, key_env=None))
        models.append(replace(target.model, id=name, hosts=(replace(target.host, vendor=name),)))
    return compile_catalog(vendors, models, {}).decode()
