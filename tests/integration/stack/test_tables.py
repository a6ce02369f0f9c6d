"""What callers paid for outlives the stack, mistakes and the region's worst day."""

import pytest

from core.store.dynamodb_items import BY_LEASE, BY_ORG
from tests.support.ministack import LEDGER_INDEXES
from tests.support.stack import Stack, both_branches

TABLES = ["ConfigTable", "LedgerTable"]
FUSE = {"MaxReadRequestUnits": {"Ref": "TableReadUnits"}, "MaxWriteRequestUnits": {"Ref": "TableWriteUnits"}}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_kept_and_can_be_restored(stack: Stack, name: str) -> None:
    table = stack.of_type("AWS::DynamoDB::Table")[name]
    assert table["DeletionPolicy"] == "Retain"
    assert table["UpdateReplacePolicy"] == "Retain"
    properties = table["Properties"]
    assert properties["DeletionProtectionEnabled"] is True
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_costs_nothing_at_rest(stack: Stack, name: str) -> None:
    properties = stack.of_type("AWS::DynamoDB::Table")[name]["Properties"]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert "ProvisionedThroughput" not in properties


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_spending_fuse_and_so_has_each_index(stack: Stack, name: str) -> None:
    properties = stack.of_type("AWS::DynamoDB::Table")[name]["Properties"]
    assert properties["OnDemandThroughput"] == FUSE
    # An index does not share the fuse of its table.
    assert all(index["OnDemandThroughput"] == FUSE for index in properties.get("GlobalSecondaryIndexes", []))


def test_tables_and_logs_are_encrypted_with_the_operators_key_where_there_is_one(stack: Stack) -> None:
    none = {"Ref": "AWS::NoValue"}
    for table in stack.of_type("AWS::DynamoDB::Table").values():
        condition, encrypted, plain = table["Properties"]["SSESpecification"]["Fn::If"]
        assert (condition, plain) == ("HasEncryptionKey", none)
        assert encrypted == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "EncryptionKeyId"}}
    for log in stack.of_type("AWS::Logs::LogGroup").values():
        condition, key, plain = log["Properties"]["KmsKeyId"]["Fn::If"]
        assert (condition, plain) == ("HasEncryptionKey", none)
        assert key["Fn::Sub"].endswith(":key/${EncryptionKeyId}")


def test_the_table_that_regions_share_is_the_table_of_one_region_replicated(stack: Stack, data: Stack) -> None:
    alone = stack.of_type("AWS::DynamoDB::Table")["ConfigTable"]
    shared = data.only("AWS::DynamoDB::GlobalTable")
    assert (shared["DeletionPolicy"], shared["UpdateReplacePolicy"]) == ("Retain", "Retain")
    same = ("BillingMode", "AttributeDefinitions", "KeySchema", "TimeToLiveSpecification")
    assert [shared["Properties"][each] for each in same] == [alone["Properties"][each] for each in same]
    assert shared["Properties"]["WriteOnDemandThroughputSettings"].keys() == {"MaxWriteRequestUnits"}
    assert "TableName" not in shared["Properties"]
    replicas = [*both_branches(shared["Properties"]["Replicas"])]
    regions = [{"Ref": name} for name in ("AWS::Region", "SecondRegion", "ThirdRegion")]
    assert [replica.pop("Region") for replica in replicas] == regions
    assert all(replica == replicas[0] for replica in replicas)
    assert replicas[0]["DeletionProtectionEnabled"] is True
    assert replicas[0]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_what_the_shared_stack_tells_is_what_the_regions_stacks_take(source: Stack, data: Stack) -> None:
    outputs, parameters = data.template["Outputs"], source.template["Parameters"]
    assert {"ConfigTableName", "SealingKeyId"} <= outputs.keys() & parameters.keys()
    assert data.template["Parameters"]["Sealing"]["Default"] == parameters["Sealing"]["Default"]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_keys_and_the_expiry_of_the_store(stack: Stack, name: str) -> None:
    properties = stack.of_type("AWS::DynamoDB::Table")[name]["Properties"]
    assert properties["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    types = {item["AttributeName"]: item["AttributeType"] for item in properties["AttributeDefinitions"]}
    assert (types["pk"], types["sk"]) == ("S", "S")
    assert properties["TimeToLiveSpecification"] == {
        "AttributeName": "expires_at",
        "Enabled": True,
    }


def test_there_are_these_tables_and_no_others(stack: Stack) -> None:
    assert list(stack.of_type("AWS::DynamoDB::Table")) == TABLES


def test_a_table_has_no_name_that_a_new_stack_would_collide_with(stack: Stack) -> None:
    kept = [item for item in stack.template["Resources"].values() if "DeletionPolicy" in item]
    names = {key for item in kept for key in item["Properties"] if key.endswith("Name")}
    # Of the version: the function that it is of.
    assert names <= {"FunctionName"}


def test_the_ledger_has_the_indexes_of_the_store(stack: Stack) -> None:
    properties = stack.of_type("AWS::DynamoDB::Table")["LedgerTable"]["Properties"]
    types = {item["AttributeName"]: item["AttributeType"] for item in properties["AttributeDefinitions"]}
    indexes = {}
    for index in properties["GlobalSecondaryIndexes"]:
        partition, sort = (key["AttributeName"] for key in index["KeySchema"])
        assert [key["KeyType"] for key in index["KeySchema"]] == ["HASH", "RANGE"]
        keys = ((partition, types[partition]), (sort, types[sort]))
        assert index.keys() == {"IndexName", "KeySchema", "Projection", "OnDemandThroughput"}
        indexes[index["IndexName"]] = (keys, index["Projection"])
    times = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["created_ms", "settled_ms"]}
    assert indexes == {
        BY_ORG: ((("org_shard", "S"), ("request_id", "S")), {"ProjectionType": "KEYS_ONLY"}),
        BY_LEASE: ((("open_shard", "S"), ("lease_until_ms", "N")), times),
    }
    assert [index["Projection"] for index in LEDGER_INDEXES] == [found[1] for found in indexes.values()]


def test_the_ledger_has_a_stream_for_reports(stack: Stack) -> None:
    ledger = stack.of_type("AWS::DynamoDB::Table")["LedgerTable"]["Properties"]
    assert ledger["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_the_log_that_may_hold_unsettled_charges_is_kept(stack: Stack) -> None:
    logs = stack.of_type("AWS::Logs::LogGroup")
    assert logs["GatewayLogGroup"]["DeletionPolicy"] == "Retain"
    for log in logs.values():
        assert log["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    function = stack.gateway()["Properties"]
    assert function["LoggingConfig"]["LogGroup"] == {"Ref": "GatewayLogGroup"}
