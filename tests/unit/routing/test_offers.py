"""What organisations can choose from: one offer for all who say nothing, and few others at a time."""

from dataclasses import replace

import pytest

from core.catalog.errors import CatalogError
from core.catalog.loader import Catalog
from core.errors import InternalError
from core.routing.offers import Offers, make_offers
from core.tenant import OwnKey
from core.workspace import Workspace
from tests.contracts.values import NOW_MS, organisation
from tests.support.routing import make_catalog, make_host, make_model

PLAIN = Workspace(organisation("acme"))
OWN_KEY = OwnKey("acme", "other", "", "last", NOW_MS)


class Loads:
    """Makes a catalog for each call, and notes them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, frozenset[str]]] = []

    def __call__(self, toml: str | None, more: frozenset[str]) -> Catalog:
        self.asked.append((toml, more))
        if toml == "wrong":
            raise CatalogError("catalog:1: wrong")
        return make_catalog(make_model(f"m{len(self.asked)}"))


@pytest.fixture
def loads() -> Loads:
    return Loads()


@pytest.fixture
def offers(loads: Loads) -> Offers:
    both = make_catalog(make_model("a", [make_host("lab"), make_host("other")]))
    return Offers(both, loads, lambda vendor: vendor.name == "lab", lambda target: "alike", most=2)


def test_who_says_nothing_shares_one_offer_at_no_cost(offers: Offers, loads: Loads) -> None:
    assert offers.of(PLAIN) is offers.of(Workspace(organisation("beta"))) is offers.common
    known = replace(PLAIN, own_keys={"lab": replace(OWN_KEY, vendor="lab"), "gone": replace(OWN_KEY, vendor="gone")})
    assert offers.of(known) is offers.common
    assert loads.asked == []


def test_the_same_words_are_read_once(offers: Offers, loads: Loads) -> None:
    first = offers.of(replace(PLAIN, catalog="x"))
    assert offers.of(Workspace(organisation("beta"), catalog="x")) is first
    assert loads.asked == [("x", frozenset())]
    assert offers.of(replace(PLAIN, catalog="y")) is not first
    assert first.index is first.index


def test_an_own_key_opens_a_vendor(offers: Offers, loads: Loads) -> None:
    opened = replace(PLAIN, own_keys={"other": OWN_KEY})
    assert offers.of(opened) is offers.of(opened)
    offers.of(replace(opened, catalog="x"))
    assert loads.asked == [(None, frozenset({"other"})), ("x", frozenset({"other"}))]


def test_those_asked_for_longest_ago_make_room(offers: Offers, loads: Loads) -> None:
    for toml in ("x", "y", "x", "z", "x", "y"):
        offers.of(replace(PLAIN, catalog=toml))
    assert [toml for toml, _ in loads.asked] == ["x", "y", "z", "y"]


def test_what_can_no_longer_be_read_is_the_operators_to_mend(offers: Offers) -> None:
    with pytest.raises(InternalError, match="operator"):
        offers.of(replace(PLAIN, catalog="wrong"))


MODEL = '[[models]]\nid = "a/b"\ncontext_tokens = 9\nmax_output_tokens = 9\n[[models.hosts]]\nupstream_model = "x"\n'


def test_an_organisations_file_is_checked() -> None:
    offers = make_offers([], lambda vendor: False, lambda target: "alike")
    assert len(offers.common.catalog.models) == 0
    assert offers.check(f'{MODEL}vendor = "openai"\n') == 1
    with pytest.raises(CatalogError, match=r"^catalog:7: models\[0\]\.hosts\[0\]\.vendor"):
        offers.check(f'{MODEL}vendor = "gone"\n')
    with pytest.raises(CatalogError, match=r"^catalog:1: vendors\.openai: an organisation's catalog may not"):
        offers.check('[vendors.openai]\nformat = "openai"\nbase_url = "https://elsewhere.example"\n')


def test_an_own_key_shows_the_models_behind_it() -> None:
    offers = make_offers([], lambda vendor: False, lambda target: "alike")
    found = offers.of(replace(PLAIN, own_keys={"openai": replace(OWN_KEY, vendor="openai")})).catalog
    assert {host.vendor for model in found.models for host in model.hosts} == {"openai"}
