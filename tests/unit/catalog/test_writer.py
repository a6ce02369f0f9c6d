"""TOML that is written is read as it was meant."""

import tomllib
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import ThinkingSwitch
from functions.local.catalog.writer import write_toml

SPECIAL = {"abilities", "quality", "prices", "vendors", "service_prices", "models", "hosts", "price_changes"}
KEYS = st.text(min_size=1, max_size=6).filter(lambda name: name not in SPECIAL)
SCALARS = st.booleans() | st.integers(-9, 9) | st.text(max_size=6) | st.floats(-9, 9)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
PLAIN = st.dictionaries(KEYS, VALUES, max_size=3)
PRICES = st.fixed_dictionaries(
    {}, optional={"input": st.integers(), "service_prices": st.dictionaries(KEYS, PLAIN, max_size=2)}
)
HOSTS = st.fixed_dictionaries(
    {"vendor": st.text()}, optional={"prices": PRICES, "price_changes": st.lists(PLAIN, min_size=1, max_size=2)}
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "title": st.text(),
        "vendors": st.dictionaries(KEYS, PLAIN, min_size=1, max_size=2),
        "models": st.lists(
            st.fixed_dictionaries(
                {"id": st.text()},
                optional={
                    "abilities": PLAIN,
                    "quality": st.dictionaries(KEYS, PLAIN, max_size=2),
                    "hosts": st.lists(HOSTS, min_size=1, max_size=2),
                },
            ),
            min_size=1,
            max_size=2,
        ),
    },
)


@given(DOCUMENTS)
def test_what_is_written_is_read(document: dict[str, Any]) -> None:
    assert tomllib.loads(write_toml(document)) == _without_empty_holders(document)


def _without_empty_holders(value: Any) -> Any:
    """A table that would only hold tables, and holds none, leaves no trace."""
    if isinstance(value, dict):
        kept = {name: _without_empty_holders(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if name != "service_prices" or inner}
    return [_without_empty_holders(inner) for inner in value] if isinstance(value, list) else value


def test_prices_are_written_as_they_are_and_enums_by_their_value() -> None:
    text = write_toml(
        {"price": Decimal("1E+1"), "small": Decimal("0.0028"), "switch": ThinkingSwitch.LEVEL, "few": ("a",)}
    )
    assert text == 'price = 10\nsmall = 0.0028\nswitch = "level"\nfew = ["a"]\n'


def test_it_is_laid_out_for_people() -> None:
    model = {
        "id": "lab/m",
        "abilities": {"tools": True},
        "hosts": [
            {"vendor": "lab", "prices": {"input": 1, "tiers": [{"input": 2}], "service_prices": {"flex": {"input": 3}}}}
        ],
    }
    assert write_toml({"models": [model]}, ["A comment.", ""]) == (
        "# A comment.\n#\n\n"
        '[[models]]\nid = "lab/m"\n\n'
        "[models.abilities]\ntools = true\n\n"
        '[[models.hosts]]\nvendor = "lab"\n\n'
        "[models.hosts.prices]\ninput = 1\ntiers = [{ input = 2 }]\n\n"
        "[models.hosts.prices.service_prices.flex]\ninput = 3\n"
    )
