"""A target is its model where the host says nothing of its own."""

from dataclasses import replace

import pytest

from core.catalog.model import Abilities, Quirk
from tests.support.targets import make_target, make_vendor


def test_a_host_may_be_narrower_or_wider_than_its_model() -> None:
    plain = make_target(context_tokens=100, max_output_tokens=10)
    assert (plain.context_tokens, plain.max_output_tokens) == (100, 10)
    own = replace(plain, host=replace(plain.host, context_tokens=200, max_output_tokens=5))
    assert (own.context_tokens, own.max_output_tokens) == (200, 5)


def test_a_quirk_may_be_the_vendors_or_the_hosts() -> None:
    vendor = make_vendor(quirks=frozenset({Quirk.FLAT_TEXT}))
    target = make_target(vendor=vendor, quirks=frozenset({Quirk.THINK_TAGS}))
    assert target.has(Quirk.FLAT_TEXT)
    assert target.has(Quirk.THINK_TAGS)
    assert not target.has(Quirk.SINGLE_SYSTEM)


@pytest.mark.parametrize("field", ["stop", "seed", "n"])
def test_a_field_may_be_refused_by_model_host_or_vendor(field: str) -> None:
    target = make_target(
        vendor=make_vendor(refuses=frozenset({"n"})),
        abilities=Abilities(refuses=frozenset({"stop"})),
        refuses=frozenset({"seed"}),
    )
    assert target.refuses(field)
    assert not target.refuses("user")


def test_a_target_is_named_for_operators() -> None:
    assert make_target("m-1", vendor=make_vendor("lab")).name == "lab/m-1"
