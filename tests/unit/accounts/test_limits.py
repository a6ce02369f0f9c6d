"""What a refusal says, what is left of a limit, and how an expired hold ends."""

from dataclasses import replace

import pytest

from core.accounts.limits import (
    KEEP_MS,
    Limited,
    check_plan,
    counts,
    ending,
    limited_by,
    refusal,
    reservation_of,
    used_by,
    window,
)
from core.accounts.refusals import dollars
from core.chat import Usage
from core.counters import EVER, MICROS, PARALLEL, REQUESTS, TOKENS
from core.errors import GatewayError, InvalidRequest, LargerThanLimit, StoreUnavailable
from core.money import Charge
from core.record import LOST, Record, settled
from core.reservation import ORGANISATION, Amount, Held, Standing, Window
from core.tenant import FREE_PLAN, PREPAID_PLAN, STANDARD_PLAN, Key, Limits, Organisation, Plan
from core.workspace import Workspace

AT_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z
DAY, MONTH, MINUTE = "2026-12-01", "2026-12", "2026-12-01T00:00"
KEY = "key:key_1"


def told(limited: Limited, counters: dict[str, int], most: Amount, now_ms: int = AT_MS) -> GatewayError:
    asked = reservation_of([limited], "acme", "req-1", AT_MS, AT_MS, most)
    return refusal([limited], asked, AT_MS, {limited.subject: Standing(counters)}, now_ms)


@pytest.mark.parametrize(
    ("limited", "counters", "status", "code", "retry_after_s", "message"),
    [
        (
            Limited(KEY, Limits(day_micros=5_000_000)),
            {f"micros:{DAY}": 4_980_000},
            402,
            "budget_exceeded",
            None,
            "This key may spend $5.00 a day. $4.98 are used or held for requests under way, and this request may come "
            "to $0.05. The limit starts anew at 2026-12-02T00:00:00Z. Ask for fewer tokens, or have the limit raised.",
        ),
        (
            Limited(ORGANISATION, Limits(month_micros=40_000), plan=STANDARD_PLAN),
            {},
            402,
            "budget_exceeded",
            None,
            "The organisation may spend $0.04 a month. $0.00 are used or held for requests under way, and this request "
            "may come to $0.05. The limit starts anew at 2027-01-01T00:00:00Z. Ask for fewer tokens, or have the limit "
            "raised.",
        ),
        (
            Limited(ORGANISATION, Limits(), 100_000, PREPAID_PLAN),
            {EVER: 99_999},
            402,
            "insufficient_credits",
            None,
            "The credits are not enough: $0.10 were paid in, $0.099999 of that are used or held for requests under "
            "way, and this request may come to $0.05. Add credits, which count within a minute, or ask for fewer "
            "tokens.",
        ),
        (
            Limited(ORGANISATION, FREE_PLAN.limits, plan=FREE_PLAN),
            {f"requests:{MONTH}": 1_000, f"requests:{DAY}": 100, f"requests:{MINUTE}": 10},
            402,
            "free_plan_exhausted",
            None,
            "The plan 'Free' gives 1000 requests a month, and 1000 are used. The limit starts anew at "
            "2027-01-01T00:00:00Z. Change the plan to go on before.",
        ),
        (
            Limited(ORGANISATION, FREE_PLAN.limits, plan=FREE_PLAN),
            {f"requests:{MINUTE}": 10},
            429,
            "rate_limited",
            59.0,
            "The organisation may send 10 requests a minute. 10 are used. The limit starts anew at "
            "2026-12-01T00:01:00Z.",
        ),
        (
            Limited(ORGANISATION, Limits(day_requests=5), plan=STANDARD_PLAN),
            {f"requests:{DAY}": 5},
            429,
            "rate_limited",
            86_399.0,
            "The organisation may send 5 requests a day. 5 are used. The limit starts anew at 2026-12-02T00:00:00Z.",
        ),
        (
            Limited(KEY, Limits(minute_tokens=700)),
            {f"tokens:{MINUTE}": 101},
            429,
            "rate_limited",
            59.0,
            "This key may use 700 tokens a minute. 101 are used or held for requests under way, and this request may "
            "come to 600. The limit starts anew at 2026-12-01T00:01:00Z. Ask for fewer tokens, or wait.",
        ),
        (
            Limited(KEY, Limits(minute_tokens=599)),
            {},
            429,
            "rate_limited",
            None,
            "This key may use 599 tokens a minute. This request alone may come to 600. Ask for fewer tokens.",
        ),
        (
            Limited(KEY, Limits(parallel=2)),
            {PARALLEL: 2},
            429,
            "rate_limited",
            1.0,
            "This key may have 2 requests under way at a time. 2 are. Send the next when one has ended; what a process "
            "held that died is free after 90 seconds.",
        ),
        (
            Limited(ORGANISATION, Limits(parallel=1)),
            {PARALLEL: 1},
            429,
            "rate_limited",
            1.0,
            "The organisation may have 1 request under way at a time. 1 is. Send the next when one has ended; what a "
            "process held that died is free after 90 seconds.",
        ),
        (
            Limited(KEY, Limits(minute_requests=1)),
            {f"requests:{MINUTE}": 1},
            429,
            "rate_limited",
            59.0,
            "This key may send 1 request a minute. 1 is used. The limit starts anew at 2026-12-01T00:01:00Z.",
        ),
        (
            Limited(KEY, Limits(parallel=0)),
            {},
            429,
            "rate_limited",
            None,
            "This key may have 0 requests under way at a time. Nothing can be sent with this key until the limit is "
            "raised.",
        ),
        (
            Limited(ORGANISATION, Limits(day_requests=0), plan=STANDARD_PLAN),
            {},
            429,
            "rate_limited",
            None,
            "The organisation may send 0 requests a day. Nothing can be sent by the organisation until the limit is "
            "raised.",
        ),
        (
            Limited(KEY, Limits(minute_tokens=0)),
            {},
            429,
            "rate_limited",
            None,
            "This key may use 0 tokens a minute. Nothing can be sent with this key until the limit is raised.",
        ),
        (
            Limited(KEY, Limits(day_micros=0)),
            {},
            402,
            "budget_exceeded",
            None,
            "This key may spend $0.00 a day. $0.00 are used or held for requests under way, and this request may come "
            "to $0.05. Nothing that costs something can be sent with this key until the limit is raised.",
        ),
    ],
)
def test_a_refusal_says_what_the_limit_is_what_is_used_and_when_it_starts_anew(
    limited: Limited, counters: dict[str, int], status: int, code: str, retry_after_s: float | None, message: str
) -> None:
    error = told(limited, counters, Amount(50_000, 600), AT_MS + 1_000)
    assert (error.status, error.code, error.retry_after_s) == (status, code, retry_after_s)
    assert error.message == message


def test_of_all_limits_that_are_passed_the_one_that_lasts_longest_is_told() -> None:
    key = Limited(KEY, Limits(parallel=1, minute_requests=1, day_requests=1))
    counters = {PARALLEL: 1, f"requests:{MINUTE}": 1, f"requests:{DAY}": 1}
    assert "a day" in told(key, counters, Amount()).message
    hopeless = told(replace(key, limits=replace(key.limits, minute_tokens=1)), counters, Amount(tokens=2))
    assert isinstance(hopeless, LargerThanLimit)


def test_nobody_is_asked_to_come_again_within_a_second() -> None:
    minute = Limited(KEY, Limits(minute_requests=1))
    assert told(minute, {f"requests:{MINUTE}": 1}, Amount(), AT_MS + 59_900).retry_after_s == 1.0


def test_what_the_request_holds_already_is_not_counted_against_it() -> None:
    limited = Limited(KEY, Limits(day_micros=10))
    counter = f"micros:{DAY}"
    asked = reservation_of([limited], "acme", "req-1", AT_MS, AT_MS, Amount(9))
    standing = Standing({counter: 8}, {"req-1": Held({counter: 6}, AT_MS)})
    error = refusal([limited], asked, AT_MS, {KEY: standing}, AT_MS)
    assert "$0.000002 are used" in error.message
    other = Standing({counter: 8}, {"req-1": Held({f"tokens:{DAY}": 1}, AT_MS)})
    assert "$0.000008 are used" in refusal([limited], asked, AT_MS, {KEY: other}, AT_MS).message


def test_a_subject_that_has_room_does_not_hide_another_that_has_none() -> None:
    key, organisation = Limited(KEY, Limits(day_micros=10)), Limited(ORGANISATION, Limits(day_micros=5))
    asked = reservation_of([key, organisation], "acme", "req-1", AT_MS, AT_MS + 9, Amount(9))
    assert (asked.org, asked.request_id, asked.expires_ms) == ("acme", "req-1", AT_MS + 9)
    error = refusal([key, organisation], asked, AT_MS, {ORGANISATION: Standing()}, AT_MS)
    assert "The organisation may spend" in error.message


def test_where_nothing_was_passed_the_hold_itself_is_gone() -> None:
    limited = Limited(KEY, Limits(day_micros=10))
    asked = reservation_of([limited], "acme", "req-1", AT_MS, AT_MS, Amount(9))
    for standings in ({KEY: Standing()}, {KEY: None}, {}):
        assert isinstance(refusal([limited], asked, AT_MS, standings, AT_MS), StoreUnavailable)
    # Of what it asks for it holds a part: the rest would have fitted.
    holding = Standing({f"micros:{DAY}": 7}, {"req-1": Held({f"micros:{DAY}": 6}, AT_MS)})
    assert isinstance(refusal([limited], asked, AT_MS, {KEY: holding}, AT_MS), StoreUnavailable)


def test_the_window_with_least_left_is_told_and_of_equals_the_longer_one() -> None:
    key, organisation = (
        Limited(KEY, Limits(minute_requests=5, day_requests=50, parallel=1)),
        Limited(ORGANISATION, Limits(day_requests=4, month_micros=1)),
    )
    both = (key, organisation)
    full = {f"requests:{MINUTE}": 4, f"requests:{DAY}": 49}
    seen = {KEY: Standing(full), ORGANISATION: Standing({f"requests:{DAY}": 2})}
    assert window(both, REQUESTS, AT_MS, seen, AT_MS) == Window(50, 1, 86_400.0)
    assert window(both, REQUESTS, AT_MS, {KEY: None, ORGANISATION: seen[ORGANISATION]}, AT_MS) == Window(4, 2, 86_400.0)
    assert window(both, REQUESTS, AT_MS, {}, AT_MS) is None
    assert window(both, TOKENS, AT_MS, seen, AT_MS) is None
    over = {KEY: Standing({f"requests:{MINUTE}": 9})}
    assert window([key], REQUESTS, AT_MS, over, AT_MS + 61_000) == Window(5, 0, 0.0)
    assert window([organisation], REQUESTS, AT_MS, {ORGANISATION: Standing()}, AT_MS) == Window(4, 4, 86_400.0)


def test_a_plan_without_bounds_refuses_nothing() -> None:
    check_plan(STANDARD_PLAN, prompt_tokens=10**9, max_tokens=10**9, limit_field="max_tokens")
    bounded = Plan("p", "P", max_input_tokens=10, max_output_tokens=10)
    check_plan(bounded, prompt_tokens=10, max_tokens=10, limit_field="max_tokens")
    check_plan(bounded, prompt_tokens=10, max_tokens=None, limit_field="max_tokens")
    with pytest.raises(InvalidRequest, match="about 11 tokens") as caught:
        check_plan(bounded, prompt_tokens=11, max_tokens=None, limit_field="max_tokens")
    assert caught.value.param == "messages"
    with pytest.raises(InvalidRequest, match="answers of at most 10 tokens") as caught:
        check_plan(bounded, prompt_tokens=1, max_tokens=11, limit_field="max_completion_tokens")
    assert caught.value.param == "max_completion_tokens"


def test_only_who_has_limits_or_credits_to_keep_within_is_looked_at() -> None:
    key = Key("0" * 64, "key_1", "acme", "a key", "abcd", AT_MS)
    paid = Organisation("acme", "Acme", AT_MS, credit_micros=7)
    assert limited_by(Workspace(paid), key) == ()
    assert limited_by(Workspace(paid, PREPAID_PLAN), key) == (Limited(ORGANISATION, Limits(), 7, PREPAID_PLAN),)
    bounded = replace(key, limits=Limits(day_micros=5, parallel=1))
    both = limited_by(Workspace(replace(paid, limits=Limits(parallel=1)), FREE_PLAN), bounded)
    tighter = replace(FREE_PLAN.limits, parallel=1)
    assert both == (Limited(KEY, bounded.limits), Limited(ORGANISATION, tighter, plan=FREE_PLAN))
    assert [counts(both, unit) for unit in (MICROS, REQUESTS, TOKENS, PARALLEL)] == [True, True, False, True]


@pytest.mark.parametrize(
    ("micros", "words"),
    [(0, "$0.00"), (1, "$0.000001"), (2_500, "$0.0025"), (1_200_000, "$1.20"), (12_000_000, "$12.00")],
)
def test_dollars_for_people(micros: int, words: str) -> None:
    assert dollars(micros) == words


OPEN = Record("acme", "req-1", "key_1", AT_MS, AT_MS + 900_000, "auto", "plain", False)
HELD = Held({f"{MICROS}:{DAY}": 50, f"{REQUESTS}:{DAY}": 1, PARALLEL: 1}, AT_MS)


def final(outcome: str, charge: Charge | None) -> Record:
    usage = None if charge is None else Usage(input_tokens=3, output_tokens=4)
    return settled(OPEN, outcome=outcome, attempts=(), usage=usage, charge=charge, settled_ms=AT_MS)


def test_a_settled_record_ends_its_hold_with_what_it_came_to() -> None:
    record = final("served", Charge(12, 12, 0))
    assert used_by(record) == Amount(12, 7)
    assert ending(HELD, record, AT_MS) == (Amount(12, 7), 0)
    assert ending(HELD, final("failed", None), AT_MS) == (Amount(), 0)


def test_a_request_that_is_under_way_keeps_its_hold() -> None:
    assert ending(HELD, OPEN, OPEN.lease_until_ms - 1) is None


def test_what_became_of_a_request_may_be_corrected_for_a_day() -> None:
    now_ms = OPEN.lease_until_ms
    for record in (OPEN, None, final(LOST, None)):
        assert ending(HELD, record, now_ms) == (Amount(), now_ms + KEEP_MS)
    kept = Held({f"{MICROS}:{DAY}": 0, f"{REQUESTS}:{DAY}": 1, PARALLEL: 0}, now_ms)
    assert ending(kept, None, now_ms) == (Amount(), 0)
    assert ending(kept, final(LOST, Charge(2, 2, 0)), now_ms) == (Amount(2, 7), now_ms + KEEP_MS)
