"""What the memory in front of the directory remembers, shares, and forgets."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from core.accounts.directory import CachedDirectory
from core.decision import Policy
from core.errors import StoreUnavailable
from core.tenant import Key, Organisation, OwnKey, Plan
from core.waiting import STORE_S
from core.workspace import Workspace
from tests.contracts.values import NOW_MS, key, organisation
from tests.support.clock import ManualClock, settle
from tests.support.memory_directory import MemoryDirectory

KEY = key(1)
ORG = organisation("acme")


class Asked(MemoryDirectory):
    """A directory that counts, can be slow, and can be away."""

    def __init__(self) -> None:
        super().__init__(KEY)
        self.spaces[ORG.id] = Workspace(ORG)
        self.calls: Counter[str] = Counter()
        self.away = False
        self.answers = asyncio.Event()
        self.answers.set()

    async def key(self, digest: str) -> Key | None:
        self.calls[digest] += 1
        known = await super().key(digest)
        await self._answer()
        return known

    async def keys(self, org: str) -> Sequence[Key]:
        self.calls["keys"] += 1
        return await super().keys(org)

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        done = await super().save_key(key, before)
        self._fail()
        return done

    async def touch_key(self, digest: str, now_ms: int) -> None:
        self.calls["touch_key"] += 1
        self._fail()
        await super().touch_key(digest, now_ms)

    async def organisation(self, org: str) -> Organisation | None:
        self.calls[org] += 1
        await self._answer()
        return await super().organisation(org)

    async def save_organisation(self, organisation: Organisation) -> None:
        await super().save_organisation(organisation)
        self._fail()

    async def workspace(self, org: str) -> Workspace | None:
        self.calls["workspace"] += 1
        await self._answer()
        return await super().workspace(org)

    async def _answer(self) -> None:
        await self.answers.wait()
        self._fail()

    def _fail(self) -> None:
        if self.away:
            raise StoreUnavailable


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def directory(asked: Asked, clock: ManualClock) -> CachedDirectory:
    return CachedDirectory(asked, clock, most=3)


async def test_a_key_is_remembered_for_a_minute(directory: CachedDirectory, asked: Asked, clock: ManualClock) -> None:
    assert await directory.key(KEY.digest) == KEY
    asked.known[KEY.digest] = replace(KEY, revoked_ms=NOW_MS)
    await clock.advance(59.9)
    assert await directory.key(KEY.digest) == KEY
    await clock.advance(0.2)
    assert await directory.key(KEY.digest) == replace(KEY, revoked_ms=NOW_MS)
    assert asked.calls[KEY.digest] == 2


async def test_an_organisation_is_remembered_for_a_minute(
    directory: CachedDirectory, asked: Asked, clock: ManualClock
) -> None:
    for _ in range(3):
        assert await directory.organisation("acme") == ORG
    assert asked.calls["acme"] == 1
    await clock.advance(61)
    assert await directory.organisation("acme") == ORG
    assert asked.calls["acme"] == 2


async def test_what_is_missing_is_remembered_for_seconds(
    directory: CachedDirectory, asked: Asked, clock: ManualClock
) -> None:
    new = key(2)
    assert await directory.key(new.digest) is None
    asked.known[new.digest] = new
    await clock.advance(4.9)
    assert await directory.key(new.digest) is None
    await clock.advance(0.2)
    assert await directory.key(new.digest) == new
    assert asked.calls[new.digest] == 2


async def test_what_went_missing_is_missing(directory: CachedDirectory, asked: Asked, clock: ManualClock) -> None:
    assert await directory.key(KEY.digest) == KEY
    del asked.known[KEY.digest]
    await clock.advance(61)
    assert await directory.key(KEY.digest) is None
    asked.away = True
    await clock.advance(6)
    with pytest.raises(StoreUnavailable):
        await directory.key(KEY.digest)


async def test_an_old_answer_does_while_the_store_is_away(
    directory: CachedDirectory, asked: Asked, clock: ManualClock
) -> None:
    await directory.key(KEY.digest)
    asked.away = True
    await clock.advance(290)
    assert await directory.key(KEY.digest) == KEY
    await clock.advance(4.9)
    assert await directory.key(KEY.digest) == KEY
    assert asked.calls[KEY.digest] == 2, "a store that is away is left alone for a while"
    await clock.advance(0.2)
    assert await directory.key(KEY.digest) == KEY
    assert asked.calls[KEY.digest] == 3
    await clock.advance(4.8)
    assert await directory.key(KEY.digest) == KEY
    await clock.advance(0.2)
    with pytest.raises(StoreUnavailable):
        await directory.key(KEY.digest)


async def test_a_store_that_is_back_is_believed(directory: CachedDirectory, asked: Asked, clock: ManualClock) -> None:
    await directory.key(KEY.digest)
    asked.away = True
    await clock.advance(100)
    await directory.key(KEY.digest)
    asked.away = False
    asked.known[KEY.digest] = revoked = replace(KEY, revoked_ms=NOW_MS)
    await clock.advance(5)
    assert await directory.key(KEY.digest) == revoked


async def test_nothing_is_made_up_while_the_store_is_away(
    directory: CachedDirectory, asked: Asked, clock: ManualClock
) -> None:
    assert await directory.key("unknown") is None
    asked.away = True
    await clock.advance(6)
    with pytest.raises(StoreUnavailable):
        await directory.key("unknown")
    with pytest.raises(StoreUnavailable):
        await directory.key("never asked")


async def test_a_store_that_hangs_is_as_good_as_away(
    directory: CachedDirectory, asked: Asked, clock: ManualClock
) -> None:
    await directory.key(KEY.digest)
    await clock.advance(100)
    asked.answers.clear()
    known, other = (asyncio.ensure_future(directory.key(digest)) for digest in (KEY.digest, "unknown"))
    await clock.advance(STORE_S - 1)
    late = asyncio.ensure_future(directory.key("unknown"))
    await settle()
    assert not known.done()
    assert not other.done()
    await clock.advance(1)
    assert await known == KEY
    for failing in (other, late):
        with pytest.raises(StoreUnavailable):
            await failing
    asked.answers.set()
    assert await directory.key("unknown") is None


async def test_callers_at_the_same_time_share_one_call(directory: CachedDirectory, asked: Asked) -> None:
    asked.answers.clear()
    waiting = [asyncio.ensure_future(directory.key(KEY.digest)) for _ in range(10)]
    other = asyncio.ensure_future(directory.key("unknown"))
    await settle()
    waiting[0].cancel()  # the one who asked first
    asked.answers.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [KEY] * 9
    assert await other is None
    assert asked.calls[KEY.digest] == 1


async def test_a_failure_is_shared_and_not_remembered(directory: CachedDirectory, asked: Asked) -> None:
    asked.away = True
    asked.answers.clear()
    waiting = [asyncio.ensure_future(directory.key(KEY.digest)) for _ in range(3)]
    await settle()
    asked.answers.set()
    failures = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(failure) for failure in failures] == [StoreUnavailable] * 3
    asked.away = False
    assert await directory.key(KEY.digest) == KEY
    assert asked.calls[KEY.digest] == 2


async def test_a_failure_that_nobody_waited_for_is_no_surprise(directory: CachedDirectory, asked: Asked) -> None:
    asked.away = True
    asked.answers.clear()
    waiting = asyncio.ensure_future(directory.key(KEY.digest))
    await settle()
    waiting.cancel()
    asked.answers.set()
    await settle()
    asked.away = False
    assert await directory.key(KEY.digest) == KEY


async def test_what_is_saved_is_seen_at_once(directory: CachedDirectory, asked: Asked) -> None:
    assert await directory.key(key(2).digest) is None
    await directory.save_key(key(2))
    assert await directory.key(key(2).digest) == key(2)
    assert await directory.organisation("acme") == ORG
    renamed = replace(ORG, name="New")
    await directory.save_organisation(renamed)
    assert await directory.organisation("acme") == renamed


async def test_an_answer_from_before_a_save_is_not_remembered(directory: CachedDirectory, asked: Asked) -> None:
    asked.answers.clear()
    before = asyncio.ensure_future(directory.key(KEY.digest))
    await settle()
    revoked = replace(KEY, revoked_ms=NOW_MS)
    await directory.save_key(revoked)
    asked.answers.set()
    assert await before == KEY
    assert await directory.key(KEY.digest) == revoked


async def test_a_save_that_failed_may_have_been_carried_out(directory: CachedDirectory, asked: Asked) -> None:
    await directory.key(KEY.digest)
    await directory.organisation("acme")
    asked.away = True
    revoked, renamed = replace(KEY, revoked_ms=NOW_MS), replace(ORG, name="New")
    with pytest.raises(StoreUnavailable):
        await directory.save_key(revoked)
    with pytest.raises(StoreUnavailable):
        await directory.save_organisation(renamed)
    asked.away = False
    assert await directory.key(KEY.digest) == revoked
    assert await directory.organisation("acme") == renamed


OWN = OwnKey("acme", "lab", "sealed", "last", NOW_MS)

SET_UP: dict[str, Callable[[CachedDirectory], Awaitable[object]]] = {
    "organisation": lambda directory: directory.save_organisation(replace(ORG, plan="big")),
    "payment": lambda directory: directory.pay_in("acme", "first", 5, NOW_MS),
    "policy": lambda directory: directory.save_policy("acme", Policy(name="cheap")),
    "no policy": lambda directory: directory.delete_policy("acme", "default"),
    "own key": lambda directory: directory.save_own_key(OWN),
    "no own key": lambda directory: directory.delete_own_key("acme", "other"),
    "catalog": lambda directory: directory.save_catalog("acme", "models = []"),
    "plan": lambda directory: directory.save_plan(Plan("standard", "Standard")),
    "no plan": lambda directory: directory.delete_plan("big"),
    "all gone": lambda directory: directory.delete_organisation("acme"),
}


async def test_a_workspace_is_remembered_for_a_minute(
    directory: CachedDirectory, asked: Asked, clock: ManualClock
) -> None:
    for _ in range(3):
        assert await directory.workspace("acme") == Workspace(ORG)
    assert asked.calls["workspace"] == 1
    await clock.advance(61)
    asked.away = True
    assert await directory.workspace("acme") == Workspace(ORG)
    await clock.advance(240)
    with pytest.raises(StoreUnavailable):
        await directory.workspace("acme")


@pytest.mark.parametrize("what", SET_UP)
async def test_what_is_set_up_is_seen_at_once(directory: CachedDirectory, asked: Asked, what: str) -> None:
    own = replace(Workspace(ORG), own_keys={"other": replace(OWN, vendor="other")})
    asked.spaces["acme"] = own
    asked.stored_plans["big"] = Plan("big", "Big")
    await directory.organisation("acme")
    before = await directory.workspace("acme")
    await SET_UP[what](directory)
    after = await directory.workspace("acme")
    assert after == await asked.workspace("acme")
    assert asked.calls["workspace"] == 3
    assert (after == before) is (what == "no plan")
    assert await directory.organisation("acme") == (after and after.organisation)


async def test_all_plans_are_passed_on(directory: CachedDirectory) -> None:
    await directory.save_plan(Plan("big", "Big"))
    assert await directory.plans() == [Plan("big", "Big")]


async def test_a_deleted_key_is_gone_at_once(directory: CachedDirectory) -> None:
    assert await directory.key(KEY.digest) == KEY
    await directory.delete_key(KEY)
    assert await directory.key(KEY.digest) is None


async def test_the_keys_of_a_deleted_organisation_are_gone_at_once(directory: CachedDirectory) -> None:
    assert await directory.key(KEY.digest) == KEY
    await directory.delete_organisation("acme")
    assert await directory.key(KEY.digest) is None


async def test_a_use_is_remembered_without_asking(directory: CachedDirectory, asked: Asked) -> None:
    await directory.touch_key("never seen", NOW_MS)
    await directory.key(KEY.digest)
    asked.away = True
    with pytest.raises(StoreUnavailable):
        await directory.touch_key(KEY.digest, NOW_MS)
    assert await directory.key(KEY.digest) == replace(KEY, last_used_ms=NOW_MS)
    asked.away = False
    await directory.touch_key(KEY.digest, NOW_MS - 1)
    assert await directory.key(KEY.digest) == replace(KEY, last_used_ms=NOW_MS)
    assert asked.calls[KEY.digest] == 1


async def test_keys_and_organisations_of_one_name_are_apart(directory: CachedDirectory, asked: Asked) -> None:
    asked.known["acme"] = replace(KEY, digest="acme")
    assert await directory.organisation("acme") == ORG
    assert await directory.key("acme") == replace(KEY, digest="acme")


async def test_each_name_has_its_own_answer(directory: CachedDirectory, asked: Asked) -> None:
    theirs = key(2, org="other")
    asked.known[theirs.digest] = theirs
    names = [KEY.digest, theirs.digest]
    assert await asyncio.gather(*map(directory.key, names)) == [KEY, theirs]
    assert await directory.key(theirs.digest) == theirs


async def test_lists_are_asked_for_each_time(directory: CachedDirectory, asked: Asked) -> None:
    assert await directory.keys("acme") == [KEY]
    assert await directory.keys("acme") == [KEY]
    assert asked.calls["keys"] == 2
    assert await directory.organisations() == [ORG]


async def test_the_oldest_answers_make_room(directory: CachedDirectory, asked: Asked) -> None:
    made = [key(number) for number in range(1, 5)]
    asked.known = {one.digest: one for one in made}
    for one in made:
        await directory.key(one.digest)
    await directory.key(made[3].digest)
    await directory.key(made[1].digest)
    assert max(asked.calls.values()) == 1
    await directory.key(made[0].digest)
    assert asked.calls[made[0].digest] == 2


async def test_a_flood_of_unknown_keys_pushes_no_known_one_out(directory: CachedDirectory, asked: Asked) -> None:
    await directory.key(KEY.digest)
    for number in range(50):
        assert await directory.key(f"unknown {number}") is None
    assert await directory.key(KEY.digest) == KEY
    assert asked.calls[KEY.digest] == 1


class FrozenClock(ManualClock):
    """The monotonic clock of a process that was frozen: it stood still meanwhile."""

    frozen_s = 0.0

    def now(self) -> float:
        return super().now() + self.frozen_s


async def test_time_that_one_clock_slept_through_counts(asked: Asked) -> None:
    clock = FrozenClock()
    directory = CachedDirectory(asked, clock)
    await directory.key(KEY.digest)
    clock.frozen_s = 61.0
    await directory.key(KEY.digest)
    assert asked.calls[KEY.digest] == 2


async def test_a_loop_that_ends_in_the_middle_leaves_nothing_behind(asked: Asked, clock: ManualClock) -> None:
    directory = CachedDirectory(asked, clock)

    async def cut_off() -> None:
        asked.answers = asyncio.Event()
        waiting = asyncio.ensure_future(directory.key(KEY.digest))
        await asyncio.sleep(0)
        waiting.cancel()

    await asyncio.to_thread(asyncio.run, cut_off())
    asked.answers = asyncio.Event()
    asked.answers.set()
    assert await directory.key(KEY.digest) == KEY
