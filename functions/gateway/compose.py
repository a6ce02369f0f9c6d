"""Puts the gateway together, in two phases: `prepare` touches nothing outside, `connect` opens what it needs.

The second phase runs after a snapshot was restored, so that no socket, credential or random state is in the snapshot.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, TextIO

import httpx

from core.accounts.directory import CachedDirectory
from core.administration.office import Office
from core.catalog.model import Target
from core.chat import Usage
from core.own_keys import OwnKeys
from core.parts import Parts
from core.ports import Clock, Journal, Store
from core.providers.refusals import refusal_traits
from core.providers.registry import provider
from core.recent_turns import RecentTurns
from core.routing.offers import Offers, make_offers
from core.routing.reading import read
from core.routing.router import Router
from core.routing.weights import shipped_weights
from core.sealed_turns import SealedTurns
from core.secrets import Secrets
from core.service import Service
from core.sharing import Sharing
from core.sweep import keep_swept
from core.upstream.call import Caller
from core.upstream.client import UpstreamClient
from core.upstream.fetch import Fetcher
from core.waiting import Background
from functions.gateway.app import create_app
from functions.gateway.aws_credentials import aws_credentials
from functions.gateway.catalog_file import read_catalog_file
from functions.gateway.clock import SystemClock
from functions.gateway.finished import Observer
from functions.gateway.front import Front
from functions.gateway.identity import new_request_id
from functions.gateway.logs import Logs
from functions.gateway.observers import make_metrics, make_traces
from functions.gateway.respond import DeliveryOptions
from functions.gateway.sealing import make_sealer
from functions.settings import Settings, unknown_settings

if TYPE_CHECKING:
    from functions.gateway.traces import Traces


class Gateway:
    """The application and the means to start and stop it.

    Args:
        settings: How it runs.
        variables: The environment, for provider keys.
        transport: Makes the HTTP transport; the light one when left out.
        clock: Time.
        own_catalog: More catalog files, each a name and its TOML.
        wrap_store: Puts something between the gateway and its store.
        journal: Where faults and spilled records go; the structured log, which has a line for each request too, unless
            given.
        keeps_up: Whether the process goes on between requests, so that it can learn of hosts' health meanwhile, and
            settle what dead processes left open.
        observers: Who is told of requests, beside those that the settings ask for.
        log_stream: Where the structured log goes; standard output unless given.
    """

    def __init__(
        self,
        settings: Settings,
        variables: Mapping[str, str],
        transport: Callable[[], httpx.AsyncBaseTransport] = httpx.AsyncHTTPTransport,
        clock: Clock | None = None,
        own_catalog: tuple[tuple[str, str], ...] = (),
        wrap_store: Callable[[Store], Store] | None = None,
        journal: Journal | None = None,
        keeps_up: bool = False,
        observers: Sequence[Observer] = (),
        log_stream: TextIO | None = None,
    ) -> None:
        self._settings = settings
        self._variables = variables
        self._transport = transport
        self._clock = clock or SystemClock()
        self._own_catalog = own_catalog
        self._make_store = _store_maker(settings, self._clock)
        self._wrap_store = wrap_store or (lambda store: store)
        logs = Logs(settings.log_level, settings.service, log_stream)
        self._journal = journal or logs
        self._service: Service | None = None
        self._client: UpstreamClient | None = None
        self._keeps_up = keeps_up
        self._keeping_up: asyncio.Task[None] | None = None
        delivery = DeliveryOptions(settings.header_prefix, settings.early_commit_s)
        self._office: Office | None = None
        app = create_app(
            lambda: self.service,
            self._journal,
            self._clock,
            self.connect,
            self.close,
            delivery,
            lambda: self.office,
            settings.operator_key_sha256,
        )
        self._traces: Traces | None = None
        self._observers = [*observers, *make_metrics(settings)]
        if journal is None and settings.log_level in ("DEBUG", "INFO"):
            self._observers.append(logs)
        self.app = Front(
            app,
            settings.header_prefix,
            self._clock,
            self._journal,
            lambda: self.service.parts.background,
            self._observers,
        )

    @property
    def header_prefix(self) -> str:
        """What the names of our own response headers begin with."""
        return self._settings.header_prefix

    @property
    def service(self) -> Service:
        """The use cases; there once connected."""
        if self._service is None:
            raise RuntimeError("the gateway is not connected yet")
        return self._service

    @property
    def office(self) -> Office:
        """What the operator's use cases work with; made when it is first needed."""
        if self._office is None:
            parts = self.service.parts
            self._office = Office(
                store=parts.store,
                directory=parts.directory,
                now_ms=lambda: round(self._clock.now() * 1000),
                random_bytes=token_bytes,
                offers=cache(lambda: every_offer(self._settings, self._own_catalog)),
                sealer=parts.sealer,
            )
        return self._office

    async def connect(self) -> None:
        """Open the store and the HTTP client, read credentials. A second call does nothing."""
        if self._service is not None:
            return
        secrets = Secrets(self._variables, self._clock, secret_reader(self._settings), aws_credentials(self._variables))
        await secrets.load()
        store = self._wrap_store(self._make_store())
        sealer = make_sealer(self._settings, self._clock)
        transport = self._transport()
        self._client = UpstreamClient(transport)
        background = Background()
        offers = make_offers(_own_files(self._settings, self._own_catalog), secrets.has, refusal_traits)
        router = Router(offers, lambda request: read(request, shipped_weights()))
        sharing = Sharing(router.health, store, self._clock, background)
        directory = CachedDirectory(store, self._clock)
        own_keys = OwnKeys(directory, sealer, self._clock)
        parts = Parts(
            catalog=offers.common.catalog,
            router=router,
            store=store,
            directory=directory,
            caller=Caller(
                provider,
                self._client,
                secrets.credential,
                own_keys.credential,
                Fetcher(transport, self._clock).fetch,
                self._clock,
                background,
                self._metered,
            ),
            clock=self._clock,
            journal=self._journal,
            background=background,
            jitter=random.SystemRandom().random,
            new_request_id=new_request_id,
            memory=RecentTurns(SealedTurns(store, sealer)),
            own_keys=own_keys,
            sharing=sharing,
            sealer=sealer,
            header_prefix=self._settings.header_prefix,
            stream_silence_s=self._settings.stream_silence_s,
            host_regions=self._settings.only_regions,
        )
        self._service = Service(parts)
        self._traces = make_traces(self._settings, offers.common.catalog.vendors)
        if self._traces is not None:
            self._observers.append(self._traces)
        if self._keeps_up:
            self._keeping_up = asyncio.ensure_future(_all(sharing.keep_up(), keep_swept(store, self._clock)))

    def _metered(self, target: Target, usage: Usage | None) -> None:
        tokens = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
        self._journal.drained(target.name, *tokens)

    async def after_response(self) -> None:
        """Finish what goes on after the last byte."""
        if self._service is not None:
            await self._service.parts.background.idle()
        if self._traces is not None:
            await asyncio.to_thread(self._traces.flush)

    async def close(self) -> None:
        """Finish what is under way, then close store and connections."""
        if self._service is None:
            return
        if self._keeping_up is not None:
            self._keeping_up.cancel()
            await asyncio.wait([self._keeping_up])
        await self.after_response()
        if self._client is not None:
            await self._client.close()
        await self._service.parts.store.close()
        if self._traces is not None:
            self._observers.remove(self._traces)
            await asyncio.to_thread(self._traces.close)
            self._traces = None
        self._service = self._office = None


async def _all(*work: Awaitable[None]) -> None:
    await asyncio.gather(*work)


def _own_files(settings: Settings, more: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    if settings.catalog is None:
        return [*more]
    return [*more, read_catalog_file(settings.catalog)]


def every_offer(settings: Settings, more: Sequence[tuple[str, str]] = ()) -> Offers:
    """What there is to choose from for those who have a key at every vendor."""
    return make_offers(_own_files(settings, more), lambda vendor: True, refusal_traits)


def prepare(settings: Settings, variables: Mapping[str, str]) -> Gateway:
    """The gateway for Lambda, not yet connected. Variables that have no effect are named in the log."""
    if strangers := unknown_settings(variables):
        Logs(settings.log_level, settings.service).unknown(strangers)
    return Gateway(settings, variables)


def open_store(settings: Settings) -> Store:
    """The store that the settings name; it opens nothing before it is needed."""
    return _store_maker(settings, SystemClock())()


def _store_maker(settings: Settings, clock: Clock) -> Callable[[], Store]:
    """What makes the store. Its module is imported now: only one of them is needed, and boto3 is slow to import."""
    if settings.store == "sqlite":
        from core.store.sqlite import SqliteStore

        return lambda: SqliteStore(settings.sqlite_path, retention_days=settings.record_days)
    from core.store.dynamodb import DynamoStore

    config, ledger = settings.config_table or "", settings.ledger_table or ""

    async def pause(seconds: float) -> None:
        await clock.sleep_until(clock.monotonic() + seconds * random.SystemRandom().random())

    return lambda: DynamoStore(config, ledger, retention_days=settings.record_days, pause=pause)


def secret_reader(settings: Settings) -> Callable[[], str] | None:
    """What reads the secret with the vendors' keys, or None where there is no such secret; it blocks."""
    name = settings.provider_secret
    if name is None:
        return None

    def read() -> str:
        import boto3

        client: Any = boto3.Session().client("secretsmanager")
        secret: str = client.get_secret_value(SecretId=name)["SecretString"]
        return secret

    return read
