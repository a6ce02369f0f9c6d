"""A cap in money holds for anything that a request within its bounds can come to."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Host
from core.catalog.schedule import PriceChange
from core.chat import AudioPart, CacheBreakpoint, ImagePart, Message, ResponseFormat, Role, TextPart, Usage
from core.money import ContextTier, Prices, Rates, Terms, charge, price
from core.routing.bits import places
from core.routing.worst import Worst, within_cap, worst_of
from tests.support.routing import CODE, NOW, make_host, make_index, make_model, make_prices, make_request

maybe_rate = st.none() | st.integers(0, 10**8)
rates = st.builds(
    Rates,
    input=st.integers(0, 10**8),
    output=st.integers(0, 10**8),
    cached=st.integers(0, 100),
    cache_write=maybe_rate,
    cache_write_5m=maybe_rate,
    cache_write_1h=maybe_rate,
    input_audio=maybe_rate,
    reasoning=maybe_rate,
    output_audio=maybe_rate,
)
beside = {"per_request": st.just(0) | st.integers(0, 10**12), "minimum": st.just(0) | st.integers(0, 10**12)}
tiers = st.lists(st.builds(ContextTier, st.integers(1, 3_000), st.just(">"), rates), max_size=2).map(tuple)
price_lists = st.builds(
    Prices,
    base=rates,
    tiers=tiers,
    service_tiers=st.dictionaries(
        st.sampled_from(["flex", "priority"]), st.sampled_from([Fraction(1, 2), Fraction(2)])
    ),
    service_prices=st.dictionaries(st.just("scale"), st.builds(Prices, base=rates, tiers=tiers, **beside)),
    **beside,
)
worsts = st.builds(
    Worst,
    prompt_tokens=st.integers(1, 2_000),
    output_tokens=st.integers(1, 20_000),
    choices=st.integers(1, 3),
    calls=st.sampled_from([1, 2]),
    is_unusual=st.booleans(),
    service_tier=st.sampled_from(["", "auto", "default", "flex", "fast", "scale"]),
    at_s=st.just(NOW),
    limit=st.none() | st.fractions(0, 10**13),
)


@given(st.lists(st.none() | price_lists, min_size=1, max_size=6), worsts)
def test_all_hosts_at_once_are_judged_like_each(found: list[Prices | None], worst: Worst) -> None:
    hosts = [
        Host(f"v{place}", "up", prices=prices, max_output_tokens=3_000 * (place + 1))
        for place, prices in enumerate(found)
    ]
    index = make_index(make_model("m", hosts))
    expected = [
        row
        for row, host in enumerate(hosts)
        if host.prices is not None and worst.allows(host.prices, index.output_limits[row])
    ]
    assert [*places(within_cap(index, worst))] == expected


@given(price_lists, worsts, st.data())
def test_what_is_allowed_never_costs_more(prices: Prices, worst: Worst, data: st.DataObject) -> None:
    limit = 1_500
    terms = Terms(markup=Fraction(1, 10), discount=Fraction(1, 4), guardrail_pico=2_000_000)
    cap = data.draw(st.integers(0, 10**7))
    factor = (1 + terms.markup) * (1 - terms.discount)
    worst = replace(worst, limit=(cap * 1_000_000 - terms.guardrail_pico) / factor)
    if not worst.allows(prices, limit):
        return
    answer = min(worst.output_tokens, limit)
    # A plain tier that was asked for is the one that serves, or none does; else the host's own setting decides.
    is_plain = worst.service_tier in ("default", "flex")
    serving = st.sampled_from([None, worst.service_tier] if is_plain else [None, "flex", "priority", "scale"])
    usages: list[Usage] = []
    for prompt in (worst.prompt_tokens, worst.prompt_tokens + answer)[: worst.calls]:
        written = data.draw(st.integers(0, worst.choices * answer))
        read = data.draw(st.integers(0, prompt))
        usages.append(
            Usage(
                input_tokens=read,
                cache_write_tokens=data.draw(st.integers(0, read)),
                output_tokens=written,
                reasoning_tokens=data.draw(st.integers(0, written)),
                service_tier=data.draw(serving),
            )
        )
    assert charge([price(usage, prices) for usage in usages], terms).total <= cap


LIST = Terms()


def bound(request: Any = None, cap_micros: int = 1_000, terms: Terms = LIST, *, reasks: bool = False) -> Worst:
    return worst_of(
        request or make_request(),
        CODE.prompt_tokens,
        cap_micros=cap_micros,
        terms=terms,
        max_tokens_default=8_192,
        reasks=reasks,
        at_s=NOW,
    )


def test_a_host_adds_to_the_prompt_and_an_answer_without_limit_counts_the_policys() -> None:
    assert (bound().prompt_tokens, bound().output_tokens, bound().choices, bound().calls) == (1_100, 8_192, 1, 1)
    limited = bound(make_request(max_tokens=5, n=4, service_tier="flex"))
    assert (limited.output_tokens, limited.choices, limited.service_tier) == (5, 4, "flex")


def test_the_limit_is_in_the_hosts_price() -> None:
    terms = Terms(markup=Fraction(1, 4), guardrail_pico=500_000_000)
    assert bound(terms=terms).limit == Fraction(500_000_000) / Fraction(5, 4)
    assert bound(terms=Terms(provider_cost=False)).limit is None


JSON = ResponseFormat("json_object")


@pytest.mark.parametrize(
    ("members", "reasks", "calls"),
    [
        ({"response_format": JSON}, True, 2),
        ({"response_format": JSON}, False, 1),
        ({"response_format": JSON, "stream": True}, True, 1),
        ({"response_format": ResponseFormat("text")}, True, 1),
        ({}, True, 1),
    ],
)
def test_an_answer_that_may_be_asked_for_again_counts_twice(members: Any, reasks: bool, calls: int) -> None:
    assert bound(make_request(**members), reasks=reasks).calls == calls


def test_a_second_call_reads_the_first_answer() -> None:
    once, twice = (
        bound(make_request(max_tokens=100)),
        bound(make_request(max_tokens=100, response_format=JSON), reasks=True),
    )
    assert once.tokens(50) == (1_100, 50)
    assert twice.tokens(50) == (2 * 1_100 + 50 + 64, 100)
    assert (once.longest_prompt, twice.longest_prompt) == (1_100, 1_264)


def test_the_bound_is_no_more_than_what_two_small_calls_come_to() -> None:
    twice = replace(bound(make_request(max_tokens=100, response_format=JSON), reasks=True), prompt_tokens=10)
    assert twice.dearest(Prices(Rates(1, 1), minimum=1_000), 100) == 2 * 1_000
    assert twice.dearest(Prices(Rates(1, 1), minimum=200), 100) == 200 + (10 + 100 + 64 + 100)
    assert twice.dearest(Prices(Rates(1, 1), per_request=5), 100) == 110 + 5 + 274 + 5


def test_a_host_that_may_serve_in_any_tier_counts_at_its_dearest() -> None:
    prices = Prices(Rates(1, 1), service_tiers={"flex": Fraction(1, 2), "priority": Fraction(2)})
    whole = 1_100 + 100
    for asked, factor in {None: 2, "auto": 2, "fast": 2, "priority": 2, "default": 1, "flex": 1}.items():
        assert bound(make_request(max_tokens=100, service_tier=asked)).dearest(prices, 100) == factor * whole, asked


def message(*parts: Any) -> Message:
    return Message(Role.USER, parts, {})


@pytest.mark.parametrize(
    ("members", "unusual"),
    [
        ({"messages": (Message(Role.USER, "text", {}), message(TextPart("text")))}, False),
        ({"messages": (message(ImagePart("https://example.com/a.png")),)}, True),
        ({"messages": (message(AudioPart("", "wav")),)}, True),
        ({"messages": (message(TextPart("text", CacheBreakpoint())),)}, True),
        ({"modalities": ("text", "audio")}, True),
        ({"written": {"prompt_cache_options": {}}}, True),
    ],
)
def test_what_has_rates_of_its_own_is_counted_at_the_dearest(members: Any, unusual: bool) -> None:
    assert bound(make_request(**members)).is_unusual is unusual


def test_prices_are_those_of_the_moment() -> None:
    dearer_now = make_host(price=1, price_changes=(PriceChange(make_prices(50), since="2026-01-01"),))
    unknown_now = make_host(price=None, price_changes=(PriceChange(make_prices(1), since="2100-01-01"),))
    index = make_index(make_model("m", [dearer_now, unknown_now, make_host()]))
    assert [*places(within_cap(index, bound(cap_micros=100_000)))] == [2]
    assert [*places(within_cap(index, bound(cap_micros=600_000)))] == [0, 2]
