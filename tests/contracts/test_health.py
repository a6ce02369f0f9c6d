"""What both stores promise about what processes tell each other of hosts."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.ports import HostNews, Store
from tests.contracts.backends import Backend
from tests.contracts.values import NOW_MS

HOUR_MS = 3_600_000

kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


async def test_a_deadline_is_told_until_it_has_passed(store: Store) -> None:
    assert await store.told_health(NOW_MS) == {}
    news = HostNews(NOW_MS + 10_000, cooldowns=2)
    await store.tell_health({"lab/small": news}, NOW_MS)
    assert await store.told_health(NOW_MS + 9_999) == {"lab/small": news}
    assert await store.told_health(NOW_MS + 10_000) == {}


async def test_of_two_deadlines_the_later_holds_whoever_came_first(store: Store) -> None:
    sooner, later = HostNews(NOW_MS + 5_000, 4), HostNews(NOW_MS + 9_000, 1)
    await store.tell_health({"a": sooner, "b": later}, NOW_MS)
    await store.tell_health({"a": later, "b": sooner}, NOW_MS + 1)
    assert await store.told_health(NOW_MS + 2) == {"a": later, "b": later}


async def test_the_newest_first_token_time_holds_for_an_hour(store: Store) -> None:
    await store.tell_health({"a": HostNews(ttft_ms=400)}, NOW_MS)
    await store.tell_health({"a": HostNews(ttft_ms=300)}, NOW_MS + 5)
    assert await store.told_health(NOW_MS + HOUR_MS + 4) == {"a": HostNews(ttft_ms=300)}
    assert await store.told_health(NOW_MS + HOUR_MS + 5) == {}


async def test_a_deadline_and_a_time_are_told_together_and_end_apart(store: Store) -> None:
    await store.tell_health({"a": HostNews(NOW_MS + 1_000, 1)}, NOW_MS)
    await store.tell_health({"a": HostNews(ttft_ms=300)}, NOW_MS)
    assert await store.told_health(NOW_MS) == {"a": HostNews(NOW_MS + 1_000, 1, 300)}
    assert await store.told_health(NOW_MS + 1_000) == {"a": HostNews(ttft_ms=300)}
    await store.tell_health({"a": HostNews(NOW_MS + 2 * HOUR_MS, 3)}, NOW_MS)
    assert await store.told_health(NOW_MS + HOUR_MS) == {"a": HostNews(NOW_MS + 2 * HOUR_MS, 3)}


async def test_no_news_are_nothing_to_do(store: Store) -> None:
    await store.tell_health({}, NOW_MS)
    assert await store.told_health(NOW_MS) == {}


async def test_many_hosts_and_processes_at_once(backend: Backend) -> None:
    stores = [backend.store() for _ in range(2)]
    await asyncio.gather(
        *(
            stores[number % 2].tell_health(
                {f"host {place}": HostNews(NOW_MS + 1_000 + number, number) for place in range(5)}, NOW_MS
            )
            for number in range(6)
        )
    )
    latest = HostNews(NOW_MS + 1_005, 5)
    assert await stores[0].told_health(NOW_MS) == {f"host {place}": latest for place in range(5)}
    for store in stores:
        await store.close()


@kept_store
@given(deadlines=st.lists(st.integers(1, 1_000), min_size=1, max_size=4), data=st.data())
async def test_the_order_of_news_does_not_matter(store: Store, deadlines: list[int], data: st.DataObject) -> None:
    names = [f"{deadlines} {turn}" for turn in (1, 2)]
    for name, order in zip(names, (deadlines, data.draw(st.permutations(deadlines))), strict=True):
        for late in order:
            await store.tell_health({name: HostNews(NOW_MS + late, late)}, NOW_MS)
    told = await store.told_health(NOW_MS)
    assert [told[name] for name in names] == [HostNews(NOW_MS + max(deadlines), max(deadlines))] * 2
