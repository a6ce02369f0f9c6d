"""The stack may do what it does, on what it owns, and nothing else."""

import ast
import json

import pytest

from core.store.dynamodb_items import BY_LEASE, BY_ORG
from infra.scripts.stage import LEFT_OUT
from infra.scripts.trim import SERVICES
from tests.architecture.source import parse, python_files, references
from tests.support.stack import Stack, Transformed, granted, statements, strings

TABLE = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${ConfigTableName}"
SECRET = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${ProviderSecretName}-??????"
KMS_KEY = "arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:key/${SealingKeyId}"
ENCRYPTION = json.dumps({"Fn::Sub": KMS_KEY.replace("SealingKeyId", "EncryptionKeyId")})
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
    ENCRYPTION: {"kms:Decrypt"},
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
    ENCRYPTION: {"kms:Decrypt"},
}
SWEEPER = {
    '{"Fn::GetAtt": ["SweeperLogGroup", "Arn"]}': {"logs:CreateLogStream", "logs:PutLogEvents"},
    '{"Fn::GetAtt": ["ConfigTable", "Arn"]}': {"dynamodb:GetItem", "dynamodb:Query"},
    json.dumps({"Fn::Sub": TABLE}): {"dynamodb:GetItem", "dynamodb:Query"},
    '{"Fn::GetAtt": ["LedgerTable", "Arn"]}': READ_ITEMS | {"dynamodb:PutItem", "dynamodb:UpdateItem"},
    json.dumps({"Fn::Sub": "${LedgerTable.Arn}/index/by_lease"}): {"dynamodb:Query"},
    '{"Fn::GetAtt": ["SweeperFailures", "Arn"]}': {"sqs:SendMessage"},
    ENCRYPTION: {"kms:Decrypt"},
}

# What CodeDeploy may do: move this one alias, and look at the two alarms that take a deployment back.
MOVE = {"lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"}
ALARM = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:${AWS::StackName}"
DEPLOYMENT = {
    '{"Fn::GetAtt": ["GatewayFunction", "Arn"]}': MOVE,
    '{"Fn::Sub": "${GatewayFunction.Arn}:live"}': MOVE,
    json.dumps({"Fn::Sub": f"{ALARM}-function-errors"}): {"cloudwatch:DescribeAlarms"},
    json.dumps({"Fn::Sub": f"{ALARM}-gateway-faults"}): {"cloudwatch:DescribeAlarms"},
}

# Where a star or a question mark stands in the stack, and why nothing narrower would do.
WILDCARDS = {
    STREAMS: "a stream's ARN ends in the time when it was made, and Lambda looks for streams by their table",
    SECRET: "Secrets Manager ends the ARN in a hyphen and six characters that nobody knows before",
    "/*": "throttling of every path of the stage",
    "execute-api:/*": "every stage, method and path of this one API, for those whom the policy lets in",
    "kms:*": "whoever administers the account administers its key too, or nobody could",
    "*": "every method of the stage; everyone, for a function URL that is asked to be public, and for the API, "
    "whose callers are known by the gateway's own keys; "
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


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("GatewayRole", ALLOWED), ("RollupRole", ROLLUP), ("SweeperRole", SWEEPER), ("DeploymentRole", DEPLOYMENT)],
)
def test_a_function_may_do_this_and_no_more(stack: Stack, name: str, allowed: dict[str, set[str]]) -> None:
    role = stack.of_type("AWS::IAM::Role")[name]
    for statement in statements(role):
        assert statement["Effect"] == "Allow"
        assert set(statement) - {"Condition"} == {"Effect", "Action", "Resource"}
    assert granted(role) == allowed
    assert "ManagedPolicyArns" not in role["Properties"]


def test_a_key_that_encrypts_tables_is_used_through_them_alone(stack: Stack) -> None:
    for name in ("GatewayRole", "RollupRole", "SweeperRole"):
        conditional = [each for each in statements(stack.of_type("AWS::IAM::Role")[name]) if "Condition" in each]
        (found,) = conditional
        assert json.dumps(found["Resource"]) == ENCRYPTION
        through = {"Fn::Sub": "dynamodb.${AWS::Region}.amazonaws.com"}
        assert found["Condition"] == {"StringEquals": {"kms:ViaService": through}}


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
    assert roles == {"GatewayRole", "RollupRole", "SweeperRole", "DeploymentRole", "ApiGatewayLogWriter"}
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
        "DeploymentRole": [("sts:AssumeRole", {"Service": "codedeploy.amazonaws.com"})],
        "ApiGatewayLogWriter": [("sts:AssumeRole", {"Service": "apigateway.amazonaws.com"})],
    }


def test_the_accounts_log_role_has_aws_own_policy_for_it(stack: Stack) -> None:
    writer = stack.of_type("AWS::IAM::Role")["ApiGatewayLogWriter"]["Properties"]
    assert "Policies" not in writer
    (policy,) = writer["ManagedPolicyArns"]
    assert policy["Fn::Sub"].endswith("/service-role/AmazonAPIGatewayPushToCloudWatchLogs")


def test_every_wildcard_has_a_reason(stacks: Transformed) -> None:
    found = {
        text
        for template in (stacks.stacks[0], *stacks.others.values())
        for resource in template.template["Resources"].values()
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


def test_nested_stacks_give_nobody_any_right(stacks: Transformed) -> None:
    for path, template in stacks.others.items():
        kinds = {resource["Type"] for resource in template.template["Resources"].values()}
        assert not [kind for kind in kinds if kind.startswith("AWS::IAM::")], path


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
