"""Ranking: unknown behind measured, no room behind all, hosts in their order; of thousands the most promising."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Host, Model
from core.catalog.schedule import PriceChange
from core.decision import Objective
from core.money import Prices, Rates
from core.routing.board import NOTHING_KNOWN, HealthView
from core.routing.estimate import Ask, Costs, ask_of
from core.routing.health import HostHealth
from core.routing.index import Index
from core.routing.lanes import FEW
from core.routing.quality import qualities
from core.routing.reading import Reading
from core.routing.score import BAND, Entrant, Hosts, Race, Ranking, rank
from core.routing.shortlist import MOST
from core.routing.thought import ThinkingMode
from tests.support.routing import CODE, NOW, make_host, make_index, make_model, make_request, thinker


def race(index: Index, objective: Objective = Objective.BALANCED, reading: Reading = CODE, **members: Any) -> Race:
    ask = ask_of(make_request(max_tokens=members.pop("max_tokens", None)), reading, NOW)
    plain = {"view": NOTHING_KNOWN, **members}
    return Race(index, ask, Costs(index, ask), qualities(index, reading), objective, **plain)


def entrants(ranking: Ranking) -> list[Entrant]:
    return [*map(ranking.entrant, ranking.rows)]


def names(ranking: Ranking) -> list[str]:
    return [entrant.model for entrant in entrants(ranking)]


KNOWN = make_model("known", price=9, quality=0.2)
UNKNOWN = make_model("unknown", price=1, quality=None)
THINKER = make_model("thinker", price=1, quality=0.9, abilities=thinker(5_000))
NEW_THINKER = make_model("new", price=1, quality=None, abilities=thinker(5_000))


@pytest.mark.parametrize("objective", Objective)
def test_unknown_quality_ranks_behind_measured_and_no_room_behind_all(objective: Objective) -> None:
    index = make_index(NEW_THINKER, THINKER, UNKNOWN, KNOWN)
    ranking = rank(race(index, objective, max_tokens=1_000), index.everything)
    assert names(ranking) == ["known", "unknown", "thinker", "new"]
    assert [entrant.is_measured for entrant in entrants(ranking)] == [True, False, True, False]
    assert [entrant.is_cramped for entrant in entrants(ranking)] == [False, False, True, True]
    assert ranking.eligible == 4


def test_with_room_thinking_is_no_drawback() -> None:
    index = make_index(KNOWN, THINKER)
    assert names(rank(race(index, max_tokens=9_000), index.everything)) == ["thinker", "known"]
    assert names(rank(race(index), index.everything)) == ["thinker", "known"]


def test_good_enough_is_told_of_the_first_kind_alone() -> None:
    models = [make_model(f"m{place}", price=place + 1, quality=0.80 - place / 25) for place in range(4)]
    index = make_index(*models, UNKNOWN)
    ranking = rank(race(index), index.everything)
    assert (names(ranking), ranking.enough) == (["m0", "m1", "m2", "m3", "unknown"], 3)


CHEAP, DEAR = make_host("cheap", 1, upstream_model="m"), make_host("dear", 2, upstream_model="m")
UNPRICED = make_host("unpriced", None, upstream_model="m")
HOSTS = make_index(make_model("m", [UNPRICED, DEAR, CHEAP]))


def order(**members: Any) -> list[str]:
    ranking = rank(race(HOSTS, **members), HOSTS.everything)
    found = ranking.hosts.ordered(HOSTS.everything)
    assert ranking.rows == found[:1]
    return [HOSTS.hosts[row].partition("/")[0] for row in found]


def ill(**states: HostHealth) -> HealthView:
    known = {f"{name}/m": health for name, health in states.items()}
    return HealthView(NOW, known, frozenset(known))


def test_hosts_stand_by_price_and_unknown_prices_last() -> None:
    assert order() == ["cheap", "dear", "unpriced"]


def test_the_requests_order_comes_before_price_and_health_before_that() -> None:
    assert order(order=("unpriced", "dear")) == ["unpriced", "dear", "cheap"]
    shaky = ill(unpriced=HostHealth(error_rate=0.9), dear=HostHealth(error_rate=0.1))
    assert order(order=("unpriced",), view=shaky) == ["cheap", "dear", "unpriced"]
    cooling = HostHealth(cooldowns=1, cooling_until=NOW + 5)
    probing = HostHealth(cooldowns=1, cooling_until=NOW - 5)
    assert order(view=ill(cheap=cooling, dear=probing)) == ["unpriced", "dear", "cheap"]


def test_the_host_that_is_wanted_comes_before_all() -> None:
    assert order(host="unpriced/m") == ["unpriced", "cheap", "dear"]


def test_the_first_hosts_numbers_are_the_models() -> None:
    view = ill(dear=HostHealth(ttft_ms=321.0))
    (entrant,) = entrants(rank(race(HOSTS, order=("dear",), view=view), HOSTS.everything))
    assert (entrant.micros, entrant.ttft_ms) == (3_400, 321.0)
    (entrant,) = entrants(rank(race(make_index(make_model("m", first_token_ms=77))), 0b1))
    assert entrant.ttft_ms == 77


prices = st.builds(Prices, st.builds(Rates, st.integers(1, 4), st.integers(1, 4)))
changes = st.just(()) | st.builds(PriceChange, prices, since=st.just("2020-01-01")).map(lambda change: (change,))
priced = st.builds(
    make_host,
    st.sampled_from(["lab", "a"]),
    upstream_model=st.just("m"),
    prices=st.none() | prices,
    price_changes=changes,
)
asks = st.builds(
    Ask,
    prompt_tokens=st.integers(1, 9),
    answer_tokens=st.integers(1, 9),
    max_tokens=st.none() | st.just(9),
    choices=st.just(1),
    mode=st.just(ThinkingMode.DEFAULT),
    service_tier=st.just(None),
    at_s=st.just(NOW),
)


@given(
    st.lists(st.lists(priced, min_size=1, max_size=4), min_size=1, max_size=3),
    asks,
    st.integers(0, 2**12),
    st.dictionaries(st.integers(0, 2), st.integers(1, 3), max_size=2),
    st.sampled_from([None, "lab/m", "gone/m"]),
)
def test_the_first_host_is_the_first_of_the_order_whoever_is_left(
    found: list[list[Host]], ask: Ask, left: int, ills: dict[int, int], host: str | None
) -> None:
    models = [make_model(f"m{place}", hosts) for place, hosts in enumerate(found)]
    index = make_index(*models)
    rows = left & index.everything
    hosts = Hosts(index, Costs(index, ask), {row: ill for row, ill in ills.items() if rows >> row & 1}, (), host)
    orders = [hosts.ordered(rows & index.span(model.id)) for model in models]
    assert hosts.firsts(rows) == [order[0] for order in orders if order]


class TestThousands:
    """More hosts than are ranked exactly: the first places are the same as if all were."""

    COUNT = 2 * FEW

    def models(self, **members: Any) -> list[Model]:
        # Prices and qualities that a sample does not show in order.
        return [
            make_model(
                f"m{place}",
                price=1 + place * 7_919 % self.COUNT,
                quality=(place * 6_101 % self.COUNT) / self.COUNT,
                **members,
            )
            for place in range(self.COUNT)
        ]

    def first(self, objective: Objective, index: Index, **members: Any) -> list[str]:
        ranking = rank(race(index, objective, **members), index.everything)
        assert ranking.eligible == self.COUNT
        assert MOST <= len(ranking.rows) < 4 * MOST
        return names(ranking)[:10]

    def expected(self, key: Any, models: list[Model]) -> list[str]:
        return [model.id for model in sorted(models, key=key)[:10]]

    @staticmethod
    def price(model: Model) -> int:
        prices = model.hosts[0].prices
        assert prices is not None
        return prices.base.input

    @staticmethod
    def value(model: Model) -> float:
        return model.quality["code"].value

    def test_quality(self) -> None:
        models = self.models()
        assert self.first(Objective.QUALITY, make_index(*models)) == self.expected(
            lambda each: -self.value(each), models
        )

    def test_cost(self) -> None:
        models = self.models()
        assert self.first(Objective.COST, make_index(*models)) == self.expected(self.price, models)

    def test_balanced(self) -> None:
        models = self.models()
        best = max(map(self.value, models))
        good = [each for each in models if self.value(each) >= best - BAND]
        assert self.first(Objective.BALANCED, make_index(*models)) == self.expected(self.price, good)

    def test_latency(self) -> None:
        models = self.models()
        index = make_index(*models)
        known = {index.hosts[place]: HostHealth(ttft_ms=1_000.0 - place) for place in range(5)}
        untimed = {"gone/x": HostHealth(), index.hosts[7]: HostHealth()}
        firsts = self.first(Objective.LATENCY, index, view=HealthView(NOW, {**known, **untimed}))
        assert firsts[:5] == ["m4", "m3", "m2", "m1", "m0"]
        timed = [*self.models(first_token_ms=300)[:90], *models[90:]]
        assert len(self.first(Objective.LATENCY, make_index(*timed))) == 10

    def test_of_equals_the_first_are_taken(self) -> None:
        models = [make_model(f"m{place:04}", quality=0.5) for place in range(self.COUNT)]
        for objective in Objective:
            assert self.first(objective, make_index(*models)) == [f"m{place:04}" for place in range(10)]

    def test_a_sample_that_deceives_does_no_harm(self) -> None:
        # Every fourth model is what the sample sees: these alone are good and cheap.
        models = [
            make_model(f"m{place}", price="0.5" if place % 4 == 0 else "5", quality=0.9 if place % 4 == 0 else 0.1)
            for place in range(self.COUNT)
        ]
        index = make_index(*models)
        without_sample = index.everything & ~index.rows_of(f"m{place}" for place in range(0, self.COUNT, 4))
        assert without_sample.bit_count() > FEW
        for objective in (Objective.QUALITY, Objective.COST):
            assert len(rank(race(index, objective), without_sample).rows) == MOST

    def test_unpriced_models_are_ranked_when_there_are_no_others(self) -> None:
        models = [make_model(f"m{place}", price=None, quality=place / self.COUNT) for place in range(self.COUNT)]
        assert self.first(Objective.COST, make_index(*models))[0] == f"m{self.COUNT - 1}"

    def test_who_was_not_evaluated_is_left_out_once_there_are_enough_others(self) -> None:
        unknown = [make_model(f"u{place}", quality=None) for place in range(self.COUNT)]
        index = make_index(*self.models()[: 2 * MOST], *unknown)
        ranking = rank(race(index), index.everything)
        assert len(ranking.rows) == 2 * MOST
        few = make_index(KNOWN, *unknown)
        assert names(rank(race(few), few.everything))[0] == "known"
