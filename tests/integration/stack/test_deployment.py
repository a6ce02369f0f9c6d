"""The templates are deployed in an emulated account, one after the other as the guide says, and fit each other."""

import json

import pytest

from functions.settings import read_settings
from tests.support.deployed import Cloud, Deployed
from tests.support.ministack import LEDGER_INDEXES, REGION
from tests.support.stack import Stack

pytestmark = pytest.mark.xdist_group("deployed")


def test_a_deployment_tells_what_the_next_steps_take(deployed: Deployed, stack: Stack) -> None:
    outputs = stack.template["Outputs"]
    always = {name for name, each in outputs.items() if "Condition" not in each}
    # With its defaults a stack seals and is watched, and has neither a name of its own nor a second way in.
    assert deployed.outputs.keys() == always | {"SealingKeyAlias", "AlarmsTopicArn"}
    assert "${" not in json.dumps(deployed.outputs)


def test_every_function_can_read_its_settings(deployed: Deployed) -> None:
    assert deployed.variables.keys() == {"GatewayFunction", "RollupFunction", "SweeperFunction"}
    for variables in deployed.variables.values():
        settings = read_settings(variables)
        assert settings.store == "dynamodb"
        assert (settings.config_table, settings.ledger_table) == deployed.tables
    gateway = read_settings(deployed.variables["GatewayFunction"])
    assert (gateway.service, gateway.metrics, gateway.traces) == ("headrace", "emf", "off")
    assert gateway.kms_key == deployed.outputs["SealingKeyAlias"]
    assert gateway.only_regions is None


def test_the_ledger_is_made_with_its_indexes(cloud: Cloud, deployed: Deployed) -> None:
    tables = cloud.client("dynamodb")
    made = tables.describe_table(TableName=deployed.tables[1])["Table"]
    tables.close()
    assert {each["IndexName"] for each in made["GlobalSecondaryIndexes"]} == {
        each["IndexName"] for each in LEDGER_INDEXES
    }
    assert made["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_alarms_and_dashboard_are_about_this_stack(cloud: Cloud, deployed: Deployed) -> None:
    watching = cloud.client("cloudwatch")
    alarms = watching.describe_alarms(AlarmNamePrefix="headrace-")["MetricAlarms"]
    body = watching.get_dashboard(DashboardName=f"headrace-{REGION}")["DashboardBody"]
    watching.close()
    assert "headrace-function-errors" in {alarm["AlarmName"] for alarm in alarms}
    assert set(json.loads(body)["widgets"][0]["properties"]["alarms"]) == {alarm["AlarmArn"] for alarm in alarms}
    assert "${" not in body
    named = {each["Value"] for alarm in alarms for each in alarm["Dimensions"]}
    assert {"headrace", "gateway", deployed.tables[1]} <= named
    for alarm in alarms:
        assert alarm["AlarmActions"] == alarm["OKActions"] == [deployed.outputs["AlarmsTopicArn"]]


def test_a_regions_stack_takes_what_the_shared_one_tells(cloud: Cloud, data: Stack, stack: Stack) -> None:
    shared = cloud.deploy(data, "headrace-data", SecondRegion="us-east-1")
    same = {name: shared.outputs[name] for name in ("ConfigTableName", "SealingKeyId")}
    quiet = {"Watch": "off", "ApiGatewayLogRole": "existing", "FunctionUrl": "iam", "HostRegions": "eu,eu-central-1"}
    region = cloud.deploy(stack, "headrace-eu", **same, **quiet)
    assert region.tables[0] == shared.outputs["ConfigTableName"]
    assert {"FunctionUrl"} == region.outputs.keys() & {"FunctionUrl", "AlarmsTopicArn"}
    settings = read_settings(region.variables["GatewayFunction"])
    assert settings.config_table == shared.outputs["ConfigTableName"]
    assert settings.only_regions == ("eu", "eu-central-1")

    keys = cloud.client("kms")
    sealing = keys.describe_key(KeyId=region.outputs["SealingKeyAlias"])["KeyMetadata"]["KeyId"]
    keys.close()
    assert sealing == shared.outputs["SealingKeyId"]
