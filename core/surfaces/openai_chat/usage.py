"""The `usage` object: tokens, what they cost and how long they took, in the shape of the contract (section 3)."""

from collections.abc import Iterable, Mapping
from typing import Final

from core.chat import Json, Usage
from core.masking import masked
from core.money import Charge, dollars

_NOTHING_USED: Final = Usage()


def usage_object(
    usage: Usage | None,
    charge: Charge | None,
    *,
    latency_ms: int,
    ttft_ms: int | None = None,
    truncated: str | None = None,
    dropped_params: Iterable[str] = (),
    structured_output_repair: str | None = None,
) -> dict[str, Json]:
    """What a request is billed for.

    Args:
        usage: Tokens of the charged attempts together; None when no host reported any.
        charge: What the ledger charges, None while a price is unknown.
        latency_ms: Wall time of the request, in milliseconds.
        ttft_ms: Time to the first token, in milliseconds, for streams.
        truncated: `max_tokens` when the answer was cut.
        dropped_params: Dotted names of fields that were accepted and not forwarded.
        structured_output_repair: How the JSON was taken out of the answer, if it was.
    """
    told = _NOTHING_USED if usage is None else usage
    made: dict[str, Json] = {
        "prompt_tokens": told.input_tokens,
        "completion_tokens": told.output_tokens,
        "total_tokens": told.total_tokens,
        "prompt_tokens_details": _input_details(told),
        "completion_tokens_details": _output_details(told),
        "cost_micros": None if charge is None else charge.total,
        "cost": None if charge is None else dollars(charge.total),
        "cost_details": None if charge is None else _cost_details(charge),
        "latency_ms": latency_ms,
    }
    dropped = sorted(set(map(masked, dropped_params)))
    said = {
        "ttft_ms": ttft_ms,
        "truncated": truncated,
        "dropped_params": dropped or None,
        "structured_output_repair": structured_output_repair,
        "estimated": told.estimated or None,
        "pricing_unknown": True if charge is None else None,
    }
    made.update({name: value for name, value in said.items() if value is not None})
    return made


def _input_details(usage: Usage) -> dict[str, Json]:
    details: dict[str, Json] = {
        "cached_tokens": usage.cached_tokens,
        "cache_write_tokens": usage.written_tokens,
        "audio_tokens": usage.input_audio_tokens,
    }
    if usage.input_image_tokens:
        details["image_tokens"] = usage.input_image_tokens
    return {**_extra(usage, "prompt_tokens_details"), **details}


def _output_details(usage: Usage) -> dict[str, Json]:
    details: dict[str, Json] = {
        "reasoning_tokens": usage.reasoning_tokens or 0,
        "audio_tokens": usage.output_audio_tokens,
    }
    return {**_extra(usage, "completion_tokens_details"), **details}


def _extra(usage: Usage, name: str) -> Mapping[str, Json]:
    details: Mapping[str, Json] = usage.extra.get(name, {})
    return details


def _cost_details(charge: Charge) -> dict[str, float]:
    parts = {"input_cost": charge.input, "output_cost": charge.output}
    if charge.request:
        parts["request_cost"] = charge.request
    parts["guardrail_cost"] = charge.guardrail
    # Each from its own integer: shown with its own digits. Floats may add up to another last bit; the integers do not.
    return {name: dollars(micros) for name, micros in {**parts, "total_cost": charge.total}.items()}
