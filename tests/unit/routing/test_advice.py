"""What may be changed where nobody is left: the commonest reasons first, a routing object only where there is one."""

import pytest

from core.routing.advice import advice, sentence
from core.routing.sieves import CODES

WITHOUT_ADVICE = {"deprecated", "unhealthy"}


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"no_vision": 9}, "Leave out the images."),
        ({"no_vision": 2, "context_too_small": 3, "cost_cap": 1}, "Shorten the prompt, or leave out the images."),
        ({"quality_unknown": 1, "min_quality": 2, "cost_cap": 1}, "Lower min_quality, or ask for fewer tokens"),
        ({"deprecated": 9, "no_tools": 1}, "Leave out the tools."),
        ({"policy": 4, "region": 3, "no_audio": 1}, "Have the policy of the key widened, or leave out the sound."),
    ],
)
def test_the_commonest_reasons_are_answered_each_once(counts: dict[str, int], said: str) -> None:
    assert sentence(advice(counts, is_narrowed=False)).startswith(said)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("is_narrowed", [True, False])
def test_every_reason_has_advice_but_those_that_a_caller_cannot_change(code: str, is_narrowed: bool) -> None:
    said = advice({code: 1}, is_narrowed=is_narrowed)
    assert (not said) == (code in WITHOUT_ADVICE)
    assert ("routing object" in "".join(said)) == (is_narrowed and code in {"policy", "region", "data_promises"})
