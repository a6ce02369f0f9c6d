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

# Of the function, but not of its versions: a change holds at once. What runs a version is the alias's.
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
    assert version["Description"] == {"Fn::Sub": "settings ${SettingsRecord.VersionNumber}"}
    record = stack.only("AWS::AppConfig::HostedConfigurationVersion")["Properties"]
    assert {"MemorySize", "TimeoutSeconds", "LogLevel"} < parameters
    assert set(referred(record["Content"])) == parameters
    # Each on a line of its own, so that no two settings can be written the same way.
    lines = record["Content"]["Fn::Sub"].splitlines()
    assert lines == [f"{name}=${{{name}}}" for name in referred(record["Content"])]


def test_a_new_version_takes_over_by_and_by_and_is_taken_back_on_two_alarms(stack: Stack, narrow: Stack) -> None:
    for transformed, way in ((stack, "Canary10Percent5Minutes"), (narrow, "AllAtOnce")):
        group = transformed.only("AWS::CodeDeploy::DeploymentGroup")["Properties"]
        assert group["DeploymentConfigName"] == {
            "Fn::Sub": ["CodeDeployDefault.Lambda${ConfigName}", {"ConfigName": way}]
        }
        assert group["AutoRollbackConfiguration"]["Enabled"] is True
        assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
        condition, watched, unwatched = group["AlarmConfiguration"]["Fn::If"]
        assert (condition, watched["Enabled"], unwatched) == ("Watches", True, {})
        names = [alarm["Name"]["Fn::GetAtt"] for alarm in watched["Alarms"]]
        assert names == [["Watcher", "Outputs.FunctionErrorsAlarm"], ["Watcher", "Outputs.GatewayFaultsAlarm"]]
        assert group["ServiceRoleArn"] == {"Fn::GetAtt": ["DeploymentRole", "Arn"]}
        policy = transformed.only("AWS::Lambda::Alias")["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
        assert policy["DeploymentGroupName"] == {"Ref": "GatewayFunctionDeploymentGroup"}


def test_environments_are_kept_started_only_where_no_snapshot_is(source: Stack, stack: Stack) -> None:
    alias = stack.only("AWS::Lambda::Alias")["Properties"]
    condition, kept, none = alias["ProvisionedConcurrencyConfig"]["Fn::If"]
    assert (condition, none) == ("HasProvisionedConcurrency", {"Ref": "AWS::NoValue"})
    assert kept == {"ProvisionedConcurrentExecutions": {"Ref": "ProvisionedConcurrency"}}
    rule = source.template["Rules"]["SnapStartOrProvisioned"]
    assert rule["RuleCondition"] == {"Fn::Equals": [{"Ref": "SnapStart"}, "on"]}
    (assertion,) = rule["Assertions"]
    assert assertion["Assert"] == {"Fn::Equals": [{"Ref": "ProvisionedConcurrency"}, "0"]}
    assert stack.template["Rules"] == source.template["Rules"], "the transform keeps them"


def test_snapshots_are_of_published_versions_and_only_where_they_are_asked_for(source: Stack, stack: Stack) -> None:
    function = stack.gateway()["Properties"]
    assert function["SnapStart"] == {"ApplyOn": {"Fn::If": ["HasSnapStart", "PublishedVersions", "None"]}}
    assert source.template["Parameters"]["SnapStart"]["Default"] == "off"
    assert stack.template["Conditions"]["HasSnapStart"] == {"Fn::Equals": [{"Ref": "SnapStart"}, "on"]}


def test_concurrency_is_reserved_only_where_it_is_asked_for(source: Stack, stack: Stack) -> None:
    """Reserving none would refuse every caller, so that 0 has to mean the account's own bound."""
    reserved = stack.gateway()["Properties"]["ReservedConcurrentExecutions"]
    none = {"Ref": "AWS::NoValue"}
    assert reserved == {"Fn::If": ["HasReservedConcurrency", {"Ref": "ReservedConcurrency"}, none]}
    for setting in ("ReservedConcurrency", "ProvisionedConcurrency"):
        asked = {"Fn::Not": [{"Fn::Equals": [{"Ref": setting}, 0]}]}
        assert stack.template["Conditions"][f"Has{setting}"] == asked
        assert source.template["Parameters"][setting]["Default"] == 0


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
