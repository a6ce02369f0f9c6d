"""The template is what an operator sees of the product: it explains itself."""

import re
import tomllib
from typing import Any

import pytest

from functions.settings import PREFIX, Settings, read_settings
from tests.support.stack import ROOT, Stack, Transformed, referred, value_of

# What only a gateway without DynamoDB reads, and why it stands in the template all the same.
FOR_SAM_LOCAL = {
    "HEADRACE_SQLITE_PATH": "`sam local invoke` with a store of its own can set only what the template names",
    "HEADRACE_SEAL_KEY_FILE": "the same, for the key that this store seals with",
}


def parameters(source: Stack) -> dict[str, dict[str, Any]]:
    return dict(source.template["Parameters"])


def test_an_operator_need_say_nothing(source: Stack, data: Stack) -> None:
    for template in (source, data):
        assert [name for name, each in parameters(template).items() if "Default" not in each] == []


def test_every_parameter_explains_and_bounds_itself(stacks: Transformed) -> None:
    found = [each for template in (stacks.source, *stacks.others.values()) for each in parameters(template).items()]
    for name, parameter in found:
        assert "Type" in parameter, name
        description = parameter["Description"]
        assert description.endswith("."), name
        assert len(description.split()) >= 6, name
        assert len(description) <= 4_000, name
        bounded = {"AllowedPattern", "AllowedValues"} & parameter.keys()
        assert bounded or {"MinValue", "MaxValue"} <= parameter.keys(), name
        # What only another template gives can only be right.
        if "AllowedPattern" in parameter and "Default" in parameter:
            assert "ConstraintDescription" in parameter, name


def test_every_default_is_allowed(stacks: Transformed) -> None:
    found = [each for template in (stacks.source, *stacks.others.values()) for each in parameters(template).items()]
    for name, parameter in found:
        default = parameter.get("Default")
        if default is None:
            continue
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
        ("SealingKeyRegion", ["us-east-1", "us-gov-west-1", ""], ["us", "us-east-1:*", "*"]),
        ("EncryptionKeyId", ["mrk-1234abcd12ab34cd56ef1234567890ab", ""], ["create", "*", "alias/aws/dynamodb"]),
        ("HostRegions", ["eu,eu-central-1", "us", ""], ["eu, us", "eu,", "EU", "*"]),
        ("AllowedCidrs", ["192.0.2.0/24,2001:db8::/32", "::/0"], ["192.0.2.1", "", "192.0.2.0/24, ::/0", "*"]),
        ("DomainName", ["llm.example.com", ""], ["https://llm.example.com", "example", "LLM.example.com", "*.a.com"]),
        (
            "CertificateArn",
            ["arn:aws:acm:eu-central-1:123456789012:certificate/12ab34cd-0000", ""],
            ["arn:aws:iam::123456789012:server-certificate/a", "*"],
        ),
        ("HostedZoneId", ["Z0123456789ABC", ""], ["/hostedzone/Z0123", "example.com"]),
        (
            "WebAclArn",
            ["arn:aws:wafv2:us-east-1:123456789012:regional/webacl/gateway/1a2b-3c4d", ""],
            ["arn:aws:wafv2:us-east-1:123456789012:global/webacl/gateway/1a2b-3c4d"],
        ),
        ("AlarmEmail", ["on-call@example.com", ""], ["on-call", "a@b c", "a@b@c"]),
        ("TracesEndpoint", ["http://localhost:4318/v1/traces", ""], ["localhost:4318", "https://a b"]),
    ],
)
def test_a_pattern_refuses_what_would_widen_or_break(
    source: Stack, name: str, accepted: list[str], refused: list[str]
) -> None:
    pattern = parameters(source)[name]["AllowedPattern"]
    assert [value for value in accepted if not re.fullmatch(pattern, value)] == []
    assert [value for value in refused if re.fullmatch(pattern, value)] == []


def test_every_parameter_is_used_and_shown_in_a_group(stacks: Transformed) -> None:
    for each in (stacks.source, *stacks.others.values()):
        template = each.template
        used = set(referred([template["Resources"], template["Outputs"]]))
        used |= set(referred([template["Conditions"][name] for name in template["Conditions"]]))
        assert parameters(each).keys() - used == set()
        groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
        shown = [name for group in groups for name in group["Parameters"]]
        assert sorted(shown) == sorted(parameters(each))


def test_every_condition_is_used(stacks: Transformed) -> None:
    for each in (stacks.source, *stacks.others.values()):
        template = each.template
        used = set(referred([template["Resources"], template["Outputs"]]))
        for item in [*template["Resources"].values(), *template["Outputs"].values()]:
            used.add(item.get("Condition"))
        assert template["Conditions"].keys() - used == set()


def test_what_cannot_be_together_is_refused_in_words(source: Stack) -> None:
    known = parameters(source)
    for name, rule in source.template["Rules"].items():
        assert set(referred(rule)) <= known.keys(), name
        for assertion in rule["Assertions"]:
            told = assertion["AssertDescription"]
            assert told.endswith("."), name
            assert any(parameter in told for parameter in referred(rule)), name


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"SnapStart": "on"}, []),
        ({"ProvisionedConcurrency": "3", "ReservedConcurrency": "9"}, []),
        ({"SnapStart": "on", "ProvisionedConcurrency": "3"}, ["SnapStartOrProvisioned"]),
        ({"SnapStart": "on", "ReservedConcurrency": "9"}, []),
        ({"DomainName": "a.example.com"}, ["DomainHasCertificate"]),
        ({"HostedZoneId": "Z1"}, ["ZoneHasDomain"]),
        ({"SealingKeyRegion": "us-east-1"}, ["ReplicaHasKey"]),
        ({"SealingKeyRegion": "us-east-1", "SealingKeyId": "mrk-1"}, []),
        ({"BudgetUsd": "5"}, ["BudgetHasReader"]),
        ({"BudgetUsd": "5", "AlarmEmail": "a@example.com"}, []),
        ({"BudgetUsd": "5", "AlarmEmail": "a@example.com", "Watch": "off"}, ["BudgetHasReader"]),
    ],
)
def test_a_rule_refuses_what_it_says_and_nothing_else(source: Stack, given: dict[str, str], refused: list[str]) -> None:
    chosen = {name: each["Default"] for name, each in parameters(source).items()} | given
    broken = [
        name
        for name, rule in source.template["Rules"].items()
        if value_of(rule["RuleCondition"], chosen)
        and not all(value_of(assertion["Assert"], chosen) for assertion in rule["Assertions"])
    ]
    assert broken == refused


def test_no_request_may_outlive_the_platforms_longest(source: Stack) -> None:
    assert parameters(source)["TimeoutSeconds"]["MaxValue"] == 900


def test_every_output_is_described(stacks: Transformed) -> None:
    outputs = stacks.source.template["Outputs"]
    for template in (stacks.source, *stacks.others.values()):
        assert all(output["Description"].endswith(".") for output in template.template["Outputs"].values())
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
    assert variables.keys() - {"AWS_LAMBDA_EXEC_WRAPPER"} == settings
    # These are in nobody's way: they name places in the function's own scratch space.
    assert all(variables[name].startswith("/tmp/") for name in FOR_SAM_LOCAL)
    assert {name for name, value in variables.items() if str(value).startswith("/tmp/")} == FOR_SAM_LOCAL.keys()


def test_metrics_go_to_cloudwatch_under_the_stacks_name(stack: Stack) -> None:
    variables = stack.gateway()["Properties"]["Environment"]["Variables"]
    assert variables["HEADRACE_METRICS"] == "emf"
    assert variables["HEADRACE_SERVICE"] == {"Ref": "AWS::StackName"}
    none = {"Ref": "AWS::NoValue"}
    assert variables["HEADRACE_TRACES"] == {"Fn::If": ["HasTraces", "otlp", none]}
    assert variables["HEADRACE_TRACES_ENDPOINT"] == {"Fn::If": ["HasTraces", {"Ref": "TracesEndpoint"}, none]}
    assert variables["HEADRACE_HOST_REGIONS"] == {"Fn::If": ["HasHostRegions", {"Ref": "HostRegions"}, none]}


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


@pytest.mark.parametrize("path", ["docs/deploy.md", "docs/operate.md", "docs/limits.md", "docs/administration.md"])
def test_the_guides_name_parameters_and_outputs_that_there_are(path: str, source: Stack, data: Stack) -> None:
    text = (ROOT / path).read_text("utf-8")
    known = {name for each in (source, data) for part in ("Parameters", "Outputs") for name in each.template[part]}
    # NAME=value, and <Name> where an output's value goes.
    assert {*re.findall(r"(?<![\w-])([A-Z][a-z]+[A-Za-z]*)=", text)} - known - {"Region"} == set()
    assert {*re.findall(r"<([A-Z][A-Za-z]+)>", text)} - known == set()


def test_every_region_of_the_settings_file_can_be_deployed() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    environments = {name: value for name, value in config.items() if name != "version"}
    assert environments["default"]["build"]["parameters"]["beta_features"] is True
    regions = {}
    for name, commands in environments.items():
        deploy = commands["deploy"]["parameters"]
        given = commands["global"]["parameters"]
        assert given["stack_name"] == deploy["s3_prefix"], name
        if "template_file" in deploy:
            assert (ROOT / deploy["template_file"]).exists(), name
        else:
            assert deploy["capabilities"] == "CAPABILITY_IAM CAPABILITY_AUTO_EXPAND", name
            regions[name] = given["region"]
    assert len(regions) >= 2
    assert len(set(regions.values())) == len(regions)
    assert environments["data"]["global"]["parameters"]["region"] == regions["default"]
