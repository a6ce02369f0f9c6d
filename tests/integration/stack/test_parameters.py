"""The template is what an operator sees of the product: it explains itself."""

import re
import tomllib
from typing import Any

import pytest

from functions.settings import PREFIX, Settings, read_settings
from tests.support.stack import ROOT, Stack, referred


def parameters(source: Stack) -> dict[str, dict[str, Any]]:
    return dict(source.template["Parameters"])


def test_every_parameter_explains_and_bounds_itself(source: Stack) -> None:
    for name, parameter in parameters(source).items():
        assert "Type" in parameter, name
        assert "Default" in parameter, name
        description = parameter["Description"]
        assert description.endswith("."), name
        assert len(description.split()) >= 6, name
        assert len(description) <= 4_000, name
        bounded = {"AllowedPattern", "AllowedValues"} & parameter.keys()
        assert bounded or {"MinValue", "MaxValue"} <= parameter.keys(), name
        if "AllowedPattern" in parameter:
            assert "ConstraintDescription" in parameter, name


def test_every_default_is_allowed(source: Stack) -> None:
    for name, parameter in parameters(source).items():
        default = parameter["Default"]
        if "AllowedPattern" in parameter:
            assert re.fullmatch(parameter["AllowedPattern"], default), name
        if "AllowedValues" in parameter:
            assert default in parameter["AllowedValues"], name
        if "MinValue" in parameter:
            assert parameter["MinValue"] <= default <= parameter["MaxValue"], name


@pytest.mark.parametrize(
    ("name", "accepted", "refused"),
    [
        (
            "ProviderSecretName",
            ["headrace/providers", "keys"],
            ["arn:aws:secretsmanager:us-east-1:123456789012:secret:keys-AbCdEf", "a b", "key*"],
        ),
        ("CatalogPath", ["catalog.toml"], ["/etc/catalog.toml", "../catalog.toml", "catalog.json"]),
        ("HeaderPrefix", ["X-Inferbase-", "Acme-"], ["X-Inferbase", "X Inferbase-", "-", ""]),
        ("ConfigTableName", ["headrace-ConfigTable-1ABC2DEF"], ["table/*", "a*c", "ab"]),
        (
            "SealingKeyId",
            ["create", "1234abcd-12ab-34cd-56ef-1234567890ab", "mrk-1234abcd12ab34cd56ef1234567890ab"],
            ["arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab", "alias/a", "*", ""],
        ),
    ],
)
def test_a_pattern_refuses_what_would_widen_or_break(
    source: Stack, name: str, accepted: list[str], refused: list[str]
) -> None:
    pattern = parameters(source)[name]["AllowedPattern"]
    assert [value for value in accepted if not re.fullmatch(pattern, value)] == []
    assert [value for value in refused if re.fullmatch(pattern, value)] == []


def test_every_parameter_is_used_and_shown_in_a_group(source: Stack) -> None:
    template = source.template
    used = set(referred([template["Resources"], template["Outputs"]]))
    used |= set(referred([template["Conditions"][name] for name in template["Conditions"]]))
    assert parameters(source).keys() - used == set()
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    shown = [name for group in groups for name in group["Parameters"]]
    assert sorted(shown) == sorted(parameters(source))


def test_every_condition_is_used(source: Stack) -> None:
    template = source.template
    used = set(referred([template["Resources"], template["Outputs"]]))
    for item in [*template["Resources"].values(), *template["Outputs"].values()]:
        used.add(item.get("Condition"))
    assert template["Conditions"].keys() - used == set()


def test_no_request_may_outlive_the_platforms_longest(source: Stack) -> None:
    assert parameters(source)["TimeoutSeconds"]["MaxValue"] == 900


def test_every_output_is_described(source: Stack) -> None:
    outputs = source.template["Outputs"]
    assert all(output["Description"].endswith(".") for output in outputs.values())
    assert outputs["ApiUrl"]["Value"]["Fn::Sub"].endswith("/live/v1")
    assert outputs["RoutingApiUrl"]["Value"]["Fn::Sub"].endswith("/live/api/v1/inference")


def test_an_absent_setting_is_an_absent_variable(stack: Stack) -> None:
    variables = stack.gateway()["Properties"]["Environment"]["Variables"]
    none = {"Ref": "AWS::NoValue"}
    assert variables["HEADRACE_PROVIDER_SECRET"]["Fn::If"][2] == none
    assert variables["HEADRACE_CATALOG"]["Fn::If"][2] == none
    assert variables["HEADRACE_KMS_KEY"] == {"Fn::If": ["Seals", {"Ref": "SealingAlias"}, none]}
    assert variables["HEADRACE_STORE"] == "dynamodb"


def test_every_variable_is_a_setting_of_the_gateway(stack: Stack) -> None:
    variables = stack.gateway()["Properties"]["Environment"]["Variables"]
    settings = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    given = variables.keys() - {"AWS_LAMBDA_EXEC_WRAPPER"}
    assert given <= settings
    # Where DynamoDB is not the region's own, the function is not on AWS.
    assert settings - given == set()


def test_the_gateway_accepts_what_the_parameters_allow(source: Stack) -> None:
    """And starts with every default."""
    found = parameters(source)
    tables = {"HEADRACE_CONFIG_TABLE": "c", "HEADRACE_LEDGER_TABLE": "l"}
    for level in found["LogLevel"]["AllowedValues"]:
        for days in (found["RecordDays"]["MinValue"], found["RecordDays"]["MaxValue"]):
            settings = read_settings(
                tables
                | {
                    "HEADRACE_STORE": "dynamodb",
                    "HEADRACE_LOG_LEVEL": level,
                    "HEADRACE_RECORD_DAYS": str(days),
                    "HEADRACE_HEADER_PREFIX": found["HeaderPrefix"]["Default"],
                }
            )
            assert (settings.log_level, settings.record_days) == (level, days)


def test_every_region_of_the_settings_file_can_be_built_and_deployed() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    environments = {name: value for name, value in config.items() if name != "version"}
    assert len(environments) >= 2
    regions = set()
    for name, commands in environments.items():
        assert commands["build"]["parameters"]["beta_features"] is True, name
        assert commands["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM", name
        regions.add(commands["global"]["parameters"]["region"])
    assert len(regions) == len(environments)
