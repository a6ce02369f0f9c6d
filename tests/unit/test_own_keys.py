"""Own keys, opened for calls."""

import asyncio
from pathlib import Path

import pytest

from core.accounts.own_keys import own_key_place
from core.errors import OwnKeyFailure, StoreUnavailable
from core.kept import Place
from core.own_keys import MOST_OPEN, OPEN_S, REST_S, OwnKeys
from core.ports import Sealer
from core.sealing.local import LocalSealer
from core.tenant import Organisation, OwnKey
from core.workspace import Workspace
from tests.support.clock import ManualClock
from tests.support.memory_directory import MemoryDirectory
from tests.support.targets import make_vendor

LAB = make_vendor("lab")


class Counting:
    """A sealer that counts what it opens, and fails while it is told to."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer
        self.opened = 0
        self.is_away = False

    async def seal(self, data: bytes, place: Place) -> str:
        return await self._sealer.seal(data, place)

    async def open(self, sealed: str, place: Place) -> bytes:
        self.opened += 1
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreUnavailable(detail="the seal key is away")
        return await self._sealer.open(sealed, place)


class Setup:
    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.directory = MemoryDirectory()
        self.sealer = Counting(LocalSealer(folder / "seal.key"))
        self.own_keys = OwnKeys(self.directory, self.sealer, self.clock)

    async def give(self, org: str, secret: str, vendor: str = "lab") -> OwnKey:
        sealed = await self.sealer.seal(secret.encode(), own_key_place(org, vendor))
        own_key = OwnKey(org, vendor, sealed, secret[-4:], 0)
        self.directory.spaces[org] = Workspace(Organisation(org, org, 0), own_keys={vendor: own_key})
        return own_key

    async def key(self, org: str) -> str | None:
        return (await self.own_keys.credential(org, LAB)).key


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


async def test_each_organisation_has_its_own(setup: Setup) -> None:
    await setup.give("acme", "key of acme")
    await setup.give("zeta", "key of zeta")
    assert (await setup.key("acme"), await setup.key("zeta")) == ("key of acme", "key of zeta")


async def test_a_key_is_opened_once_in_a_while_however_many_want_it(setup: Setup) -> None:
    await setup.give("acme", "secret")
    assert await asyncio.gather(*(setup.key("acme") for _ in range(20))) == ["secret"] * 20
    await setup.clock.advance(OPEN_S - 1)
    await setup.key("acme")
    assert setup.sealer.opened == 1
    await setup.clock.advance(1)
    await setup.key("acme")
    assert setup.sealer.opened == 2


async def test_another_key_takes_its_place_at_once(setup: Setup) -> None:
    await setup.give("acme", "first")
    await setup.key("acme")
    await setup.give("acme", "second")
    assert await setup.key("acme") == "second"


async def test_a_key_that_is_not_there_or_another_vendors_is_a_failure_of_the_key(setup: Setup) -> None:
    with pytest.raises(OwnKeyFailure, match="own key at the model's host does not work"):
        await setup.key("acme")
    await setup.give("acme", "secret", vendor="shop")
    with pytest.raises(OwnKeyFailure) as caught:
        await setup.key("acme")
    assert "taken away" in caught.value.detail


async def test_a_key_that_cannot_be_opened_fails_and_is_tried_again(setup: Setup) -> None:
    await setup.give("acme", "secret")
    setup.sealer.is_away = True
    found = await asyncio.gather(*(setup.key("acme") for _ in range(3)), return_exceptions=True)
    assert all(isinstance(error, OwnKeyFailure) and "the seal key is away" in error.detail for error in found)
    assert setup.sealer.opened == 1
    setup.sealer.is_away = False
    assert await setup.key("acme") == "secret"


async def test_a_key_that_was_put_in_anothers_place_does_not_open(setup: Setup) -> None:
    stolen = await setup.give("acme", "secret")
    setup.directory.spaces["zeta"] = Workspace(
        Organisation("zeta", "zeta", 0), own_keys={"lab": OwnKey("zeta", "lab", stolen.sealed, "cret", 0)}
    )
    with pytest.raises(OwnKeyFailure):
        await setup.key("zeta")


async def test_without_a_key_to_seal_with_nothing_opens(setup: Setup) -> None:
    await setup.give("acme", "secret")
    own_keys = OwnKeys(setup.directory, None, setup.clock)
    with pytest.raises(OwnKeyFailure) as caught:
        await own_keys.credential("acme", LAB)
    assert "HEADRACE_KMS_KEY" in caught.value.detail


async def test_a_refused_key_rests_for_a_while(setup: Setup) -> None:
    own_key = await setup.give("acme", "secret")
    assert not setup.own_keys.is_resting(own_key)
    await setup.own_keys.failed("acme", "lab")
    await setup.own_keys.failed("nobody", "lab")
    assert setup.own_keys.is_resting(own_key)
    assert not setup.own_keys.is_resting(await setup.give("acme", "another"))
    await setup.clock.advance(REST_S)
    assert not setup.own_keys.is_resting(own_key)


async def test_only_so_many_are_open_at_once(setup: Setup) -> None:
    for number in range(MOST_OPEN + 1):
        await setup.give(str(number), "secret")
        await setup.key(str(number))
    await setup.key("1")
    assert setup.sealer.opened == MOST_OPEN + 1
    await setup.key("0")
    assert setup.sealer.opened == MOST_OPEN + 2


async def test_a_task_that_gives_up_does_not_take_the_key_from_others(setup: Setup) -> None:
    await setup.give("acme", "secret")
    first = asyncio.ensure_future(setup.key("acme"))
    second = asyncio.ensure_future(setup.key("acme"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "secret"
