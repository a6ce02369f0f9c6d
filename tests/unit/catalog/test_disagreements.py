"""Where sources differ, every word is listed; what one of them does not say is no contradiction."""

from decimal import Decimal

from functions.local.catalog.disagreements import disagreements
from functions.local.catalog.limits import longest_answer, window
from functions.local.catalog.sources.offer import Offer, PriceList, Quote, Tier


def offer(
    name: str,
    input_price: str | None = None,
    *,
    cached: str | None = None,
    tier: str | None = None,
    flex: str | None = None,
    room: int | None = None,
    answer: int | None = None,
    deprecated: str | None = None,
) -> Offer:
    quote = None
    if input_price is not None:
        base = {"input": Decimal(input_price), "output": Decimal(2)}
        if cached is not None:
            base["cached"] = Decimal(cached)
        tiers = () if tier is None else (Tier(100, {"input": Decimal(tier), "output": Decimal(2)}),)
        services = {} if flex is None else {"flex": PriceList({"input": Decimal(flex)})}
        quote = Quote(PriceList(base, tiers), services)
    return Offer(name, "2026-11-30", name, None, quote, room, answer, deprecated=deprecated)


def fields(*offers: Offer) -> dict[str, str]:
    return {each.field: each.words for each in disagreements("lab/m", "lab", offers)}


def test_both_numbers_are_listed_with_their_sources() -> None:
    (found,) = disagreements("lab/m", "lab", [offer("one", "1"), offer("two", "1.50")])
    assert str(found) == "lab/m on lab: input: 1 (one, 2026-11-30); 1.50 (two, 2026-11-30)"


def test_agreement_and_silence_are_no_disagreement() -> None:
    assert fields(offer("one", "1", cached="0.1"), offer("two", "1"), offer("three")) == {}
    assert fields(offer("one", "1")) == {}


def test_tiers_services_limits_and_ends_are_compared() -> None:
    one = offer("one", "1", tier="3", flex="0.5", room=9, answer=4, deprecated="2026-12-01")
    two = offer("two", "1", tier="4", flex="0.6", room=8, answer=5, deprecated="2027-01-01")
    assert fields(one, two).keys() == {
        *("input above 100", "flex.input", "context_tokens", "max_output_tokens", "deprecated")
    }


def test_a_tier_that_only_one_source_knows_is_told() -> None:
    assert fields(offer("one", "1", tier="3"), offer("two", "1")) == {
        "tiers": "above 100 (one, 2026-11-30); none (two, 2026-11-30)"
    }


def test_room_for_input_and_a_whole_window_are_the_same_word() -> None:
    input_only = offer("one", room=922, answer=128)
    whole = offer("two", room=1050)
    assert fields(input_only, whole) == {}
    assert window([input_only, whole]) == 1050


def test_the_window_is_what_most_say_else_what_the_first_says() -> None:
    assert window([offer("one", room=1000), offer("two", room=200), offer("three", room=200)]) == 200
    assert window([offer("one", room=1000), offer("two", room=200)]) == 1000
    assert window([offer("one")]) is None


def test_the_longest_answer_is_what_the_first_says_that_knows() -> None:
    assert longest_answer([offer("one"), offer("two", answer=5), offer("three", answer=9)]) == 5
    assert longest_answer([]) is None
