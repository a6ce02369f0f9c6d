"""The API streams, and reaches the version of the function that was published last."""

from collections.abc import Iterator
from typing import Any

import pytest

from infra.scripts.build import RUNTIME, TASK_ROOT
from infra.scripts.stage import FOLDER, WRAPPER
from tests.support.stack import Stack, referred

ALIAS = "GatewayFunctionAliaslive"
STREAMING = (
    "arn:aws:apigateway:${AWS::Region}:lambda:path/2021-11-15/functions/${" + ALIAS + "}/response-streaming-invocations"
)

# Of the function, but not of its versions: a change holds at once.
UNVERSIONED = {"Role", "ReservedConcurrentExecutions", "Tags"}


def integrations(stack: Stack) -> Iterator[tuple[str, str, dict[str, Any]]]:
    paths = stack.only("AWS::ApiGateway::RestApi")["Properties"]["Body"]["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            yield path, method, operation["x-amazon-apigateway-integration"]


def test_every_path_and_method_streams(stack: Stack) -> None:
    routes = list(integrations(stack))
    assert {(path, method) for path, method, _ in routes} == {
        ("/", "x-amazon-apigateway-any-method"),
        ("/{proxy+}", "x-amazon-apigateway-any-method"),
    }
    for _, _, integration in routes:
        assert integration["responseTransferMode"] == "STREAM"
        assert integration["uri"] == {"Fn::Sub": STREAMING}
        assert integration["type"] == "aws_proxy"
        assert integration["timeoutInMillis"] == 900_000


def test_the_api_is_regional_and_does_nothing_that_buffers(stack: Stack) -> None:
    api = stack.only("AWS::ApiGateway::RestApi")["Properties"]
    assert api["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    assert "MinimumCompressionSize" not in api
    stage = stack.only("AWS::ApiGateway::Stage")["Properties"]
    assert stage["StageName"] == "live"
    assert "CacheClusterEnabled" not in stage


def test_the_function_is_started_by_the_wrapper(source: Stack, stack: Stack) -> None:
    function = stack.gateway()["Properties"]
    assert function["Runtime"] == "python{}.{}".format(*RUNTIME)
    assert function["Architectures"] == ["arm64"]
    assert function["PackageType"] == "Zip"
    assert function["Handler"] == "functions.gateway.buffered.handler"
    variables = function["Environment"]["Variables"]
    assert variables["AWS_LAMBDA_EXEC_WRAPPER"] == f"{TASK_ROOT}/{WRAPPER.as_posix()}"
    written = source.gateway()
    assert written["Properties"]["CodeUri"] == FOLDER.as_posix()
    assert written["Metadata"]["BuildMethod"] == "python-uv"


def test_the_alias_points_at_a_version_that_outlives_its_replacement(stack: Stack) -> None:
    ((name, version),) = stack.of_type("AWS::Lambda::Version").items()
    alias = stack.only("AWS::Lambda::Alias")["Properties"]
    assert alias["Name"] == "live"
    assert alias["FunctionVersion"] == {"Fn::GetAtt": [name, "Version"]}
    assert version["DeletionPolicy"] == "Retain"
    assert version["UpdateReplacePolicy"] == "Retain"


def test_a_changed_setting_publishes_a_new_version(source: Stack, stack: Stack) -> None:
    """SAM alone would not: the version's id does not depend on the values of parameters."""
    function = stack.gateway()["Properties"]
    versioned = {key: value for key, value in function.items() if key not in UNVERSIONED}
    conditions = source.template["Conditions"]
    parameters = set()
    for name in referred(versioned):
        parameters |= set(referred(conditions[name])) if name in conditions else {name}
    parameters &= source.template["Parameters"].keys()

    version = stack.only("AWS::Lambda::Version")["Properties"]
    assert {"MemorySize", "TimeoutSeconds", "LogLevel"} < parameters
    assert set(referred(version["Description"])) == parameters


def test_a_version_description_never_grows_too_long(source: Stack, stack: Stack) -> None:
    description = stack.only("AWS::Lambda::Version")["Properties"]["Description"]["Fn::Sub"]
    longest = description
    for name in referred({"Fn::Sub": description}):
        longest = longest.replace(f"${{{name}}}", longest_value(source.template["Parameters"][name]))
    assert "$" not in longest
    assert len(longest) <= 256


def longest_value(parameter: dict[str, Any]) -> str:
    match parameter:
        case {"AllowedValues": [*values]}:
            return max(map(str, values), key=len)
        case {"MaxValue": most}:
            return str(most)
        case {"MaxLength": length}:
            return "x" * int(length)
        case _:
            pytest.fail(f"nothing bounds the length of {parameter}")


@pytest.mark.parametrize(
    ("choice", "kinds"),
    [
        ("off", []),
        ("iam", ["AWS::Lambda::Url"]),
        ("public", ["AWS::Lambda::Url", "AWS::Lambda::Permission", "AWS::Lambda::Permission"]),
    ],
)
def test_a_function_url_is_made_only_where_it_is_asked_for(source: Stack, choice: str, kinds: list[str]) -> None:
    holds = {"HasFunctionUrl": choice != "off", "HasPublicFunctionUrl": choice == "public"}
    assert source.template["Conditions"]["HasFunctionUrl"] == {
        "Fn::Not": [{"Fn::Equals": [{"Ref": "FunctionUrl"}, "off"]}]
    }
    assert source.template["Conditions"]["HasPublicFunctionUrl"] == {"Fn::Equals": [{"Ref": "FunctionUrl"}, "public"]}
    made = [
        item["Type"] for item in source.template["Resources"].values() if holds.get(item.get("Condition", ""), False)
    ]
    assert made == kinds


def test_the_function_url_streams_from_the_alias(source: Stack) -> None:
    url = source.only("AWS::Lambda::Url")["Properties"]
    assert url["InvokeMode"] == "RESPONSE_STREAM"
    assert url["Qualifier"] == "live"
    assert url["AuthType"] == {"Fn::If": ["HasPublicFunctionUrl", "NONE", "AWS_IAM"]}
