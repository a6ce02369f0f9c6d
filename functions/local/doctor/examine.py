"""The order in which things are looked at; each step says what it found as soon as it is done."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

import httpx

from core.catalog.loader import Catalog
from core.catalog.model import Target
from core.errors import AccountFailure
from core.secrets import Secrets
from core.upstream.client import UpstreamClient
from functions.gateway.aws_credentials import aws_credentials
from functions.gateway.clock import SystemClock
from functions.gateway.compose import every_offer, open_store, secret_reader
from functions.gateway.sealing import make_sealer, seal_key_file
from functions.local.doctor.catalog import check_catalog
from functions.local.doctor.clock import check_clock
from functions.local.doctor.collector import check_collector
from functions.local.doctor.deployment import PATIENCE, check_address, check_key, check_streaming
from functions.local.doctor.finding import Finding, Level, fail
from functions.local.doctor.sealing import check_sealing
from functions.local.doctor.settings import check_settings
from functions.local.doctor.store import check_dynamodb, check_sqlite
from functions.local.doctor.vendors import check_vendor
from functions.settings import Settings

SECRET: Final = "provider keys"

Times: TypeAlias = dict[str, tuple[str | None, float]]
"""What `Date` headers said, and when they came in Unix seconds, by who sent them."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is being looked at, and what was found so far by the step before."""

    title: str
    found: Sequence[Finding] = ()


async def examine_installation(variables: Mapping[str, str]) -> AsyncIterator[Step]:
    """Look at what the variables describe, from this machine and with its credentials."""
    settings, found = check_settings(variables)
    yield Step("the store", found)
    if settings is None:
        return
    clock = SystemClock()
    times: Times = {}
    yield Step("sealing", await _store(settings, times))
    key_file = seal_key_file(settings) if settings.kms_key is None else None
    yield Step("the catalog", await check_sealing(make_sealer(settings, clock), key_file))
    secrets = Secrets(variables, clock, secret_reader(settings), aws_credentials(variables))
    try:
        await secrets.load()
    except AccountFailure as error:
        do = "Allow secretsmanager:GetSecretValue on the secret that HEADRACE_PROVIDER_SECRET names; it must be JSON."
        yield Step("the catalog", [fail(SECRET, f"the secret cannot be read ({error.detail})", do)])
    today = datetime.now(UTC).date()
    catalog, found = check_catalog(lambda: every_offer(settings).common.catalog, secrets.has, today)
    yield Step("vendors", found)
    if catalog is not None:
        yield Step("the collector", await _vendors(_one_of_each(catalog, secrets), secrets, times))
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        yield Step("the clock", await check_collector(settings, client))
    yield Step("", _clocks(times))


async def examine_deployment(url: str, key: str | None, model: str) -> AsyncIterator[Step]:
    """Look at a gateway from outside; without a key, only at whether it is there."""
    headers = {"accept-encoding": "identity"} | ({} if key is None else {"authorization": f"Bearer {key}"})
    async with httpx.AsyncClient(
        base_url=url.rstrip("/").removesuffix("/v1"), headers=headers, timeout=PATIENCE
    ) as client:
        is_there, found = await check_address(client)
        yield Step("the key", found)
        if not is_there or key is None:
            return
        is_taken, found = await check_key(client)
        yield Step("streaming", found)
        if is_taken:
            yield Step("", await check_streaming(client, model))


async def _store(settings: Settings, times: Times) -> Sequence[Finding]:
    if settings.store == "sqlite":
        store = open_store(settings)
        try:
            return await check_sqlite(settings, store)
        finally:
            await store.close()
    found, told = await check_dynamodb(settings)
    times["DynamoDB"] = told, time.time()
    return found


def _one_of_each(catalog: Catalog, secrets: Secrets) -> Sequence[Target]:
    """A host of each vendor that can be called."""
    targets: dict[str, Target] = {}
    for model in catalog.scan():
        for target in catalog.targets(model):
            if secrets.has(target.vendor):
                targets.setdefault(target.vendor.name, target)
    return [target for _, target in sorted(targets.items())]


async def _vendors(targets: Sequence[Target], secrets: Secrets, times: Times) -> Sequence[Finding]:
    """All at once: each waits for the network alone."""
    client = UpstreamClient(httpx.AsyncHTTPTransport())

    async def one(target: Target) -> Sequence[Finding]:
        found, told = await check_vendor(client, target, secrets.credential, time.time)
        if told is not None:
            times[target.vendor.name] = told, time.time()
        return found

    try:
        return [each for found in await asyncio.gather(*map(one, targets)) for each in found]
    finally:
        await client.close()


def _clocks(times: Times) -> Sequence[Finding]:
    """What others' clocks say of ours; of those who agree, one is named."""
    found = [each for whose, (told, at) in times.items() for each in check_clock(whose, told, at)]
    wrong = [each for each in found if each.level is not Level.OK]
    return wrong or found[:1]
