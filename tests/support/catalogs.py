"""Catalog values by hypothesis, and where the catalog's source files lie."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st

from core.catalog.model import (
    Abilities,
    Auth,
    Format,
    Host,
    Model,
    Promises,
    Quirk,
    Score,
    StructuredOutput,
    Thinking,
    ThinkingSwitch,
    Vendor,
)
from core.catalog.schedule import PriceChange, Window
from core.money import ContextTier, Prices, Rates

SOURCES = Path(__file__).parents[3] / "shared" / "catalog"


def source_folder() -> Path:
    """The folder with the catalog's sources; tests that need it are skipped, and say so, where it is not."""
    if not SOURCES.is_dir():
        pytest.skip(f"THE CATALOG WAS NOT BUILT FROM ITS SOURCES: they are not in {SOURCES}")
    return SOURCES


_TEXT = st.text(max_size=12)
_NAMES = st.text("abcdefghijklmnopqrstuvwxyz-_.0123456789", min_size=1, max_size=8)
_MANY = st.integers(1, 10_000_000)
_DAYS = st.dates().map(str)


def _maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


_RATES = st.builds(
    Rates,
    **{
        name: (st.integers(0, 10**9) if name in ("input", "output") else _maybe(st.integers(0, 10**9)))
        for name in Rates.__dataclass_fields__
    },
)
_TIERS = st.lists(st.builds(ContextTier, _MANY, st.sampled_from([">", ">="]), _RATES), max_size=2).map(tuple)
_ASKED = {"per_request": st.integers(0, 10**15), "minimum": st.integers(0, 10**15)}
_LISTS = st.builds(Prices, base=_RATES, tiers=_TIERS, **_ASKED)
_FACTORS = st.fractions(min_value=Fraction(1, 100), max_value=10)
_PRICES = st.builds(
    Prices,
    base=_RATES,
    tiers=_TIERS,
    service_tiers=st.dictionaries(_NAMES, _FACTORS, max_size=2),
    service_prices=st.dictionaries(_NAMES, _LISTS, max_size=2),
    **_ASKED,
)
_WINDOWS = st.builds(Window, st.integers(0, 1439), st.integers(1, 1440), st.frozensets(st.integers(1, 7)))
_CHANGES = st.builds(PriceChange, _PRICES, _maybe(_DAYS), st.lists(_WINDOWS, max_size=2).map(tuple))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=2),
    max_leaves=4,
)
_HOSTS = st.builds(
    Host,
    vendor=_NAMES,
    upstream_model=_NAMES,
    prices=_maybe(_PRICES),
    context_tokens=_maybe(_MANY),
    max_output_tokens=_maybe(_MANY),
    limit_field=_maybe(st.sampled_from(["max_tokens", "max_completion_tokens"])),
    thinking_switch=st.sampled_from(ThinkingSwitch),
    thinking_visible=st.booleans(),
    longest_thinking_s=_maybe(st.floats(0.1, 1000)),
    api_version=_maybe(_TEXT),
    promises=st.builds(Promises, _maybe(_TEXT), st.booleans(), st.booleans()),
    refuses=st.frozensets(_TEXT, max_size=2),
    quirks=st.frozensets(st.sampled_from(Quirk), max_size=3),
    options=st.dictionaries(_NAMES, _JSON, max_size=2),
    price_source=_maybe(_TEXT),
    price_date=_maybe(_DAYS),
    price_changes=st.lists(_CHANGES, max_size=2).map(tuple),
    deprecated=_maybe(_DAYS),
)
_ABILITIES = st.builds(
    Abilities,
    tools=st.booleans(),
    forced_tools=st.booleans(),
    structured_output=st.sampled_from(StructuredOutput),
    thinking=st.sampled_from(Thinking),
    thinks_by_default=st.booleans(),
    efforts=st.lists(st.sampled_from(["low", "high"]), max_size=2).map(tuple),
    reasoning_tokens=_maybe(_MANY),
    choices=st.integers(1, 8),
    refuses=st.frozensets(_TEXT, max_size=2),
)

MODELS = st.builds(
    Model,
    id=_NAMES,
    name=_TEXT,
    owner=_TEXT,
    hosts=st.lists(_HOSTS, min_size=1, max_size=2).map(tuple),
    context_tokens=_MANY,
    max_output_tokens=_MANY,
    abilities=_ABILITIES,
    aliases=st.lists(_NAMES, max_size=2).map(tuple),
    released=_maybe(_DAYS),
    deprecated=_maybe(_DAYS),
    description=_TEXT,
    quality=st.dictionaries(_NAMES, st.builds(Score, st.floats(0, 1), _TEXT, _DAYS), max_size=2),
    first_token_ms=_maybe(_MANY),
    tokens_per_second=_maybe(st.floats(0.1, 1000)),
)
"""Any model, whether or not it makes sense."""

VENDORS = st.builds(
    Vendor,
    name=_NAMES,
    format=st.sampled_from(Format),
    base_url=_TEXT,
    auth=st.sampled_from(Auth),
    key_env=_maybe(_TEXT),
    region=_maybe(_TEXT),
    headers=st.dictionaries(_NAMES, _TEXT, max_size=2),
    renames=st.dictionaries(_NAMES, _TEXT, max_size=2),
    values=st.dictionaries(_NAMES, st.dictionaries(_NAMES, _TEXT, max_size=2), max_size=2),
    refuses=st.frozensets(_TEXT, max_size=2),
    quirks=st.frozensets(st.sampled_from(Quirk), max_size=3),
    drains=st.booleans(),
)
"""Any vendor."""
