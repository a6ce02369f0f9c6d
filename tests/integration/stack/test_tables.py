"""What callers paid for outlives the stack, mistakes and the region's worst day."""

import pytest

from core.store.dynamodb_items import BY_LEASE, BY_ORG
from tests.support.ministack import LEDGER_INDEXES
from tests.support.stack import Stack

TABLES = ["ConfigTable", "LedgerTable"]


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
