"""Laws of limits: no order of requests passes a bound, and in the end the counters are what was used."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.accounts.limits import Limited, bounds_of, limited_by, reservation_of, tightest
from core.counters import EVER, MICROS, PARALLEL, REQUESTS, TOKENS, unit_of
from core.reservation import ORGANISATION, Amount, Standing, admitted, applied, settling
from core.tenant import Key, Limits, Organisation, Plan
from core.workspace import Workspace

AT_MS = 1_790_000_000_000
numbers = st.integers(0, 20)
maybe = st.none() | numbers
limits = st.builds(Limits, **dict.fromkeys(Limits.__dataclass_fields__, maybe))
amounts = st.builds(Amount, numbers, numbers)
steps = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["take", "more", "settle", "lose"]), amounts), max_size=25
)
LIMITED = (Limited("key:a", Limits(day_micros=20, parallel=2)), Limited(ORGANISATION, Limits(day_micros=25), 30))


@given(done=steps)
def test_no_order_of_requests_passes_a_bound(done: list[Any]) -> None:
    bounds = bounds_of(LIMITED, AT_MS)
    standings: Mapping[str, Standing] = {each.subject: Standing() for each in LIMITED}
    settled: dict[int, int] = {}
    held: dict[int, Amount] = {}
    for number, kind, amount in done:
        if number in settled:
            continue
        if kind in ("take", "more"):
            before = held.get(number, Amount())
            wanted = Amount(max(before.micros, amount.micros), amount.tokens)
            asked = reservation_of(LIMITED, "acme", str(number), AT_MS, 0, wanted)
            after = admitted(standings, asked, bounds)
            if after is not None:
                standings, held[number] = after, wanted
        elif number in held:
            used = Amount(min(amount.micros, held[number].micros))
            keep = 1 if kind == "lose" else 0
            for subject, standing in standings.items():
                change = settling(standing.held[str(number)], used, AT_MS, keep_until_ms=keep)
                standings = {**standings, subject: applied(standing, str(number), change)}
            if kind == "settle":
                settled[number] = used.micros
                del held[number]
            else:
                held[number] = used
        for subject, standing in standings.items():
            for counter, value in standing.counters.items():
                assert 0 <= value <= bounds[subject][counter]
    for standing in standings.values():
        for counter, value in standing.counters.items():
            of_holds = sum(each.amounts[counter] for each in standing.held.values())
            used_up = {MICROS: sum(settled.values()), REQUESTS: len(settled), PARALLEL: 0, TOKENS: 0}[unit_of(counter)]
            assert value == of_holds + used_up


@given(one=limits, other=limits)
def test_of_two_sets_of_limits_the_lower_hold(one: Limits, other: Limits) -> None:
    both = tightest(one, other)
    assert both == tightest(other, one)
    assert tightest(both, one) == both
    for name in Limits.__dataclass_fields__:
        given_bounds = {getattr(one, name), getattr(other, name)} - {None}
        assert getattr(both, name) == (min(given_bounds) if given_bounds else None)


@given(of_key=limits, of_organisation=limits, of_plan=limits, is_prepaid=st.booleans(), credit=numbers)
def test_whoever_has_a_limit_is_limited_and_nobody_else(
    of_key: Limits, of_organisation: Limits, of_plan: Limits, is_prepaid: bool, credit: int
) -> None:
    plan = Plan("p", "P", limits=of_plan, is_prepaid=is_prepaid)
    workspace = Workspace(Organisation("acme", "Acme", 1, limits=of_organisation, credit_micros=credit, plan="p"), plan)
    key = Key("digest", "key_1", "acme", "name", "hint", 1, limits=of_key)
    limited = {each.subject: each.bounds(AT_MS) for each in limited_by(workspace, key)}
    expected = {"key:key_1": of_key, ORGANISATION: tightest(of_plan, of_organisation)}
    for subject, wanted in expected.items():
        bounds = [bound for name in Limits.__dataclass_fields__ if (bound := getattr(wanted, name)) is not None]
        if subject == ORGANISATION and is_prepaid:
            assert limited[subject][EVER] == credit
            bounds.append(credit)
        assert sorted(limited.get(subject, {}).values()) == sorted(bounds)
