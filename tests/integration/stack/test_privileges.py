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
READ_ITEMS = {"dynamodb:GetItem", "dynamodb:BatchGetItem"}
READ = READ_ITEMS | {"dynamodb:Query"}

# What the function may do on what: this and no more.
ALLOWED = {
    '{"Fn::GetAtt": ["GatewayLogGroup", "Arn"]}': {"logs:CreateLogStream", "logs:PutLogEvents"},
    '{"Fn::GetAtt": ["ConfigTable", "Arn"]}': READ,
    json.dumps({"Fn::Sub": TABLE}): READ,
    '{"Fn::GetAtt": ["LedgerTable", "Arn"]}': READ_ITEMS
    | {"dynamodb:PutItem", "dynamodb:BatchWriteItem", "dynamodb:UpdateItem"},
    json.dumps({"Fn::Sub": "${LedgerTable.Arn}/index/by_org"}): {"dynamodb:Query"},
    json.dumps({"Fn::Sub": SECRET}): {"secretsmanager:GetSecretValue"},
}

# Where a star or a question mark stands in the stack, and why nothing narrower would do.
WILDCARDS = {
    SECRET: "Secrets Manager ends the ARN in a hyphen and six characters that nobody knows before",
    "/*": "throttling of every path of the stage",
    "*": "every method of the stage; everyone, for a function URL that is asked to be public; "
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
    "get_secret_value": "secretsmanager:GetSecretValue",
    "put_secret_value": "secretsmanager:PutSecretValue",
}


# Method of the ledger that lists records -> the index that it reads.
QUERIES = {"records": BY_ORG, "overdue": BY_LEASE}


def statements(role: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for policy in both_branches(role["Properties"].get("Policies", [])):
        yield from policy["PolicyDocument"]["Statement"]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_the_function_may_do_this_and_no_more(stack: Stack) -> None:
    role = stack.of_type("AWS::IAM::Role")["GatewayRole"]
    found: dict[str, set[str]] = {}
    for statement in statements(role):
        assert statement["Effect"] == "Allow"
        assert set(statement) == {"Effect", "Action", "Resource"}
        for resource in both_branches(as_list(statement["Resource"])):
            actions = found.setdefault(json.dumps(resource), set())
            actions |= set(as_list(statement["Action"]))
    assert found == ALLOWED
    assert "ManagedPolicyArns" not in role["Properties"]


def test_every_function_has_a_role_written_here(stack: Stack) -> None:
    """Otherwise SAM makes one that may write every log of the account."""
    roles = set(stack.of_type("AWS::IAM::Role"))
    assert roles == {"GatewayRole", "ApiGatewayLogWriter"}
    for function in stack.of_type("AWS::Lambda::Function").values():
        assert function["Properties"]["Role"] == {"Fn::GetAtt": ["GatewayRole", "Arn"]}


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


def test_nobody_may_call_the_function_but_the_api_and_a_public_url(stack: Stack) -> None:
    grants = stack.of_type("AWS::Lambda::Permission").values()
    open_to_all = [grant for grant in grants if grant["Properties"]["Principal"] == "*"]
    assert all(grant["Condition"] == "HasPublicFunctionUrl" for grant in open_to_all)
    assert any(grant["Properties"].get("InvokedViaFunctionUrl") for grant in open_to_all)
    for grant in grants:
        if grant not in open_to_all:
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


def test_an_index_may_be_queried_exactly_where_a_request_needs_it(stack: Stack) -> None:
    called = {
        found.name.rpartition(".")[2]
        for path in packaged_files()
        if not path.startswith("core/store/")
        for found in references(parse(path))
        if found.call is not None and "." in found.name
    }
    role = json.dumps(stack.of_type("AWS::IAM::Role")["GatewayRole"])
    for method, index in QUERIES.items():
        assert (f"${{LedgerTable.Arn}}/index/{index}" in role) is (method in called), index


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
