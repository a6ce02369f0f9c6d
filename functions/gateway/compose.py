"""Puts the gateway together, in two phases: `prepare` touches nothing outside, `connect` opens what it needs.

The second phase runs after a snapshot was restored, so that no socket, credential or random state is in the snapshot.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from core.accounts.directory import CachedDirectory
from core.catalog.loader import load_catalog
from core.catalog.model import Target
from core.chat import Usage
from core.parts import Parts
from core.ports import Clock, Journal, Store
from core.providers.refusals import refusal_traits
from core.providers.registry import provider
from core.routing.reading import read
from core.routing.router import Router
from core.routing.weights import shipped_weights
from core.secrets import Secrets
from core.service import Service
from core.upstream.call import Caller
from core.upstream.client import UpstreamClient
from core.upstream.fetch import Fetcher
from core.waiting import Background
from functions.gateway.app import create_app
from functions.gateway.clock import SystemClock
from functions.gateway.identity import new_request_id
from functions.gateway.logs import Logs
from functions.gateway.respond import DeliveryOptions
from functions.settings import Settings

AWS_CREDENTIAL_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)


class Gateway:
    """The application and the means to start and stop it.

    Args:
        settings: How it runs.
        variables: The environment, for provider keys.
        transport: Makes the HTTP transport; the light one when left out.
        clock: Time.
        own_catalog: More catalog files, each a name and its TOML.
        wrap_store: Puts something between the gateway and its store.
        journal: Where faults and spilled records go; the structured log unless given.
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
    ) -> None:
        self._settings = settings
        self._variables = variables
        self._transport = transport
        self._clock = clock or SystemClock()
        self._own_catalog = own_catalog
        self._make_store = _store_maker(settings)
        self._wrap_store = wrap_store or (lambda store: store)
        self._journal = journal or Logs(settings.log_level)
        self._service: Service | None = None
        self._client: UpstreamClient | None = None
        delivery = DeliveryOptions(settings.header_prefix, settings.early_commit_s)
        self.app = create_app(lambda: self.service, self._journal, self._clock, self.connect, self.close, delivery)

    @property
    def service(self) -> Service:
        """The use cases; there once connected."""
        if self._service is None:
            raise RuntimeError("the gateway is not connected yet")
        return self._service

    async def connect(self) -> None:
        """Open the store and the HTTP client, read credentials. A second call does nothing."""
        if self._service is not None:
            return
        secrets = Secrets(
            self._variables, self._clock, _secret_reader(self._settings), _aws_credentials(self._variables)
        )
        await secrets.load()
        store = self._wrap_store(self._make_store())
        transport = self._transport()
        self._client = UpstreamClient(transport)
        background = Background()
        catalog = load_catalog(_own_files(self._settings, self._own_catalog), secrets.has)
        parts = Parts(
            catalog=catalog,
            router=Router(catalog, lambda request: read(request, shipped_weights()), refusal_traits),
            store=store,
            directory=CachedDirectory(store, self._clock),
            caller=Caller(
                provider,
                self._client,
                secrets.credential,
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
            header_prefix=self._settings.header_prefix,
        )
        self._service = Service(parts)

    def _metered(self, target: Target, usage: Usage | None) -> None:
        tokens = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
        self._journal.drained(target.name, *tokens)

    async def after_response(self) -> None:
        """Finish what goes on after the last byte."""
        if self._service is not None:
            await self._service.parts.background.idle()

    async def close(self) -> None:
        """Finish what is under way, then close store and connections."""
        if self._service is None:
            return
        await self.after_response()
        if self._client is not None:
            await self._client.close()
        await self._service.parts.store.close()
        self._service = None


def _own_files(settings: Settings, more: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    if settings.catalog is None:
        return [*more]
    return [*more, (str(settings.catalog), settings.catalog.read_text("utf-8"))]


def prepare(settings: Settings, variables: Mapping[str, str]) -> Gateway:
    """The gateway for Lambda, not yet connected."""
    return Gateway(settings, variables)


def open_store(settings: Settings) -> Store:
    """The store that the settings name; it opens nothing before it is needed."""
    return _store_maker(settings)()


def _store_maker(settings: Settings) -> Callable[[], Store]:
    """What makes the store. Its module is imported now: only one of them is needed, and boto3 is slow to import."""
    if settings.store == "sqlite":
        from core.store.sqlite import SqliteStore

        return lambda: SqliteStore(settings.sqlite_path, retention_days=settings.record_days)
    from core.store.dynamodb import DynamoStore

    config, ledger = settings.config_table or "", settings.ledger_table or ""
    return lambda: DynamoStore(config, ledger, retention_days=settings.record_days)


def _secret_reader(settings: Settings) -> Callable[[], str] | None:
    name = settings.provider_secret
    if name is None:
        return None

    def read() -> str:
        import boto3

        secret: str = boto3.client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
        return secret

    return read


def _aws_credentials(variables: Mapping[str, str]) -> Callable[[], Any] | None:
    """A reader of the process's AWS credentials, where the environment says that it has some.

    Only then: boto3 would otherwise ask the instance metadata service, and wait for it where there is none.
    """
    if not any(variables.get(name) for name in AWS_CREDENTIAL_VARIABLES):
        return None

    def read() -> Any:
        import boto3

        credentials = boto3.Session().get_credentials()
        return None if credentials is None else credentials.get_frozen_credentials()

    return read
