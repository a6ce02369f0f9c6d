"""What organisations set up, as other versions wrote it: what is missing is as by default, the unknown is let be."""

from core.decision import DataRules, Objective, Policy
from core.store.schema import key_item, key_value, organisation_item, organisation_value
from core.store.schema_setup import own_key_value, plan_value, policy_item, policy_value
from core.tenant import Limits, OwnKey, Plan, Scope
from tests.contracts.values import key, organisation


def test_the_least_is_enough() -> None:
    assert policy_value({"name": "x"}) == Policy(name="x")
    assert policy_value({"name": "x", "data": {}}) == Policy(name="x")
    assert plan_value({"id": "x", "name": "X"}) == Plan("x", "X")
    least = {"org": "a", "vendor": "v", "sealed": "s", "hint": "h", "created_ms": 1}
    assert own_key_value(least) == OwnKey("a", "v", "s", "h", 1)


def test_what_a_newer_version_wrote_is_read_as_far_as_it_is_known() -> None:
    newer = policy_item(Policy(name="x", data=DataRules(regions=("eu",)))) | {"speed": 9}
    newer["allow_optimize"] = ["cost", "carbon"]
    assert policy_value(newer) == Policy(name="x", data=DataRules(regions=("eu",)), allow_optimize=(Objective.COST,))
    assert key_value(key_item(key(1)) | {"scopes": ["usage", "billing"]}).scopes == (Scope.USAGE,)
    assert organisation_value(organisation_item(organisation("acme")) | {"limits": {"week": 1}}).limits == Limits()


def test_what_was_written_does_not_follow_later_defaults() -> None:
    item = policy_item(Policy(name="x"))
    assert {"first_token_ms", "deadline_ms", "max_attempts", "sticky", "own_keys", "allow_optimize"} <= item.keys()
