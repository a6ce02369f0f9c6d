"""Which policy a request gets, and what it is told when it gets none."""

from dataclasses import replace

import pytest

from core.accounts.policies import policy_for
from core.decision import BUILT_IN_POLICY, Objective, Policy
from core.errors import Unprocessable
from core.workspace import Workspace
from tests.contracts.values import key, organisation

CHEAP = Policy(name="cheap", optimize=Objective.COST)
SPACE = Workspace(organisation("acme"), policies={"default": BUILT_IN_POLICY, "cheap": CHEAP})


def test_the_first_that_the_key_names_is_its_default() -> None:
    assert policy_for(SPACE, key(1), None) is BUILT_IN_POLICY
    assert policy_for(SPACE, replace(key(1), policies=("cheap", "default")), None) is CHEAP
    assert policy_for(SPACE, replace(key(1), policies=("default", "cheap")), "cheap") is CHEAP


@pytest.mark.parametrize(
    ("policies", "asked", "told", "param"),
    [
        (("default",), "cheap", "may not use the policy 'cheap'. It may use: default.", "routing.policy"),
        (("gone", "cheap"), "gone", "may not use the policy 'gone'. It may use: cheap.", "routing.policy"),
        (("gone",), "cheap", "It may use none that is there.", "routing.policy"),
        (("gone", "cheap"), None, "'gone', is not there any more. Name another in 'routing.policy': cheap.", None),
        (("gone",), None, "'gone', is not there any more. The operator must make it again", None),
        ((), None, "This key may use no policy.", None),
    ],
)
def test_a_policy_that_cannot_be_had_is_told(
    policies: tuple[str, ...], asked: str | None, told: str, param: str | None
) -> None:
    with pytest.raises(Unprocessable) as refused:
        policy_for(SPACE, replace(key(1), policies=policies), asked)
    assert (refused.value.code, refused.value.param) == ("policy_violation", param)
    assert told in refused.value.message
