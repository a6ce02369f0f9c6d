"""The usage object: canonical tokens, the ledger's own number, and parts that add up."""

from decimal import Decimal

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openai.types import CompletionUsage

from core.accounts.keys import make_key
from core.chat import Json, Usage
from core.money import Charge
from core.surfaces.openai_chat import usage_object

MICROS = st.integers(0, 50) | st.integers(0, 10**4) | st.integers(0, 10**8)


def test_everything_there_is_to_say() -> None:
    usage = Usage(
        input_tokens=100,
        cached_tokens=40,
        cache_write_tokens=1,
        cache_write_5m_tokens=2,
        cache_write_1h_tokens=3,
        input_audio_tokens=5,
        input_image_tokens=6,
        output_tokens=20,
        reasoning_tokens=7,
        output_audio_tokens=8,
        estimated=True,
        extra={
            "prompt_tokens_details": {"text_tokens": 30},
            "completion_tokens_details": {"accepted_prediction_tokens": 4},
        },
    )
    made = usage_object(
        usage,
        Charge(total=33, input=10, output=15, guardrail=5, request=3),
        latency_ms=1_200,
        ttft_ms=80,
        truncated="max_tokens",
        dropped_params=["user", "seed", "user", f"x.{make_key(bytes(range(64)))}.y"],
        structured_output_repair="fence",
    )
    assert made == {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {
            "text_tokens": 30,
            "cached_tokens": 40,
            "cache_write_tokens": 6,
            "audio_tokens": 5,
            "image_tokens": 6,
        },
        "completion_tokens_details": {"accepted_prediction_tokens": 4, "reasoning_tokens": 7, "audio_tokens": 8},
        "cost_micros": 33,
        "cost": 0.000033,
        "cost_details": {
            "input_cost": 0.00001,
            "output_cost": 0.000015,
            "request_cost": 0.000003,
            "guardrail_cost": 0.000005,
            "total_cost": 0.000033,
        },
        "latency_ms": 1_200,
        "ttft_ms": 80,
        "truncated": "max_tokens",
        "dropped_params": ["seed", "user", "x.hr_....y"],
        "structured_output_repair": "fence",
        "estimated": True,
    }
    CompletionUsage.model_validate(made)


@pytest.mark.parametrize("usage", [None, Usage(), Usage(reasoning_tokens=None)])
def test_details_are_always_there_and_what_is_not_known_is_null(usage: Usage | None) -> None:
    assert usage_object(usage, None, latency_ms=3) == {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        "cost_micros": None,
        "cost": None,
        "cost_details": None,
        "latency_ms": 3,
        "pricing_unknown": True,
    }


def costs(made: Json) -> list[float]:
    """The parts in their order, and the total."""
    return [*orjson.loads(orjson.dumps(made))["cost_details"].values()]


@given(MICROS, MICROS, st.just(0) | MICROS, st.just(0) | MICROS)
@example(33, 64, 0, 0)  # whose nearest floats do not add up
def test_dollars_are_whole_micro_dollars_in_their_digits_and_the_parts_add_up(
    read: int, written: int, guardrail: int, request: int
) -> None:
    charge = Charge(read + written + guardrail + request, read, written, guardrail, request)
    made = usage_object(None, charge, latency_ms=0)
    shown = [Decimal(repr(cost)) * 1_000_000 for cost in (*costs(made), made["cost"])]
    fee = [request] if request else []
    assert shown == [read, written, *fee, guardrail, charge.total, charge.total]
    assert sum(shown[:-2]) == made["cost_micros"]


def test_parts_that_are_nothing_are_not_made_into_something() -> None:
    assert costs(usage_object(None, Charge(5, 0, 0), latency_ms=0)) == [0, 0, 0, 0.000005]
