"""A catalog laid out: every host a row, every fact a set of rows or a column."""

from decimal import Decimal
from typing import Any

from core.catalog.loader import load_catalog
from core.catalog.model import Host, StructuredOutput, Thinking
from core.catalog.schedule import PriceChange
from core.money import Prices, Rates, pico_per_token
from core.providers.refusals import refusal_traits
from core.routing.bits import places
from core.routing.index import AtLeast
from core.routing.indexing import MOST_RATE, build_index
from core.routing.thought import ThinkingMode
from tests.support.routing import make_abilities, make_host, make_index, make_model, make_prices, promising, thinker

ONE = make_model("lab/one", [make_host("a", 1, upstream_model="one"), make_host("b", 2, upstream_model="one")])
TWO = make_model("lab/two", price=None, quality=None, abilities=thinker(500), first_token_ms=200)


def test_each_host_is_a_row_and_a_models_rows_are_neighbours() -> None:
    index = make_index(ONE, TWO)
    assert list(index.ids) == ["lab/one", "lab/one", "lab/two"]
    assert list(index.hosts) == ["a/one", "b/one", "lab/lab/two"]
    assert (index.size, index.everything) == (3, 0b111)
    assert index.spans == {"lab/one": (0, 2), "lab/two": (2, 1)}
    assert [index.target(row).name for row in range(3)] == list(index.hosts)


def test_models_are_found_by_id_and_unknown_ones_stand_for_nothing() -> None:
    index = make_index(ONE, TWO)
    assert index.rows_of(["lab/two", "lab/one", "lab/three"]) == 0b111
    assert (index.span("lab/one"), index.span("lab/three")) == (0b11, 0)


def test_what_hosts_have_in_common_is_a_set_of_rows() -> None:
    german = make_host("a", promises=promising(region="eu"), deprecated="2027-01-01")
    plain = make_model("lab/plain", abilities=make_abilities(tools=False, structured_output=StructuredOutput.NONE))
    index = make_index(make_model("lab/old", [german], deprecated="2026-12-31"), TWO, plain)
    assert index.vendors == {"a": 0b1, "lab": 0b110}
    assert index.promises[promising(region="eu")] == 0b1
    assert index.ends == {"2026-12-31": 0b1, "9999-12-31": 0b110}
    assert (index.tools, index.schemas, index.json_mode) == (0b11, 0b11, 0b111)
    assert (index.priced, index.timed) == (0b101, 0b10)


def test_numbers_answer_how_much_is_enough() -> None:
    numbers = AtLeast({10: 0b1, 20: 0b10, 30: 0b100})
    assert [numbers.rows(bound) for bound in (5, 10, 11, 30, 31)] == [0b111, 0b111, 0b110, 0b100, 0]
    assert (numbers.most, AtLeast({}).most, AtLeast({}).rows(1)) == (30, 0, 0)


def test_answers_about_numbers_are_kept_within_bounds() -> None:
    numbers = AtLeast({number: 1 << number for number in range(200)})
    assert [numbers.rows(bound).bit_count() for bound in (*range(200), *range(200))] == 2 * [*range(200, 0, -1)]


def test_scores_are_columns_and_who_was_not_evaluated_stands_at_the_lowest() -> None:
    index = make_index(make_model("a", quality={"code": 0.9}), make_model("b", quality={"code": 0.2}), TWO)
    assert list(index.scores["code"].values) == [9_000, 2_000, 2_000]
    assert [*places(index.scored["code"])] == [0, 1]


def test_thinking_has_its_price() -> None:
    optional = make_abilities(thinking=Thinking.OPTIONAL, reasoning_tokens=100)
    index = make_index(make_model("a", abilities=thinker(500)), make_model("b", abilities=optional), ONE)
    rate = 1_000_000
    assert list(index.thought[ThinkingMode.ON].values)[:2] == [500 * rate, 100 * rate]
    assert list(index.thought[ThinkingMode.OFF].values)[:2] == [500 * rate, 0]


def test_rates_that_columns_cannot_hold_are_told_apart() -> None:
    later = make_host(price=1, price_changes=(PriceChange(make_prices(2), since="2030-01-01"),))
    only_later = make_host(price=None, price_changes=later.price_changes)
    index = make_index(make_model("a", [later, only_later]), make_model("b", price=5_000), TWO)
    assert [*index.changing] == [0, 1, 2]
    assert max(index.input.values) == MOST_RATE
    assert index.priced == 0b111
    assert index.special(10**9, None) == index.changing


def test_hosts_that_others_undercut_are_known_beforehand() -> None:
    def host(vendor: str, read: int, written: int, **members: Any) -> Host:
        prices = Prices(Rates(pico_per_token(Decimal(read)), pico_per_token(Decimal(written))))
        return make_host(vendor, upstream_model="m", **{"prices": prices, **members})

    later = (PriceChange(make_prices(9), since="2030-01-01"),)
    models = {
        "one": [host("a", 2, 2), host("b", 1, 2), host("c", 1, 2), make_host("d", None)],
        "either": [host("a", 1, 9), host("b", 2, 3), host("c", 2, 9)],
        "changing": [host("a", 1, 1), host("b", 2, 2, price_changes=later), host("c", 3, 3)],
    }
    index = make_index(*(make_model(name, hosts) for name, hosts in models.items()))
    assert [*places(index.contenders)] == [1, 4, 5, 7, 8]
    assert [*places(index.cheapest)] == [1]
    assert [[*places(rows)] for rows in index.leading(index.everything)] == [[1], [4, 5, 7, 8]]
    without = index.everything & ~index.named("b")
    assert [[*places(rows)] for rows in index.leading(without)] == [[], [0, 2, 3, 4, 6, 7, 9]]


def test_hosts_of_one_name_share_their_health() -> None:
    variant = make_model("lab/one:high", [Host("a", "one")])
    index = make_index(ONE, variant)
    assert [index.named(name) for name in ("a/one", "b", "gone")] == [0b101, 0b10, 0]


def test_the_shipped_catalog_has_few_kinds_of_hosts() -> None:
    index = build_index(load_catalog(), refusal_traits)
    assert index.size > 200
    assert len(index.refusals) < index.size / 3
    assert index.target(0).name == index.hosts[0]


def test_an_empty_catalog_has_no_rows() -> None:
    index = make_index()
    assert (index.size, index.everything, index.outputs.most) == (0, 0, 0)
