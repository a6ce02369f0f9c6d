"""What the documents say of routing is what the catalog, the weights and the held-out prompts come to."""

import pytest

from bench.routing import picks, tradeoff
from core.decision import Objective


def test_the_table_and_the_picture_are_what_their_script_makes() -> None:
    made, page = tradeoff.made(), tradeoff.PAGE.read_text("utf-8")
    assert tradeoff.page_with(made.table(), page) == page, "run `make routing-docs`"
    assert tradeoff.PICTURE.read_text("utf-8") == made.picture(), "run `make routing-docs`"
    assert f"({tradeoff.PICTURE.name})" in page


@pytest.mark.slow
def test_each_objective_is_worth_what_it_costs() -> None:
    made = tradeoff.made()
    cost, balanced, quality = (
        made.objectives[each] for each in (Objective.COST, Objective.BALANCED, Objective.QUALITY)
    )
    assert cost.dollars <= balanced.dollars <= quality.dollars
    assert cost.quality <= balanced.quality <= quality.quality
    # No single model does better than choosing for the same objective.
    assert cost.dollars <= made.models[made.cheapest].dollars
    assert quality.quality >= made.models[made.best].quality
    assert not any(
        each.dollars <= balanced.dollars and each.quality >= balanced.quality for each in made.models.values()
    )


@pytest.mark.slow
def test_small_rewordings_leave_nine_of_ten_picks() -> None:
    assert picks.share(picks.unchanged(Objective.BALANCED)) >= 0.9
