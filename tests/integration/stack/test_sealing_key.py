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
    given = {"Fn::If": ["MakesSealingReplica", {"Ref": "SealingReplica"}, {"Ref": "SealingKeyId"}]}
    assert alias["Properties"]["TargetKeyId"] == {"Fn::If": ["MakesSealingKey", {"Ref": "SealingKey"}, given]}


def test_another_region_makes_the_replica_of_the_shared_key_itself(stack: Stack, data: Stack) -> None:
    replica = stack.only("AWS::KMS::ReplicaKey")
    assert (replica["Condition"], replica["DeletionPolicy"]) == ("MakesSealingReplica", "Retain")
    # The replica of a multi-region key has its id, so that the role's right holds for it.
    assert replica["Properties"]["PrimaryKeyArn"]["Fn::Sub"].endswith(
        "kms:${SealingKeyRegion}:${AWS::AccountId}:key/${SealingKeyId}"
    )
    shared, own = data.only("AWS::KMS::Key"), stack.only("AWS::KMS::Key")
    assert shared["Properties"].items() >= {"EnableKeyRotation": True, "MultiRegion": True}.items()
    assert shared["Properties"]["KeyPolicy"] == own["Properties"]["KeyPolicy"] == replica["Properties"]["KeyPolicy"]
    assert (shared["DeletionPolicy"], shared["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_without_sealing_there_is_no_key_and_no_right_to_one(source: Stack) -> None:
    conditions: dict[str, Any] = source.template["Conditions"]
    assert conditions["Seals"] == {"Fn::Equals": [{"Ref": "Sealing"}, "on"]}
    assert {"Fn::Equals": [{"Ref": "Sealing"}, "on"]} in conditions["MakesSealingKey"]["Fn::And"]
    policies = source.template["Resources"]["GatewayRole"]["Properties"]["Policies"]
    (right,) = [policy["Fn::If"] for policy in policies if "kms:GenerateDataKey" in str(policy)]
    assert right[0] == "Seals"
