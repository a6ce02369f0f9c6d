"""Which attempts are charged, and for what."""

from dataclasses import replace
from fractions import Fraction

from core.accounts.charges import attempt_row, charged_usage, request_charge, terms_of
from core.chat import Usage
from core.money import NO_COST, Charge, Terms
from core.tenant import FREE_PLAN, Organisation
from core.workspace import Workspace
from tests.support.targets import make_target

NOW = 1_790_000_000.0
TARGET = make_target()
UNPRICED = make_target(prices=None)
USED = Usage(
    input_tokens=31,
    cached_tokens=1,
    output_tokens=64,
    reasoning_tokens=4,
    service_tier="default",
    extra={"completion_tokens_details": {"accepted_prediction_tokens": 2}},
)


def test_a_served_attempt_is_priced_at_its_own_host() -> None:
    row = attempt_row(TARGET, "served", 12, USED, NOW)
    assert (row.model, row.host, row.ms, row.charged) == ("lab/small", "lab/lab/small", 12, True)
    assert request_charge([row], Terms()) == Charge(total=1_053, input=93, output=960)


def test_an_attempt_without_reported_usage_costs_nothing() -> None:
    row = attempt_row(TARGET, "upstream_error", 5, None, NOW, upstream_status=503, upstream_code="busy")
    assert (row.charged, row.cost, row.upstream_status, row.upstream_code) == (False, None, 503, "busy")
    assert request_charge([row], Terms()) == Charge(0, 0, 0)
    assert charged_usage([row]) is None


def test_a_failed_attempt_is_charged_for_what_its_host_reported() -> None:
    failed, served = attempt_row(TARGET, "no_content", 5, USED, NOW), attempt_row(TARGET, "served", 5, USED, NOW)
    assert request_charge([failed, served], Terms()) == Charge(total=2_106, input=186, output=1_920)


def test_an_unknown_price_makes_the_whole_charge_unknown_never_nothing() -> None:
    rows = [attempt_row(TARGET, "no_content", 5, USED, NOW), attempt_row(UNPRICED, "served", 5, USED, NOW)]
    assert request_charge(rows, Terms()) is None


def test_where_nothing_is_charged_an_unknown_price_is_no_reason_not_to_say_so() -> None:
    rows = [attempt_row(TARGET, "no_content", 5, USED, NOW), attempt_row(UNPRICED, "served", 5, USED, NOW)]
    for terms in (Terms(provider_cost=False, guardrail_pico=7_000_000), Terms(discount=Fraction(1))):
        guardrail = terms.guardrail_pico // 1_000_000
        assert request_charge(rows, terms) == Charge(total=guardrail, input=0, output=0, guardrail=guardrail)


def test_on_an_own_key_only_the_checks_are_charged_whatever_the_host_asks() -> None:
    for target in (TARGET, UNPRICED):
        row = attempt_row(replace(target, owner="acme"), "served", 12, USED, NOW)
        assert (row.own_key, row.charged, row.cost) == (True, True, NO_COST)
        assert charged_usage([row]) == USED
        terms = Terms(markup=Fraction(1, 2), guardrail_pico=7_000_000)
        assert request_charge([row], terms) == Charge(total=7, input=0, output=0, guardrail=7)


def test_a_request_on_both_accounts_is_charged_for_the_gateways_part() -> None:
    own = attempt_row(replace(UNPRICED, owner="acme"), "own_key_failed", 5, USED, NOW)
    managed = attempt_row(TARGET, "served", 5, USED, NOW)
    assert request_charge([own, managed], Terms()) == Charge(total=1_053, input=93, output=960)
    usage = charged_usage([own, managed])
    assert usage is not None
    assert usage.input_tokens == 62
    nothing_reported = attempt_row(replace(TARGET, owner="acme"), "own_key_failed", 5, None, NOW)
    assert (nothing_reported.own_key, nothing_reported.charged, nothing_reported.cost) == (True, False, None)


def test_usage_of_several_attempts_is_summed_member_by_member() -> None:
    other = Usage(
        input_tokens=1,
        cache_write_tokens=2,
        cache_write_5m_tokens=3,
        cache_write_1h_tokens=4,
        input_audio_tokens=5,
        input_image_tokens=6,
        output_tokens=7,
        output_audio_tokens=8,
        service_tier="flex",
        estimated=True,
        extra={"completion_tokens_details": {"accepted_prediction_tokens": 3, "text_tokens": 1}},
    )
    rows = [attempt_row(TARGET, "no_content", 1, USED, NOW), attempt_row(TARGET, "served", 1, other, NOW)]
    assert charged_usage(rows) == Usage(
        input_tokens=32,
        cached_tokens=1,
        cache_write_tokens=2,
        cache_write_5m_tokens=3,
        cache_write_1h_tokens=4,
        input_audio_tokens=5,
        input_image_tokens=6,
        output_tokens=71,
        reasoning_tokens=4,
        output_audio_tokens=8,
        service_tier="flex",
        estimated=True,
        extra={"completion_tokens_details": {"accepted_prediction_tokens": 5, "text_tokens": 1}},
    )
    assert charged_usage(rows[:1]) == USED


def test_reasoning_that_no_host_told_stays_unknown() -> None:
    rows = [attempt_row(TARGET, "served", 1, Usage(output_tokens=1), NOW)] * 2
    usage = charged_usage(rows)
    assert usage is not None
    assert usage.reasoning_tokens is None


def test_terms_are_the_organisations() -> None:
    organisation = Organisation("acme", "Acme", 0, markup=Fraction(1, 20), discount=Fraction(1, 10))
    terms = Terms(markup=Fraction(1, 20), discount=Fraction(1, 10))
    assert terms_of(Workspace(organisation)) == terms
    assert terms_of(Workspace(organisation, plan=FREE_PLAN)) == replace(terms, provider_cost=False)
