"""The stack may do what it does, on what it owns, and nothing else."""

import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.store.dynamodb_items import BY_LEASE, BY_ORG
from infra.scripts.stage import LEFT_OUT
from infra.scripts.trim import SERVICES
from tests.architecture.source import parse, python_files, references
from tests.support.stack import Stack, both_branches, strings

TABLE = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${ConfigTableName}"
SECRET = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${ProviderSecretName}-??????"
KMS_KEY = "arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:key/${SealingKeyId}"
READ_ITEMS = {"dynamodb:GetItem", "dynamodb:BatchGetItem"}
READ = READ_ITEMS | {"dynamodb:Query"}

# Only where there is an operator.
MANAGE = {"dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"}

SEAL = {"kms:GenerateDataKey", "kms:Decrypt"}

# What the function may do on what: this and no more.
ALLOWED = {
    '{"Fn::GetAtt": ["GatewayLogGroup", "Arn"]}': {"logs:CreateLogStream", "logs:PutLogEvents"},
    '{"Fn::GetAtt": ["ConfigTable", "Arn"]}': READ | {"dynamodb:UpdateItem"} | MANAGE,
    json.dumps({"Fn::Sub": TABLE}): READ | {"dynamodb:UpdateItem"} | MANAGE,
    '{"Fn::GetAtt": ["LedgerTable", "Arn"]}': READ
    | {"dynamodb:PutItem", "dynamodb:BatchWriteItem", "dynamodb:UpdateItem"},
    json.dumps({"Fn::Sub": "${LedgerTable.Arn}/index/by_org"}): {"dynamodb:Query"},
    json.dumps({"Fn::Sub": SECRET}): {"secretsmanager:GetSecretValue"},
    '{"Fn::GetAtt": ["SealingKey", "Arn"]}': SEAL,
    json.dumps({"Fn::Sub": KMS_KEY}): SEAL,
}

# What the functions behind the caller's back may do.
TAKEN = '{"Fn::GetAtt": ["LedgerTable", "StreamArn"]}'
STREAMS = "${LedgerTable.Arn}/stream/*"
ROLLUP = {
    '{"Fn::GetAtt": ["RollupLogGroup", "Arn"]}': {"logs:CreateLogStream", "logs:PutLogEvents"},
    TAKEN: {"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"},
    json.dumps({"Fn::Sub": STREAMS}): {"dynamodb:ListStreams"},
    '{"Fn::GetAtt": ["LedgerTable", "Arn"]}': {"dynamodb:UpdateItem"},
    '{"Fn::GetAtt": ["RollupFailures", "Arn"]}': {"sqs:SendMessage"},
}
SWEEPER = {
    '{"Fn::GetAtt": ["SweeperLogGroup", "Arn"]}': {"logs:CreateLogStream", "logs:PutLogEvents"},
    '{"Fn::GetAtt": ["ConfigTable", "Arn"]}': READ,
    json.dumps({"Fn::Sub": TABLE}): READ,
    '{"Fn::GetAtt": ["LedgerTable", "Arn"]}': READ_ITEMS | {"dynamodb:PutItem", "dynamodb:UpdateItem"},
    json.dumps({"Fn::Sub": "${LedgerTable.Arn}/index/by_lease"}): {"dynamodb:Query"},
}

# Where a star or a question mark stands in the stack, and why nothing narrower would do.
WILDCARDS = {
    STREAMS: "a stream's ARN ends in the time when it was made, and Lambda looks for streams by their table",
    SECRET: "Secrets Manager ends the ARN in a hyphen and six characters that nobody knows before",
    "/*": "throttling of every path of the stage",
    "kms:*": "whoever administers the account administers its key too, or nobody could",
    "*": "every method of the stage; everyone, for a function URL that is asked to be public; "
    "the key itself, in its own policy; "
    "every stage of this one API, in the grant that SAM gives to API Gateway",
    "arn:aws:execute-api:${AWS::Region}:${AWS::AccountId}:${__ApiId__}/${__Stage__}/*/": (
        "every method of the path, which is what the route says"
    ),
    "arn:aws:execute-api:${AWS::Region}:${AWS::AccountId}:${__ApiId__}/${__Stage__}/*/*": (
        "every method and path, which is what the route says"
    ),
}

# boto3's word for an operation -> the right that it needs.
RIGHTS = {
    "get_item": "dynamodb:GetItem",
    "batch_get_item": "dynamodb:BatchGetItem",
    "query": "dynamodb:Query",
    "put_item": "dynamodb:PutItem",
    "update_item": "dynamodb:UpdateItem",
    "delete_item": "dynamodb:DeleteItem",
    "batch_write_item": "dynamodb:BatchWriteItem",
    "scan": "dynamodb:Scan",
    "describe_table": "dynamodb:DescribeTable",
    "generate_data_key": "kms:GenerateDataKey",
    "decrypt": "kms:Decrypt",
    "get_secret_value": "secretsmanager:GetSecretValue",
    "put_secret_value": "secretsmanager:PutSecretValue",
}


# Who lists records on AWS -> the index that is read. The gateway sweeps only where it goes on between requests.
QUERIES = {"GatewayRole": {BY_ORG}, "SweeperRole": {BY_LEASE}, "RollupRole": set()}


def statements(role: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for policy in both_branches(role["Properties"].get("Policies", [])):
        yield from policy["PolicyDocument"]["Statement"]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    ("name", "allowed"), [("GatewayRole", ALLOWED), ("RollupRole", ROLLUP), ("SweeperRole", SWEEPER)]
)
def test_a_function_may_do_this_and_no_more(stack: Stack, name: str, allowed: dict[str, set[str]]) -> None:
    role = stack.of_type("AWS::IAM::Role")[name]
    found: dict[str, set[str]] = {}
    for statement in statements(role):
        assert statement["Effect"] == "Allow"
        assert set(statement) == {"Effect", "Action", "Resource"}
        for resource in both_branches(as_list(statement["Resource"])):
            actions = found.setdefault(json.dumps(resource), set())
            actions |= set(as_list(statement["Action"]))
    assert found == allowed
    assert "ManagedPolicyArns" not in role["Properties"]


def test_only_with_an_operator_may_it_write_what_organisations_set_up(source: Stack) -> None:
    policies = source.template["Resources"]["GatewayRole"]["Properties"]["Policies"]
    conditional = [policy["Fn::If"] for policy in policies if "Fn::If" in policy]
    (found,) = [policy for condition, policy, _ in conditional if condition == "HasOperatorKey"]
    (statement,) = found["PolicyDocument"]["Statement"]
    assert set(statement["Action"]) == MANAGE
    unconditional = [policy for policy in policies if "Fn::If" not in policy]
    assert not any("DeleteItem" in text for text in strings(unconditional))


def test_every_function_has_a_role_written_here(stack: Stack) -> None:
    """Otherwise SAM makes one that may write every log of the account."""
    roles = set(stack.of_type("AWS::IAM::Role"))
    assert roles == {"GatewayRole", "RollupRole", "SweeperRole", "ApiGatewayLogWriter"}
    for name, function in stack.of_type("AWS::Lambda::Function").items():
        assert function["Properties"]["Role"] == {"Fn::GetAtt": [name.replace("Function", "Role"), "Arn"]}


def test_a_role_is_taken_by_one_service_only(stack: Stack) -> None:
    takers = {
        name: [
            (taken["Action"], taken["Principal"])
            for taken in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        ]
        for name, role in stack.of_type("AWS::IAM::Role").items()
    }
    assert takers == {
        "GatewayRole": [("sts:AssumeRole", {"Service": "lambda.amazonaws.com"})],
        "RollupRole": [("sts:AssumeRole", {"Service": "lambda.amazonaws.com"})],
        "SweeperRole": [("sts:AssumeRole", {"Service": "lambda.amazonaws.com"})],
        "ApiGatewayLogWriter": [("sts:AssumeRole", {"Service": "apigateway.amazonaws.com"})],
    }


def test_the_accounts_log_role_has_aws_own_policy_for_it(stack: Stack) -> None:
    writer = stack.of_type("AWS::IAM::Role")["ApiGatewayLogWriter"]["Properties"]
    assert "Policies" not in writer
    (policy,) = writer["ManagedPolicyArns"]
    assert policy["Fn::Sub"].endswith("/service-role/AmazonAPIGatewayPushToCloudWatchLogs")


def test_every_wildcard_has_a_reason(stack: Stack) -> None:
    found = {
        text
        for resource in stack.template["Resources"].values()
        for text in strings({key: resource[key] for key in resource if key != "Metadata"})
        if ("*" in text or "?" in text) and " " not in text
    }
    assert found == WILDCARDS.keys()


def test_nobody_may_call_a_function_but_the_api_a_public_url_and_a_clock(stack: Stack) -> None:
    grants = stack.of_type("AWS::Lambda::Permission").values()
    open_to_all = [grant for grant in grants if grant["Properties"]["Principal"] == "*"]
    assert all(grant["Condition"] == "HasPublicFunctionUrl" for grant in open_to_all)
    assert any(grant["Properties"].get("InvokedViaFunctionUrl") for grant in open_to_all)
    for grant in grants:
        if grant["Properties"]["FunctionName"] == {"Ref": "SweeperFunction"}:
            assert grant["Properties"]["Principal"] == "events.amazonaws.com"
            assert grant["Properties"]["SourceArn"]["Fn::GetAtt"][0] in stack.of_type("AWS::Events::Rule")
        elif grant not in open_to_all:
            assert grant["Properties"]["Principal"] == "apigateway.amazonaws.com"
            assert grant["Properties"]["SourceArn"]["Fn::Sub"][1]["__ApiId__"] == {"Ref": "GatewayApi"}


def packaged_files() -> list[str]:
    files = python_files("core", "functions")
    return [path for path in files if not path.startswith(tuple(f"{out}/" for out in LEFT_OUT))]


def test_the_code_calls_nothing_that_the_role_may_not() -> None:
    allowed = set().union(*ALLOWED.values())
    missing = {
        f"{path}:{found.line} {found.name}: {right}"
        for path in packaged_files()
        for found in references(parse(path))
        if (right := RIGHTS.get(found.name.rpartition(".")[2])) and "." in found.name
        if found.call is not None and right not in allowed
        if not path.startswith(("core/catalog/", "core/routing/"))  # a catalog's own scan is no table's
    }
    assert missing == set()


@pytest.mark.parametrize("name", QUERIES)
def test_an_index_may_be_queried_only_by_who_lists_its_records(stack: Stack, name: str) -> None:
    role = json.dumps(stack.of_type("AWS::IAM::Role")[name])
    assert {index for index in (BY_ORG, BY_LEASE) if f"${{LedgerTable.Arn}}/index/{index}" in role} == QUERIES[name]


def test_the_code_makes_no_client_of_a_service_that_is_not_packed() -> None:
    missing = set()
    for path in packaged_files():
        for found in references(parse(path)):
            match found.call:
                case ast.Call(args=[ast.Constant(value=str(service)), *_]):
                    if found.name.endswith((".client", ".resource")) and service not in SERVICES:
                        missing.add(f"{path}:{found.line} {service}")
                case _:
                    pass
    assert missing == set()


@pytest.mark.parametrize("service", sorted({action.split(":")[0] for action in READ}))
def test_a_service_that_the_role_names_is_packed(service: str) -> None:
    assert service in SERVICES
