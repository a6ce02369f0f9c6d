"""Each source's own words, in files as small as they can be, become one form."""

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.evaluations import LIVEBENCH_TASKS, LiveBench, LmArena
from functions.local.catalog.sources.genai import GenaiPrices
from functions.local.catalog.sources.litellm import LiteLlm
from functions.local.catalog.sources.modelsdev import ModelsDev
from functions.local.catalog.sources.offer import Change, Offer, PriceList, Tier

RULES = {
    "lab": VendorRule(litellm=("lab/{}", "{}"), modelsdev="lab", genai="openai"),
    "begins-at": VendorRule(litellm=("lab/{}",), modelsdev="lab", at_threshold=True),
    "native": VendorRule(litellm=("lab/{}",), needs_native_schema=True),
    "unknown": VendorRule(),
    "google": VendorRule(genai="google"),
    "deepseek": VendorRule(genai="deepseek"),
}


def pack(path: Path, content: object) -> Path:
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return path


def usd(**prices: str) -> dict[str, Decimal]:
    return {name: Decimal(value) for name, value in prices.items()}


def litellm(tmp_path: Path, vendor: str = "lab", /, **entry: Any) -> Offer | None:
    plain = {"mode": "chat", "litellm_provider": "lab", **entry}
    source = LiteLlm(pack(tmp_path / "p.gz", {"lab/m": plain}), "litellm 1", "2026-11-30", RULES)
    return source.find(vendor, "m")


def found(offer: Offer | None) -> Offer:
    assert offer is not None
    return offer


def test_litellm_prices_are_per_million_exactly(tmp_path: Path) -> None:
    offer = found(
        litellm(
            tmp_path,
            input_cost_per_token=2e-06,
            output_cost_per_token=1e-05,
            cache_read_input_token_cost=2.8e-09,
            cache_creation_input_token_cost=2.5e-06,
            cache_creation_input_token_cost_above_1hr=4e-06,
            input_cost_per_token_above_272k_tokens=4e-06,
            cache_creation_input_token_cost_above_1hr_above_272k_tokens=8e-06,
            input_cost_per_token_flex=1e-06,
            output_cost_per_token_flex=5e-06,
            input_cost_per_token_above_272k_tokens_flex=2e-06,
            input_cost_per_token_batches=1e-06,
            cache_creation_input_token_cost_above_12hr=9e-06,
            source="https://lab.example/pricing",
            max_input_tokens=100,
            max_output_tokens=10,
            deprecation_date="2027-01-01",
        )
    )
    base = usd(input="2", output="10", cached="0.0028", cache_write="2.5", cache_write_1h="4")
    assert offer.quote is not None
    assert offer.quote.standard == PriceList(base, (Tier(272_000, base | usd(input="4", cache_write_1h="8")),))
    assert offer.quote.services == {
        "flex": PriceList(usd(input="1", output="5"), (Tier(272_000, usd(input="2", output="5")),))
    }
    assert (offer.source, offer.date, offer.key) == ("litellm 1", "2026-11-30", "lab/m")
    assert (offer.url, offer.context_tokens, offer.max_output_tokens) == ("https://lab.example/pricing", 100, 10)
    assert offer.deprecated == "2027-01-01"


def test_a_tier_that_begins_at_its_threshold(tmp_path: Path) -> None:
    prices = {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
    offer = found(litellm(tmp_path, "begins-at", **prices, input_cost_per_token_above_200k_tokens=3e-06))
    assert offer.quote is not None
    assert [tier.above for tier in offer.quote.standard.tiers] == [199_999]


def test_zero_and_absent_prices_are_unknown(tmp_path: Path) -> None:
    free = found(litellm(tmp_path, input_cost_per_token=0.0, output_cost_per_token=0))
    assert free.quote is None
    assert free.zeros == ("input", "output")
    assert found(litellm(tmp_path)).quote is None
    half = found(litellm(tmp_path, input_cost_per_token=1e-06))
    assert (half.quote, half.zeros) == (None, ())


def test_stepped_prices_are_tiers(tmp_path: Path) -> None:
    steps = [
        {"input_cost_per_token": 5e-08, "output_cost_per_token": 4e-07, "range": [0, 256000.0]},
        {"input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06, "range": [256000.0, 1000000.0]},
    ]
    offer = found(litellm(tmp_path, tiered_pricing=steps))
    assert offer.quote is not None
    assert offer.quote.standard == PriceList(
        usd(input="0.05", output="0.4"), (Tier(256_000, usd(input="0.25", output="2")),)
    )


def test_hours_of_the_day_are_a_change(tmp_path: Path) -> None:
    cheaper = {
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
        "windows": [
            {"hours_utc": ["00:00-01:00", "10:00-00:00"], "weekdays": [1, 2]},
            {"hours_utc": "00:00-00:00", "weekdays": [6, 7]},
        ],
    }
    prices = {"input_cost_per_token": 2e-06, "output_cost_per_token": 4e-06}
    offer = found(litellm(tmp_path, **prices, off_peak_pricing=cheaper))
    assert offer.quote is not None
    assert offer.quote.changes == (
        Change(
            PriceList(usd(input="1", output="2")),
            windows=(
                {"hours": ["00:00-01:00", "10:00-24:00"], "days": [1, 2]},
                {"hours": ["00:00-24:00"], "days": [6, 7]},
            ),
        ),
    )


def test_litellm_abilities_are_what_is_said_and_no_more(tmp_path: Path) -> None:
    said = {"supports_vision": True, "supports_forced_tool_use": False, "supports_pdf_input": None}
    assert found(litellm(tmp_path, **said)).states == {"vision": True, "forced_tools": False}
    silent = found(litellm(tmp_path, supports_none_reasoning_effort=False))
    assert silent.states == {"can_be_silenced": False}
    assert silent.efforts == ("low", "medium", "high")


def test_efforts(tmp_path: Path) -> None:
    assert found(litellm(tmp_path)).efforts is None
    assert found(litellm(tmp_path, reasoning_effort_levels=["low", "max"])).efforts == ("low", "max")
    flags = {"supports_none_reasoning_effort": True, "supports_xhigh_reasoning_effort": True}
    assert found(litellm(tmp_path, **flags, supports_minimal_reasoning_effort=False)).efforts == (
        *("none", "low", "medium", "high", "xhigh"),
    )


@pytest.mark.parametrize(
    ("flags", "takes"),
    [
        ({"supports_response_schema": True}, False),
        ({"supports_native_structured_output": False}, False),
        ({"supports_native_structured_output": True}, True),
        ({"supports_native_structured_output": False, "supports_bedrock_native_structured_output": True}, True),
    ],
)
def test_where_only_native_schemas_count_imitated_ones_do_not(
    tmp_path: Path, flags: dict[str, bool], takes: bool
) -> None:
    assert found(litellm(tmp_path, "native", **flags)).states["structured_output"] is takes


def test_only_chat_models_are_found_by_the_first_key_that_is_there(tmp_path: Path) -> None:
    entries = {"lab/image": {"mode": "image_generation"}, "bare": {"mode": "chat"}}
    source = LiteLlm(pack(tmp_path / "p.gz", entries), "litellm 1", "2026-11-30", RULES)
    assert source.find("lab", "image") is None
    assert source.find("lab", "missing") is None
    assert source.find("unknown", "bare") is None
    assert found(source.find("lab", "bare")).key == "bare"


def modelsdev(tmp_path: Path, offer: dict[str, Any], *models: dict[str, Any], vendor: str = "lab") -> Offer:
    providers = pack(tmp_path / "p.gz", {"lab": {"m": offer}})
    source = ModelsDev(providers, pack(tmp_path / "m.gz", list(models)), "models.dev", "2026-07-02", RULES)
    return found(source.find(vendor, "m"))


def test_modelsdev_offer(tmp_path: Path) -> None:
    offer = modelsdev(
        tmp_path,
        {
            "tool_call": True,
            "reasoning": True,
            "reasoning_options": [{"type": "toggle"}, {"type": "effort", "values": ["low", "high"]}],
            "temperature": False,
            "structured_output": True,
            "release_date": "2026-04-01",
            "cost": {
                "input": 2.0,
                "output": 10,
                "cache_read": 0,
                "tiers": [{"tier": {"size": 200000}, "input": 4.0, "output": 15.0}],
            },
            "limit": {"context": 100, "output": 0},
            "modalities": {"input": ["text", "image"], "output": ["text"]},
        },
    )
    assert offer.quote is not None
    assert offer.quote.standard == PriceList(usd(input="2", output="10"), (Tier(200_000, usd(input="4", output="15")),))
    assert offer.states == {
        **{"tools": True, "structured_output": True, "thinking": True, "sampling": False, "vision": True},
        **{"documents": False, "audio_input": False, "audio_output": False},
    }
    assert offer.efforts == ("low", "high")
    assert (offer.context_tokens, offer.max_output_tokens, offer.released) == (100, None, "2026-04-01")
    assert offer.zeros == ("cached",)


def test_modelsdev_takes_from_the_model_what_the_offer_does_not_say(tmp_path: Path) -> None:
    base = {"id": "maker/m", "tool_call": True, "reasoning": True, "limit": {"context": 9}}
    offer = modelsdev(tmp_path, {"base_model": "maker/m", "base_model_omit": ["reasoning"], "cost": {}}, base)
    assert offer.states == {"tools": True}
    assert offer.context_tokens == 9
    assert offer.quote is None
    at = modelsdev(
        tmp_path,
        {"cost": {"input": 1, "output": 2, "tiers": [{"tier": {"size": 200000}, "input": 2}]}},
        vendor="begins-at",
    )
    assert at.quote is not None
    assert [tier.above for tier in at.quote.standard.tiers] == [199_999]


def test_modelsdev_knows_only_whom_it_lists(tmp_path: Path) -> None:
    providers, models = pack(tmp_path / "p.gz", {"lab": {}}), pack(tmp_path / "m.gz", [])
    source = ModelsDev(providers, models, "models.dev", "2026-07-02", RULES)
    assert source.find("lab", "m") is None
    assert source.find("unknown", "m") is None


def test_the_package_gives_tiers_and_service_tiers() -> None:
    offer = found(GenaiPrices("2026-11-10", RULES).find("lab", "gpt-6.1-sol"))
    assert offer.quote is not None
    assert offer.quote.standard == PriceList(
        usd(input="2", cached="0.1", cache_write="2.5", output="10"),
        (Tier(272_000, usd(input="4", cached="0.2", cache_write="5", output="15")),),
    )
    assert offer.quote.services["flex"].rates["input"] == 1
    assert offer.context_tokens == 1_050_000
    assert offer.source.startswith("genai-prices ")
    assert offer.key == "openai/gpt-6.1-sol"


def test_the_package_gives_changes_from_their_day_on() -> None:
    before = found(GenaiPrices("2026-11-10", RULES).find("google", "gemini-4-argon")).quote
    assert before is not None
    assert before.standard.rates["input"] == 2
    assert [(change.since, change.listed.rates["input"]) for change in before.changes] == [("2026-12-01", Decimal(4))]
    after = found(GenaiPrices("2026-12-01", RULES).find("google", "gemini-4-argon")).quote
    assert after is not None
    assert after.standard.rates["input"] == 4
    assert after.changes == ()


def test_the_package_gives_the_price_of_the_dearest_hours() -> None:
    quote = found(GenaiPrices("2026-11-10", RULES).find("deepseek", "deepseek-v4-pro")).quote
    assert quote is not None
    assert quote.standard.rates["output"] == Decimal("3.96")


def test_the_package_knows_only_what_it_lists() -> None:
    source = GenaiPrices("2026-11-10", RULES)
    assert source.find("lab", "nobody-knows-it") is None
    assert source.find("unknown", "gpt-6.1-sol") is None


COLUMNS = sorted({column for columns in LIVEBENCH_TASKS.values() for column in columns})


def livebench(tmp_path: Path, **values: str) -> LiveBench:
    row = {column: "50" for column in COLUMNS} | values
    table = tmp_path / "t.csv"
    table.write_text(f"model,{','.join(row)}\nm-high,{','.join(row.values())}\n", encoding="utf-8")
    return LiveBench.read(table, "A bench", "2026-07")


def test_a_share_is_the_mean_of_its_tasks(tmp_path: Path) -> None:
    scores = livebench(tmp_path, summarize="73.25", javascript="20", typescript="30").scores("m-high")
    assert scores.keys() == LIVEBENCH_TASKS.keys()
    assert scores["summarization"].value == 0.733
    assert scores["tool_use"].value == 0.333
    assert scores["math"].value == 0.5
    assert (scores["math"].source, scores["math"].date) == ("A bench, as m-high", "2026-07")


def test_a_task_that_was_not_evaluated_has_no_score(tmp_path: Path) -> None:
    scores = livebench(tmp_path, python="").scores("m-high")
    assert scores.keys() == LIVEBENCH_TASKS.keys() - {"code", "tool_use"}
    with pytest.raises(KeyError):
        livebench(tmp_path).scores("m-low")


def test_a_rating_is_the_chance_against_the_best(tmp_path: Path) -> None:
    ratings = {"full": {"best": {"rating": 1500.0}, "m": {"rating": 1100.0}}, "math": {"other": {"rating": 1.0}}}
    arena = LmArena.read(pack(tmp_path / "r.gz", ratings), "An arena", "2025-12-17")
    assert arena.scores("best")["chat"].value == 1.0
    (score,) = arena.scores("m").values()
    assert (score.value, score.source, score.date) == (0.182, "An arena, as m", "2025-12-17")
    with pytest.raises(KeyError):
        arena.scores("other")
