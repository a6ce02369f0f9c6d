"""The list of models as schemas."""

from dataclasses import fields
from typing import Final

from core.catalog.model import StructuredOutput, Thinking
from core.money import Rates
from functions.gateway.openapi.shapes import (
    Schema,
    array,
    flag,
    mapping,
    nullable,
    number,
    record,
    ref,
    text,
    whole,
    words,
)

_RATES: Final = tuple(each.name for each in fields(Rates))
_SAID: Final = ("input", "output")


def model_schemas() -> dict[str, Schema]:
    """The components that describe models."""
    return {
        "ModelList": record(
            {"object": words("list"), "data": array(ref("Model"))}, ("object", "data"), "Models, in catalog order."
        ),
        "Model": _model(),
        "Quality": record(
            {
                "value": nullable(number("0 to 1; null while there are too few scores.", low=0, high=1)),
                "basis": words(
                    *("measured", "opinions", "unknown"),
                    about="What it rests on: the catalog's score, or what callers of the key's organisation said.",
                ),
                "source": text("Where the catalog's score comes from."),
                "date": text("When that was read."),
                "measured": number("The catalog's score, where the callers' scores moved it.", low=0, high=1),
                "scores": whole("How many scores callers gave.", low=1),
            },
            ("value", "basis"),
        ),
        "Prices": record(
            {
                **_rates(),
                "per_request": number("What every request costs beside its tokens, in US dollars.", low=0),
                "minimum": number("The least that a request costs, in US dollars.", low=0),
                "tiers": array(ref("PriceTier"), "Other prices for long prompts."),
            },
            (*_SAID, "tiers"),
            "US dollars per million tokens, at the cheapest host. Classes without a price of their own are left out.",
        ),
        "PriceTier": record(
            {"input_tokens": text("From which prompt on.", pattern="^>=? [0-9]+$"), **_rates()},
            ("input_tokens", *_SAID),
        ),
    }


def _rates() -> dict[str, Schema]:
    return {name: number(low=0) for name in _RATES}


def _model() -> Schema:
    always = {
        "id": text("What to send as `model`."),
        "object": words("model"),
        "created": whole("When it was released, in Unix seconds; 0 when the day is not known."),
        "owned_by": text("Who made it."),
        "name": text(),
        "description": text(),
        "aliases": array(text(), "Other names that can be sent."),
        "context_tokens": whole("The most tokens of prompt and answer together.", low=1),
        "max_output_tokens": whole("The most tokens of an answer.", low=1),
        "modalities": record(
            {
                "input": array(words("text", "image", "file", "audio")),
                "output": array(words("text", "audio")),
            },
            ("input", "output"),
        ),
        "prices": nullable(ref("Prices", "Null while no price is known.")),
        "abilities": _abilities(),
        "supported_parameters": array(text(), "The fields of a request that it takes in some form."),
        "quality": mapping(ref("Quality"), "What is expected of it, by task."),
    }
    deprecated = text("The day from which on it may be gone.")
    return record({**always, "deprecated": deprecated}, list(always), "A model, what it can do and what it costs.")


def _abilities() -> Schema:
    able = {
        "tools": flag("Calls tools."),
        "parallel_tools": flag("Calls several in one turn."),
        "forced_tools": flag("Can be made to call one."),
        "vision": flag("Sees images."),
        "documents": flag("Reads files."),
        "audio_input": flag("Hears."),
        "audio_output": flag("Speaks."),
        "json_mode": flag("Can be held to JSON."),
        "structured_output": words(*(state.value for state in StructuredOutput), about="Can be held to a schema."),
        "thinking": words(*(state.value for state in Thinking), about="Whether it thinks before it answers."),
        "reasoning_efforts": array(text(), "Values of `reasoning_effort` that it takes."),
        "choices": whole("The largest `n`.", low=1),
    }
    return record(able, list(able))
