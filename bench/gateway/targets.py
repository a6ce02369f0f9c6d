"""Starts everything that is measured: each in a process of its own, those that stand between on one core."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from bench.gateway.emulated import EmulatedCaller
from bench.gateway.measure import Target
from bench.gateway.processes import Server, runtime, started
from bench.gateway.wire import Connection
from bench.gateway.workspace import keys_in, settings_in
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.ministack import REGION, running_ministack

DIRECT: Final = "direct"
RELAY: Final = "byte relay"
PASSTHROUGH: Final = "FastAPI + httpx"
GATEWAY: Final = "Headrace"
AUTO: Final = "Headrace, auto"
LIMITED: Final = "Headrace, limits"
DYNAMODB: Final = "Headrace, DynamoDB"
DYNAMODB_LIMITED: Final = "Headrace, DynamoDB, limits"
LAMBDA: Final = "Headrace, Lambda loop"

_NO_KEY: Final = "hr_none"


@asynccontextmanager
async def all_targets(folder: Path) -> AsyncIterator[list[Target]]:
    """Every target, served until the context ends.

    Args:
        folder: Where stores keep their files; empty.
    """
    core, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or {core})
    with ExitStack() as stack:
        upstream = stack.enter_context(started("bench.gateway.upstream", (others or [core])[0]))
        relay = stack.enter_context(started("bench.gateway.relay", core, upstream=upstream.port))
        passthrough = stack.enter_context(started("bench.gateway.passthrough", core, upstream=upstream.port))
        sqlite = settings_in(folder / "sqlite", upstream.port)
        plain, limited = await keys_in(sqlite)
        served = stack.enter_context(started("bench.gateway.served", core, sqlite))
        dynamodb = settings_in(folder / "dynamodb", upstream.port, **stack.enter_context(_tables(folder)))
        far_plain, far_limited = await keys_in(dynamodb)
        far = stack.enter_context(started("bench.gateway.served", core, dynamodb))
        on_lambda = settings_in(folder / "lambda", upstream.port)
        lambda_key, _ = await keys_in(on_lambda)
        async with RuntimeApiEmulator() as api:
            environment = {**on_lambda, "AWS_LAMBDA_RUNTIME_API": api.address}
            looping = stack.enter_context(runtime(core, environment))
            yield [
                _http(DIRECT, upstream),
                _http(RELAY, relay),
                _http(PASSTHROUGH, passthrough),
                _http(GATEWAY, served, plain),
                _http(AUTO, served, plain, "auto"),
                _http(LIMITED, served, limited),
                _http(DYNAMODB, far, far_plain),
                _http(DYNAMODB_LIMITED, far, far_limited),
                Target(LAMBDA, looping, _caller(api, lambda_key), most_connections=1),
            ]


def _http(name: str, server: Server, key: str = _NO_KEY, model: str = "bench/m0") -> Target:
    return Target(name, server, lambda: Connection.open(server.port, key), model)


def _caller(api: RuntimeApiEmulator, key: str) -> Callable[[], Awaitable[EmulatedCaller]]:
    async def caller() -> EmulatedCaller:
        return EmulatedCaller(api, key)

    return caller


@contextmanager
def _tables(folder: Path) -> Iterator[dict[str, str]]:
    """A DynamoDB with our tables in it, as the environment that names them."""
    (folder / "ministack").mkdir()
    with running_ministack(folder / "ministack") as ministack:
        config, ledger = ministack.tables(ministack.client())
        found = {
            "AWS_ENDPOINT_URL_DYNAMODB": ministack.endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
            "HEADRACE_STORE": "dynamodb",
            "HEADRACE_CONFIG_TABLE": config,
            "HEADRACE_LEDGER_TABLE": ledger,
        }
        os.environ.update({name: value for name, value in found.items() if name.startswith("AWS_")})
        yield found
