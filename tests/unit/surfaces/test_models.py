"""The list of models: OpenAI's shape, and what a caller chooses by."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import orjson
import pytest
from openai.types import Model as OpenAiModel

from core.catalog.model import Abilities, Host, Model, Score, StructuredOutput, Thinking
from core.money import PICO_PER_MICRO, ContextTier, Prices, Rates, pico_per_token
from core.surfaces.models import model_list, model_object


def usd(amount: str) -> int:
    return pico_per_token(Decimal(amount))


CHEAP = Prices(
    Rates(usd("1.25"), usd("10"), cached=usd("0.125")),
    (ContextTier(200_000, ">", Rates(usd("2.5"), usd("15"))),),
    {"flex": Fraction(1, 2)},
    minimum=2_500 * PICO_PER_MICRO,
    per_request=5 * PICO_PER_MICRO,
)
DEAR = Prices(Rates(usd("3"), usd("12")))
MODEL = Model(
    id="lab/small:free",
    name="Small",
    owner="lab",
    hosts=(Host("shop", "secret-name", prices=DEAR), Host("lab", "secret-name", prices=CHEAP), Host("dark", "x")),
    context_tokens=128_000,
    max_output_tokens=8_192,
    abilities=Abilities(
        tools=True,
        vision=True,
        documents=True,
        audio_input=True,
        audio_output=True,
        structured_output=StructuredOutput.VERIFIED,
        thinking=Thinking.OPTIONAL,
        efforts=("low", "high"),
        choices=4,
    ),
    aliases=("small-latest",),
    released="2026-01-15",
    deprecated="2027-01-01",
    description="A small one.",
    quality={"code": Score(0.7, "board", "2026-11-01")},
)


def test_a_model_in_full() -> None:
    made = model_object(MODEL, lambda model: ("temperature", "tools"))
    assert made == {
        "id": "lab/small:free",
        "object": "model",
        "created": 1_768_435_200,
        "owned_by": "lab",
        "name": "Small",
        "description": "A small one.",
        "aliases": ["small-latest"],
        "context_tokens": 128_000,
        "max_output_tokens": 8_192,
        "modalities": {"input": ["text", "image", "file", "audio"], "output": ["text", "audio"]},
        "prices": {
            "input": 1.25,
            "output": 10.0,
            "cached": 0.125,
            "per_request": 0.000005,
            "minimum": 0.0025,
            "tiers": [{"input_tokens": "> 200000", "input": 2.5, "output": 15.0}],
        },
        "abilities": {
            "tools": True,
            "parallel_tools": False,
            "forced_tools": True,
            "vision": True,
            "documents": True,
            "audio_input": True,
            "audio_output": True,
            "json_mode": False,
            "structured_output": "verified",
            "thinking": "optional",
            "reasoning_efforts": ["low", "high"],
            "choices": 4,
        },
        "quality": {"code": {"value": 0.7, "basis": "measured", "source": "board", "date": "2026-11-01"}},
        "supported_parameters": ["temperature", "tools"],
        "deprecated": "2027-01-01",
    }
    OpenAiModel.model_validate(made)


def test_hosts_are_never_named() -> None:
    assert b"secret-name" not in model_list([MODEL])


def test_a_plain_model_of_unknown_price_and_date() -> None:
    plain = Model("a", "A", "lab", (Host("lab", "x"),), 8_192, 1_024)
    made = model_object(plain)
    assert made["prices"] is None
    assert made["created"] == 0
    assert made["modalities"] == {"input": ["text"], "output": ["text"]}
    assert made["abilities"]["forced_tools"] is False
    assert not {"supported_parameters", "deprecated"} & set(made)


@pytest.mark.parametrize("released", ["2026", "soon", "2026-13-01"])
def test_a_release_that_is_no_date(released: str) -> None:
    assert model_object(replace(MODEL, released=released))["created"] == 0


def test_a_list() -> None:
    two = [MODEL, replace(MODEL, id="b")]
    assert orjson.loads(model_list(two)) == {"object": "list", "data": [*map(model_object, two)]}
    assert orjson.loads(model_list([])) == {"object": "list", "data": []}
