"""Organisations' own keys at vendors, opened for calls: each at most once in a while, and never told to anybody."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from core.accounts.own_keys import own_key_failed, own_key_place
from core.catalog.model import Vendor
from core.errors import OwnKeyFailure, StoreUnavailable
from core.ports import Clock, Directory, Sealer
from core.providers.base import Credential
from core.tenant import OwnKey

OPEN_S: Final = 300.0
"""How long an opened key is used before it is opened again."""

REST_S: Final = 60.0
"""How long a key that its vendor refused comes after the gateway's own, where the policy has it first."""

MOST_OPEN: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Opened:
    secret: "asyncio.Task[str]"
    at: float


class OwnKeys:
    """The own keys that are in use.

    Args:
        directory: Where they are kept, sealed.
        sealer: Opens them; None where there is no key to do it with.
        clock: For how long they stay open.
    """

    def __init__(self, directory: Directory, sealer: Sealer | None, clock: Clock) -> None:
        self._directory = directory
        self._sealer = sealer
        self._clock = clock
        self._opened: OrderedDict[OwnKey, _Opened] = OrderedDict()
        self._resting: dict[OwnKey, float] = {}

    async def credential(self, org: str, vendor: Vendor) -> Credential:
        """What proves that organisation to a vendor.

        Raises:
            OwnKeyFailure: It has no key there any more, or the key cannot be opened.
        """
        try:
            own_key = await self._kept(org, vendor.name)
            return Credential(key=await self._secret(own_key))
        except StoreUnavailable as error:
            raise own_key_failed(detail=f"an own key cannot be opened: {error.detail}") from error

    async def failed(self, org: str, vendor: str) -> None:
        """Note that a vendor refused the organisation's key."""
        try:
            own_key = await self._kept(org, vendor)
        except (OwnKeyFailure, StoreUnavailable):
            return
        now = self._clock.monotonic()
        self._resting = {kept: until for kept, until in self._resting.items() if now < until}
        self._resting[own_key] = now + REST_S

    def is_resting(self, own_key: OwnKey) -> bool:
        """Whether its vendor refused that very key a moment ago."""
        return self._clock.monotonic() < self._resting.get(own_key, 0.0)

    async def _kept(self, org: str, vendor: str) -> OwnKey:
        workspace = await self._directory.workspace(org)
        own_key = None if workspace is None else workspace.own_keys.get(vendor)
        if own_key is None:
            raise own_key_failed(detail="the own key was taken away")
        return own_key

    async def _secret(self, own_key: OwnKey) -> str:
        now = self._clock.monotonic()
        opened = self._opened.get(own_key)
        if opened is None or now - opened.at >= OPEN_S:
            # A task of its own, which all share who want the key meanwhile.
            opened = self._opened[own_key] = _Opened(asyncio.ensure_future(self._open(own_key)), now)
            self._opened.move_to_end(own_key)
            if len(self._opened) > MOST_OPEN:
                self._opened.popitem(last=False)
        try:
            return await asyncio.shield(opened.secret)
        except StoreUnavailable:
            if self._opened.get(own_key) is opened:
                del self._opened[own_key]
            raise

    async def _open(self, own_key: OwnKey) -> str:
        if self._sealer is None:
            raise StoreUnavailable(detail="There is no key to open it with: set HEADRACE_KMS_KEY.")
        secret = await self._sealer.open(own_key.sealed, own_key_place(own_key.org, own_key.vendor))
        return secret.decode()
