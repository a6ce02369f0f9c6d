"""How a host's health changes with what its attempts teach."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    DeadlineExceeded,
    FirstTokenTimeout,
    GatewayError,
    InternalError,
    Interrupted,
    ModelUnavailable,
    NoContent,
    SilentUpstream,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.routing.health import (
    FAILURES_TO_COOL,
    FIRST_COOLDOWN_S,
    LONGEST_COOLDOWN_S,
    LONGEST_RETRY_AFTER_S,
    PROBE_S,
    HostHealth,
    Lesson,
    State,
    cooled,
    failed,
    found_well,
    lesson,
    probed,
)

NOW = 1_000.0
FRESH = HostHealth()


@pytest.mark.parametrize(
    ("error", "ms", "expected"),
    [
        (None, 5, Lesson.WELL),
        (UpstreamRejected("x"), 5, Lesson.WELL),
        (ContextTooLong("x"), 5, Lesson.WELL),
        (ContentRefused("x"), 5, Lesson.WELL),
        (UpstreamUnavailable("x"), 5, Lesson.FAILED),
        (BadReply("x"), 5, Lesson.FAILED),
        (Interrupted("x"), 5, Lesson.FAILED),
        (SilentUpstream("x"), 5, Lesson.FAILED),
        (FirstTokenTimeout("x"), 12_000, Lesson.FAILED),
        (FirstTokenTimeout("x"), 9_999, Lesson.NOTHING),
        (UpstreamRateLimited("x"), 5, Lesson.TOLD_TO_WAIT),
        (ModelUnavailable("x"), 5, Lesson.FAILED),
        (AccountFailure("x"), 5, Lesson.ACCOUNT),
        (AccountFailure("x", upstream_status=401), 5, Lesson.ACCOUNT),
        (AccountFailure("x", upstream_status=403), 5, Lesson.FAILED),
        (NoContent("x"), 5, Lesson.NOTHING),
        (DeadlineExceeded("x"), 5, Lesson.NOTHING),
        (InternalError("x"), 5, Lesson.NOTHING),
    ],
)
def test_what_an_attempt_teaches(error: GatewayError | None, ms: int, expected: Lesson) -> None:
    assert lesson(error, ms) is expected


def failures(count: int, health: HostHealth = FRESH) -> HostHealth:
    for _ in range(count):
        health = failed(health, NOW)
    return health


def test_several_failures_in_a_row_put_a_host_out_of_use_and_fewer_do_not() -> None:
    assert failures(FAILURES_TO_COOL - 1).state(NOW) is State.READY
    cooling = failures(FAILURES_TO_COOL)
    assert cooling.state(NOW) is State.COOLING
    assert cooling.cooling_until == NOW + FIRST_COOLDOWN_S


def test_a_good_answer_in_between_counts_anew() -> None:
    health = failed(found_well(failures(FAILURES_TO_COOL - 1), 100, NOW), NOW)
    assert (health.failures, health.state(NOW)) == (1, State.READY)


def test_a_host_that_fails_every_other_time_is_put_out_of_use_once_it_is_known() -> None:
    health = FRESH
    states = []
    for turn in range(40):
        health = found_well(health, None, NOW) if turn % 3 == 2 else failed(health, NOW)
        states.append(health.state(NOW))
    assert State.COOLING not in states[:7]
    assert states[-1] is State.COOLING


def test_after_the_cooldown_one_request_finds_out() -> None:
    cooling = failures(FAILURES_TO_COOL)
    then = NOW + FIRST_COOLDOWN_S
    assert cooling.state(then) is State.PROBE
    probing = probed(cooling, then)
    assert probing.state(then) is State.COOLING
    assert probing.state(then + PROBE_S) is State.PROBE
    well = found_well(probing, 80, then + 1)
    assert (well.state(then + 1), well.cooldowns) == (State.READY, 0)


def test_a_probe_that_fails_cools_at_once_and_for_longer_each_time() -> None:
    health = failures(FAILURES_TO_COOL)
    now, waits = NOW, []
    for _ in range(8):
        now = health.cooling_until
        health = failed(probed(health, now), now)
        waits.append(health.cooling_until - now)
    assert waits == [20, 40, 80, 160, *[LONGEST_COOLDOWN_S] * 4]


def test_what_was_under_way_neither_ends_nor_counts_a_cooldown() -> None:
    cooling = failures(FAILURES_TO_COOL)
    late = failed(found_well(cooling, 90, NOW + 1), NOW + 2)
    assert (late.cooling_until, late.cooldowns) == (cooling.cooling_until, 1)
    assert late.state(NOW + 3) is State.COOLING


def test_a_hosts_own_word_is_obeyed_within_reason() -> None:
    assert failed(FRESH, NOW, 42.0).cooling_until == NOW + 42
    assert cooled(FRESH, NOW, 0.5).cooling_until == NOW + 0.5
    assert cooled(FRESH, NOW, 1e9).cooling_until == NOW + LONGEST_RETRY_AFTER_S
    assert cooled(FRESH, NOW, -5.0).cooling_until == NOW


@given(st.floats(0, 5_000), st.floats(-10, 5_000))
def test_a_deadline_only_moves_further_away(earlier: float, asked: float) -> None:
    cooling = replace(FRESH, cooling_until=NOW + earlier, cooldowns=1)
    bounded = min(max(asked, 0), LONGEST_RETRY_AFTER_S)
    assert cooled(cooling, NOW, asked).cooling_until == max(cooling.cooling_until, NOW + bounded)


def test_first_token_times_are_averaged() -> None:
    health = found_well(found_well(FRESH, 100, NOW), 200, NOW)
    assert health.ttft_ms == 120
    assert found_well(health, None, NOW).ttft_ms == 120
