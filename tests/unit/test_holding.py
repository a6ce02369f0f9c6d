"""What a request holds, where the order of things at the store matters."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.accounts.limits import Limited
from core.demand import Demand
from core.errors import StoreUnavailable
from core.holding import Holding
from core.parts import Parts
from core.record import Record, settled
from core.reservation import Admission, Amount, Standing
from core.tenant import Limits
from core.waiting import Background
from tests.support.clock import START, ManualClock, settle
from tests.support.targets import make_target

KEY = "key:key_1"
AT_MS = round(START * 1000)
RECORD = settled(
    Record("acme", "req-1", "key_1", AT_MS, AT_MS + 9, "auto", "plain", False),
    outcome="caller_left",
    attempts=(),
    usage=None,
    charge=None,
    settled_ms=AT_MS,
)


class LateStore:
    """Takes whatever is asked for, as soon as it is allowed to; notes what it was asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.allowed = asyncio.Event()
        self.is_away = False

    async def reserve(self, *asked: Any) -> Admission:
        self.calls.append("reserve")
        await self.allowed.wait()
        if self.is_away:
            raise StoreUnavailable
        self.calls.append("taken")
        return Admission(True, {KEY: Standing()})

    async def settle_reservation(self, reservation: Any, used: Amount, *_: Any, **__: Any) -> bool:
        self.calls.append(f"settled {used.requests}")
        return True


def made() -> tuple[Holding, LateStore, Background]:
    store, background = LateStore(), Background()
    parts = SimpleNamespace(store=store, background=background, clock=ManualClock())
    limited = (Limited(KEY, Limits(day_micros=100)),)
    demand = Demand(limited, Amount(5, 5), Amount(9, 9))
    return Holding(cast(Parts, parts), "acme", "req-1", AT_MS, demand), store, background


async def test_settling_waits_for_what_is_still_being_asked() -> None:
    holding, store, background = made()
    store.allowed.set()
    await holding.take(AT_MS + 9)
    store.allowed.clear()
    calls = holding.covered(lambda target: pytest.fail("not yet"), lambda: Amount(3, 3))
    asking = asyncio.ensure_future(anext(calls(make_target())))
    await settle()
    asking.cancel()
    await asyncio.wait([asking])
    settling = asyncio.ensure_future(holding.settle(RECORD))
    await settle()
    assert store.calls == ["reserve", "taken", "reserve"]
    store.allowed.set()
    await settling
    await background.idle()
    assert store.calls == ["reserve", "taken", "reserve", "taken", "settled 1"]


async def test_one_who_leaves_while_it_is_asked_for_gives_back_everything() -> None:
    holding, store, background = made()
    taking = asyncio.ensure_future(holding.take(AT_MS + 9))
    await settle()
    taking.cancel()
    await asyncio.wait([taking])
    store.allowed.set()
    await background.idle()
    assert store.calls == ["reserve", "taken", "settled 0"]
    assert holding.reservation is None
    await holding.settle(RECORD)
    assert store.calls[-1] == "settled 0"


async def test_what_a_store_may_have_taken_before_it_failed_is_given_back() -> None:
    holding, store, background = made()
    store.is_away = True
    store.allowed.set()
    with pytest.raises(StoreUnavailable):
        await holding.take(AT_MS + 9)
    await background.idle()
    assert store.calls == ["reserve", "settled 0"]
