"""Hundreds of entries of the price sources, read by the catalog tool: the same list gives the same price as the oracle,
and wherever our price differs from the oracle's, the sources' lists do, in what is written down here.

`price_differences.txt` lists every such entry with the reason; a difference that comes, goes or changes fails.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from genai_prices import Usage as OracleUsage
from genai_prices import calc_price
from genai_prices.data import providers

from core.catalog.file import parse_catalog
from core.catalog.loader import load_catalog
from core.catalog.model import Host
from core.chat import Usage
from core.money import price
from functions.local.catalog.disagreements import disagreements
from functions.local.catalog.pricing import change_tables, price_table
from functions.local.catalog.rules import VendorRule, read_rules
from functions.local.catalog.sources.genai import GenaiPrices
from functions.local.catalog.sources.litellm import LiteLlm
from functions.local.catalog.sources.offer import Offer
from functions.local.catalog.writer import write_toml

FOLDER = Path(__file__).parents[4] / "shared" / "catalog"
LISTED = Path(__file__).with_name("price_differences.txt")
LITELLM = "litellm_prices_1.110.2.json.gz"
# Of prices by hours of the day the tool reads the dearest from the oracle: this is such an hour.
AT = datetime(2026, 11, 10, 2, tzinfo=UTC)
DAY = AT.date().isoformat()

# Keys of the price map that are just the model's name belong to whom the entry says.
BY_NAME = {
    "openai": {"openai"},
    "anthropic": {"anthropic"},
    "vertex": {"vertex_ai-language-models"},
    "bedrock-us-east-1": {"bedrock", "bedrock_converse"},
}
SAME_NAMES = {"bedrock-eu-central-1", "bedrock-openai-us-east-1"}  # as in us-east-1
ORACLE = {provider.id: provider for provider in providers}

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"THE PRICE SOURCES WERE NOT COMPARED: they are not in {FOLDER}"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What both sources say of one vendor's offer of a model, and what the tool makes of each."""

    vendor: str
    upstream_model: str
    offers: tuple[Offer, Offer]
    ours: Host
    theirs: Host

    @property
    def name(self) -> str:
        return f"{self.vendor} {self.upstream_model}"


def found_in(entries: Mapping[str, Any], rules: Mapping[str, VendorRule]) -> Iterator[tuple[str, str]]:
    """Names that both know and the catalog does not have."""
    shipped = {(host.vendor, host.upstream_model) for model in load_catalog().models for host in model.hosts}
    for vendor, rule in rules.items():
        for pattern in rule.litellm if rule.genai is not None and vendor not in SAME_NAMES else ():
            shape = re.compile(re.escape(pattern).replace(re.escape("{}"), "(.+)"))
            for key, entry in entries.items():
                match = shape.fullmatch(key)
                is_chat = entry.get("mode") in ("chat", "responses")
                is_theirs = pattern != "{}" or ("/" not in key and entry.get("litellm_provider") in BY_NAME[vendor])
                if match and is_chat and is_theirs and (vendor, match[1]) not in shipped:
                    yield vendor, match[1]


def host_of(entry: tuple[str, str], offer: Offer, rule: VendorRule) -> dict[str, Any]:
    prices = price_table(offer, rule)
    changes = change_tables(offer, prices.get("service_tiers", {}))
    table = {"vendor": entry[0], "upstream_model": entry[1], "prices": prices, "price_changes": changes}
    return {name: value for name, value in table.items() if value}


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    rules = read_rules()
    listed = json.loads(gzip.decompress((FOLDER / LITELLM).read_bytes()))
    sources = LiteLlm(FOLDER / LITELLM, "litellm", DAY, rules), GenaiPrices(DAY, rules)
    offers: dict[tuple[str, str], tuple[Offer, Offer]] = {}
    for name in sorted(set(found_in(listed, rules))):
        one, other = (source.find(*name) for source in sources)
        if one is not None and other is not None and one.quote is not None and other.quote is not None:
            offers[name] = (one, other)
    tables = [
        {
            **{"id": f"{source}/{number}", "context_tokens": 10**7, "max_output_tokens": 10**6},
            "hosts": [host_of(name, offer, rules[name[0]])],
        }
        for number, (name, both) in enumerate(offers.items())
        for source, offer in zip(("ours", "theirs"), both, strict=True)
    ]
    _, models = parse_catalog(write_toml({"models": tables}), "made here")
    hosts = [model.hosts[0] for model in models]
    return [
        Entry(*name, both, *pair)
        for (name, both), pair in zip(offers.items(), zip(hosts[::2], hosts[1::2], strict=True), strict=True)
    ]


def random_usage(dice: random.Random) -> Usage:
    """Anything from nothing to a million tokens, often at the edge of a tier."""
    edges = [edge + step for edge in (100_000, 128_000, 200_000, 256_000, 272_000, 512_000) for step in (-1, 0, 1)]
    total = dice.choice([dice.randrange(2_000), dice.randrange(200_000), dice.choice(edges), dice.randrange(10**6)])
    cached = dice.randrange(total + 1) if dice.random() < 0.6 else 0
    written = dice.randrange(total - cached + 1) if dice.random() < 0.3 else 0
    return Usage(total, cached_tokens=cached, cache_write_tokens=written, output_tokens=dice.randrange(20_000))


def charged(host: Host, usage: Usage) -> Fraction:
    prices = host.prices_at(AT.timestamp())
    assert prices is not None
    return price(usage, prices).total / 10**12


def oracle(entry: Entry, usage: Usage, rules: Mapping[str, VendorRule]) -> Fraction:
    asked = OracleUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
        output_tokens=usage.output_tokens,
    )
    provider = rules[entry.vendor].genai
    found = calc_price(asked, entry.upstream_model, provider_id=provider, genai_request_timestamp=AT)
    return Fraction(found.total_price)


def usages(entry: Entry, count: int) -> list[Usage]:
    dice = random.Random(entry.name)
    return [random_usage(dice) for _ in range(count)]


def test_there_are_hundreds_more_than_the_catalog_has(entries: list[Entry]) -> None:
    assert len(entries) >= 300
    assert len({entry.vendor for entry in entries}) >= 10


def test_the_same_list_gives_the_same_price(entries: list[Entry]) -> None:
    """No exceptions: the arithmetic is ours, the numbers are the oracle's own."""
    rules = read_rules()
    differ = {
        entry.name: (usage, float(charged(entry.theirs, usage)), float(oracle(entry, usage, rules)))
        for entry in entries
        for usage in usages(entry, 10)
        if charged(entry.theirs, usage) != oracle(entry, usage, rules)
    }
    assert differ == {}


def test_no_vendor_of_ours_asks_anything_for_a_request_itself() -> None:
    """So that nothing is lost where the tool reads only what tokens cost."""
    listed = json.loads(gzip.decompress((FOLDER / LITELLM).read_bytes()))
    assert {entry["litellm_provider"] for entry in listed.values() if entry.get("input_cost_per_request")} == {
        "perplexity"
    }
    asking = {
        rule.genai
        for rule in read_rules().values()
        if rule.genai is not None
        for model in ORACLE[rule.genai].models
        if "requests_kcount=" in repr(model.prices)
    }
    assert asking == set()


def test_every_difference_is_listed_with_its_reason(entries: list[Entry]) -> None:
    rules = read_rules()
    differ = [
        entry
        for entry in entries
        if any(charged(entry.ours, usage) != oracle(entry, usage, rules) for usage in usages(entry, 20))
    ]
    lines = [f"{entry.name}: {reason(entry)}" for entry in differ]
    assert len(entries) - len(differ) >= 250
    assert "\n".join(lines) + "\n" == LISTED.read_text("utf-8")


def reason(entry: Entry) -> str:
    """In what the two lists differ."""
    stated = [
        f"{each.field} is {' and '.join(number for *_, number in each.said)}"
        for each in disagreements(entry.name, entry.vendor, entry.offers)
        if not each.field.startswith(("context", "max_output", "deprecated", "flex", "priority"))
    ]
    one, other = map(stated_classes, entry.offers)
    silent = [f"{name} is stated by {'us' if name in one else 'the oracle'} alone" for name in sorted(one ^ other)]
    found = [*stated, *silent]
    assert found, f"{entry.name}: the lists are alike, so the prices must be"
    return "; ".join(found)


def stated_classes(offer: Offer) -> set[str]:
    """Classes of token that have a price of their own, and those that larger requests alone have one for."""
    assert offer.quote is not None
    listed = offer.quote.standard
    base = {name for name in ("cached", "cache_write") if name in listed.rates}
    larger = {name for tier in listed.tiers for name in ("cached", "cache_write") if name in tier.rates}
    return base | {f"{name} of larger requests" for name in larger - base}
