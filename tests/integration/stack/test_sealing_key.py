"""The key that seals: kept for ever, turned by AWS, used by the gateway alone."""

from typing import Any

from tests.support.stack import Stack


def test_the_key_outlives_the_stack_and_is_rotated(stack: Stack) -> None:
    key = stack.only("AWS::KMS::Key")
    assert (key["DeletionPolicy"], key["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert key["Properties"]["EnableKeyRotation"] is True
    # A second region opens what the first one sealed, since they share the table of own keys.
    assert key["Properties"]["MultiRegion"] is True


def test_the_function_knows_it_by_an_alias_that_stands_for_either_key(stack: Stack) -> None:
    alias = stack.only("AWS::KMS::Alias")
    assert alias["Condition"] == "Seals"
    assert alias["Properties"]["TargetKeyId"] == {
        "Fn::If": ["MakesSealingKey", {"Ref": "SealingKey"}, {"Ref": "SealingKeyId"}]
    }


def test_without_sealing_there_is_no_key_and_no_right_to_one(source: Stack) -> None:
    conditions: dict[str, Any] = source.template["Conditions"]
    assert conditions["Seals"] == {"Fn::Equals": [{"Ref": "Sealing"}, "on"]}
    assert {"Fn::Equals": [{"Ref": "Sealing"}, "on"]} in conditions["MakesSealingKey"]["Fn::And"]
    policies = source.template["Resources"]["GatewayRole"]["Properties"]["Policies"]
    (right,) = [policy["Fn::If"] for policy in policies if "kms:Decrypt" in str(policy)]
    assert right[0] == "Seals"
