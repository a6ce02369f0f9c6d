"""Whether and how hard a model is asked to think: the tables of the wire reference, sections 7.2 and 7.3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Abilities, Thinking
from core.chat import ChatRequest
from core.providers.thinking import EFFORTS, ThinkingWish, wish
from tests.support.targets import make_target


def resolve(
    ability: Thinking,
    *,
    extended: bool | None = None,
    effort: str | None = None,
    efforts: tuple[str, ...] = (),
) -> ThinkingWish:
    request = ChatRequest("lab/m", (), {}, extended_thinking=extended, reasoning_effort=effort)
    return wish(request, make_target(abilities=Abilities(thinking=ability, efforts=efforts)))


@pytest.mark.parametrize(
    ("ability", "extended", "effort", "expected"),
    [
        (Thinking.NONE, True, "high", ThinkingWish()),
        (Thinking.OPTIONAL, None, None, ThinkingWish()),
        (Thinking.OPTIONAL, True, None, ThinkingWish("on")),
        (Thinking.OPTIONAL, True, "none", ThinkingWish("on")),
        (Thinking.OPTIONAL, None, "low", ThinkingWish("on", "low")),
        (Thinking.OPTIONAL, False, "high", ThinkingWish("off")),
        (Thinking.OPTIONAL, None, "none", ThinkingWish("off")),
        (Thinking.ALWAYS, None, None, ThinkingWish()),
        (Thinking.ALWAYS, False, None, ThinkingWish(ignored=True)),
        (Thinking.ALWAYS, None, "none", ThinkingWish(ignored=True)),
        (Thinking.ALWAYS, None, "high", ThinkingWish("on", "high")),
    ],
)
def test_what_is_asked_of_a_model(
    ability: Thinking, extended: bool | None, effort: str | None, expected: ThinkingWish
) -> None:
    assert resolve(ability, extended=extended, effort=effort) == expected


@pytest.mark.parametrize(
    ("efforts", "asked", "given_level"),
    [
        (("low", "high", "max"), "minimal", "low"),
        (("low", "high", "max"), "medium", "high"),
        (("low", "high", "max"), "xhigh", "high"),
        (("low", "medium", "high"), "max", "high"),
        (("low", "medium", "high", "max"), "xhigh", "high"),
    ],
)
def test_levels_that_a_model_lacks_become_the_nearest(efforts: tuple[str, ...], asked: str, given_level: str) -> None:
    resolved = resolve(Thinking.OPTIONAL, effort=asked, efforts=efforts)
    assert (resolved.effort, resolved.clamped) == (given_level, True)


@given(st.sampled_from(EFFORTS[1:]), st.sets(st.sampled_from(EFFORTS[1:]), min_size=1))
def test_the_level_is_always_one_of_the_models_own(asked: str, levels: set[str]) -> None:
    efforts = tuple(sorted(levels, key=EFFORTS.index))
    resolved = resolve(Thinking.ALWAYS, effort=asked, efforts=efforts)
    assert resolved.effort in efforts
    assert resolved.clamped is (asked not in efforts)
