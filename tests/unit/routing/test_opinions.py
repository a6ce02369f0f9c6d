"""What callers said, laid over the scores of an index."""

from core.decision import Preferences
from core.routing.auto import plan_auto
from core.routing.bits import places
from core.routing.opinions import OpinionIndexes, with_opinions
from core.routing.quality import qualities
from core.workspace import Opinion
from tests.support.routing import CODE, make_host, make_index, make_model, make_wanted, ranked

INDEX = make_index(
    make_model("good", quality=0.8),
    make_model("fair", [make_host("lab"), make_host("shop")], quality=0.7),
    make_model("new", quality=None),
    make_model("maths", quality={"math": 0.9}),
)
PRAISED = Opinion(80, 80_000)
SCORNED = Opinion(80, 0)


def test_scores_move_the_quality_and_with_it_the_order() -> None:
    before = plan_auto(INDEX, make_wanted(preferences=Preferences()))[1]
    assert ranked(before)[0] == "good"
    index = with_opinions(INDEX, {("good", "code"): SCORNED, ("fair", "code"): PRAISED})
    _, after = plan_auto(index, make_wanted())
    assert ranked(after)[0] == "fair"
    found = qualities(index, CODE)
    assert [round(value, 2) for value in found.values((0, 1, 2)).values()] == [0.16, 0.94, 0.94]


def test_a_model_that_nobody_measured_ranks_with_the_others_once_enough_have_spoken() -> None:
    few = with_opinions(INDEX, {("new", "code"): Opinion(9, 9_000)})
    assert few.scored == INDEX.scored
    enough = with_opinions(INDEX, {("new", "code"): Opinion(30, 30_000)})
    assert [*places(enough.scored["code"])] == [0, 1, 2, 3]
    alternatives = plan_auto(enough, make_wanted())[1].alternatives
    assert (alternatives[0].model, round(alternatives[0].quality or 0, 2)) == ("new", 0.97)


def test_a_task_that_was_never_measured_can_be_known_by_scores_alone() -> None:
    index = with_opinions(INDEX, {("new", "roleplay"): PRAISED})
    assert [*places(index.scored["roleplay"])] == [3]
    assert set(index.scored) == {"code", "math", "roleplay"}


def test_a_model_without_scores_for_a_task_stands_at_the_lowest_that_is_known() -> None:
    index = with_opinions(INDEX, {("good", "code"): SCORNED})
    assert [index.scores["code"].values[row] for row in (0, 3, 4)] == [1_600, 1_600, 1_600]


def test_other_tasks_and_models_that_are_gone_are_left_alone() -> None:
    index = with_opinions(INDEX, {("good", "code"): PRAISED, ("gone", "code"): PRAISED})
    assert index.scores["math"] is INDEX.scores["math"]
    assert index.scores["code"].values[1] == INDEX.scores["code"].values[1]
    assert with_opinions(INDEX, {("gone", "code"): PRAISED}) == INDEX


def test_an_organisation_that_said_nothing_has_the_index_itself() -> None:
    assert OpinionIndexes().of("acme", INDEX, {}) is INDEX


def test_it_is_laid_out_once_until_something_changes() -> None:
    laid = OpinionIndexes()
    said = {("good", "code"): PRAISED}
    first = laid.of("acme", INDEX, said)
    assert laid.of("acme", INDEX, dict(said)) is first
    assert laid.of("other", INDEX, said) is not first
    assert laid.of("acme", INDEX, {("good", "code"): SCORNED}) is not first
    again = laid.of("acme", INDEX, said)
    assert again is not first
    other = make_index(make_model("good", quality=0.8))
    assert laid.of("acme", other, said).size == 1


def test_the_organisations_that_were_not_seen_for_longest_go_first() -> None:
    laid = OpinionIndexes(most=2)
    said = {("good", "code"): PRAISED}
    first, second = laid.of("a", INDEX, said), laid.of("b", INDEX, said)
    assert laid.of("a", INDEX, said) is first
    laid.of("c", INDEX, said)
    assert laid.of("a", INDEX, said) is first
    assert laid.of("b", INDEX, said) is not second
