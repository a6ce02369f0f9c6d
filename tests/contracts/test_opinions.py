"""What both stores promise about the scores that callers give."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.ports import Store
from core.workspace import Opinion
from tests.contracts.backends import Backend
from tests.contracts.values import NOW_MS, organisation, request_id

DAY_MS = 86_400_000

kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


async def test_scores_are_added_up_by_model_and_task(store: Store) -> None:
    assert await store.opinions("acme") == {}
    for number, (model, task, score) in enumerate(
        [("a/x", "code", 900), ("a/x", "code", 0), ("a/x", "math", 1_000), ("b/x:fast", "code", 500)]
    ):
        await store.rate("acme", request_id(number), model, task, score, NOW_MS)
    assert await store.opinions("acme") == {
        ("a/x", "code"): Opinion(2, 900),
        ("a/x", "math"): Opinion(1, 1_000),
        ("b/x:fast", "code"): Opinion(1, 500),
    }


async def test_a_second_score_of_a_request_takes_the_place_of_the_first(store: Store) -> None:
    await store.rate("acme", request_id(1), "a/x", "code", 900, NOW_MS)
    await store.rate("acme", request_id(1), "a/x", "code", 200, NOW_MS)
    assert await store.opinions("acme") == {("a/x", "code"): Opinion(1, 200)}
    await store.rate("acme", request_id(1), "a/x", "code", 200, NOW_MS)
    assert await store.opinions("acme") == {("a/x", "code"): Opinion(1, 200)}


async def test_it_counts_where_the_first_did(store: Store) -> None:
    await store.rate("acme", request_id(1), "a/x", "code", 900, NOW_MS)
    await store.rate("acme", request_id(1), "b/y", "math", 100, NOW_MS)
    assert await store.opinions("acme") == {("a/x", "code"): Opinion(1, 100)}
    await store.rate("acme", request_id(1), "b/y", "math", 300, NOW_MS)
    assert await store.opinions("acme") == {("a/x", "code"): Opinion(1, 300)}


async def test_organisations_do_not_see_each_others(store: Store) -> None:
    await store.rate("acme", request_id(1), "a/x", "code", 900, NOW_MS)
    await store.rate("acme#east", request_id(1), "a/x", "code", 100, NOW_MS)
    assert await store.opinions("acme") == {("a/x", "code"): Opinion(1, 900)}
    assert await store.opinions("acme#east") == {("a/x", "code"): Opinion(1, 100)}
    assert await store.opinions("other") == {}


async def test_they_come_with_the_workspace(store: Store) -> None:
    await store.save_organisation(organisation("acme"))
    await store.rate("acme", request_id(1), "a/x", "code", 900, NOW_MS)
    workspace = await store.workspace("acme")
    assert workspace is not None
    assert workspace.opinions == {("a/x", "code"): Opinion(1, 900)}


async def test_they_go_with_the_organisation(store: Store) -> None:
    await store.save_organisation(organisation("acme"))
    await store.rate("acme", request_id(1), "a/x", "code", 900, NOW_MS)
    await store.delete_organisation("acme")
    assert await store.opinions("acme") == {}


async def test_many_callers_at_once_are_all_counted(backend: Backend) -> None:
    stores = [backend.store() for _ in range(2)]
    ratings = [
        stores[number % 2].rate("acme", request_id(number), "a/x", "code", 100 + number, NOW_MS) for number in range(12)
    ]
    await asyncio.gather(*ratings)
    assert await stores[0].opinions("acme") == {("a/x", "code"): Opinion(12, sum(range(100, 112)))}
    for store in stores:
        await store.close()


async def test_one_request_scored_by_many_at_once_counts_once_with_one_of_the_scores(backend: Backend) -> None:
    stores = [backend.store() for _ in range(2)]
    scores = [0, 250, 500, 750, 1_000, 125]
    await asyncio.gather(
        *(
            stores[number % 2].rate("acme", request_id(7), "a/x", "code", score, NOW_MS)
            for number, score in enumerate(scores)
        )
    )
    (found,) = (await stores[1].opinions("acme")).values()
    assert found.count == 1
    assert found.sum_thousandths in scores
    for store in stores:
        await store.close()


@kept_store
@given(scores=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["code", "math"]), st.integers(0, 1_000))))
async def test_the_sums_are_those_of_the_last_scores(store: Store, scores: list[tuple[int, str, int]]) -> None:
    before = await store.opinions("laws")
    run = request_id(10_000 + sum(opinion.count for opinion in before.values()))
    kept: dict[str, tuple[str, int]] = {}
    for number, task, score in scores:
        name = f"{run}-{number}"
        kept[name] = kept.get(name, (task, 0))[0], score
        await store.rate("laws", name, "a/x", task, score, NOW_MS)
    found = await store.opinions("laws")
    for task in ("code", "math"):
        mine = [score for kept_task, score in kept.values() if kept_task == task]
        old, new = (each.get(("a/x", task), Opinion(0, 0)) for each in (before, found))
        assert (new.count - old.count, new.sum_thousandths - old.sum_thousandths) == (len(mine), sum(mine))


async def test_scores_that_have_passed_their_time_are_forgotten_and_their_sums_are_not(backend: Backend) -> None:
    store = backend.store(retention_days=1)
    for number, score in enumerate((100, 200)):
        await store.rate("acme", request_id(number), "a/x", "code", score, NOW_MS + number * 2 * DAY_MS)
    assert await store.opinions("acme") == {("a/x", "code"): Opinion(2, 300)}
    await store.close()
