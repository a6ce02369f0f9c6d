"""The example of a function on Lambda Managed Instances becomes what it says, with the gateway's own settings."""

import json
from typing import Any

import pytest

from tests.support.stack import ROOT, Stack, run_tool

EXAMPLE = ROOT / "infra/examples/managed-instances.yaml"

# What the stack's function is told and the example's is not, and why that does no harm.
ABSENT = {
    "HEADRACE_CATALOG": "a catalog of one's own goes into the package; who has one adds the path",
    "HEADRACE_OPERATOR_KEY_SHA256": "the operator calls the stack's own API, so there is one way in the fewer",
    "HEADRACE_HEADER_PREFIX": "the default is the stack's default",
    "HEADRACE_RECORD_DAYS": "the default is the stack's default",
    "HEADRACE_STREAM_SILENCE_S": "the default is what the stack sets",
    "HEADRACE_LOG_LEVEL": "the default is the stack's default",
    "HEADRACE_TRACES": "traces are off by default, in the stack too",
    "HEADRACE_TRACES_ENDPOINT": "traces are off by default, in the stack too",
    "HEADRACE_SQLITE_PATH": "only for `sam local invoke`, which does not run the example",
    "HEADRACE_SEAL_KEY_FILE": "only for `sam local invoke`, which does not run the example",
}


@pytest.fixture(scope="module")
def made() -> Stack:
    """The example after the transform."""
    parameters = json.dumps([{"SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1"}])
    done = run_tool("python", str(ROOT / "tests/support/sam_transform.py"), str(EXAMPLE), given=parameters)
    assert done.returncode == 0, done.stderr
    return Stack(json.loads(done.stdout)["stacks"][0])


def test_one_process_gets_several_invocations_at_a_time(made: Stack) -> None:
    config: dict[str, Any] = made.gateway()["Properties"]["CapacityProviderConfig"]
    managed = config["LambdaManagedInstancesCapacityProviderConfig"]
    assert managed["PerExecutionEnvironmentMaxConcurrency"] == {"Ref": "MaxConcurrency"}
    assert managed["CapacityProviderArn"] == {"Fn::GetAtt": ["Machines", "Arn"]}
    assert made.only("AWS::Lambda::CapacityProvider")["Properties"]["InstanceRequirements"] == {
        "Architectures": made.gateway()["Properties"]["Architectures"]
    }


def test_it_is_set_as_the_stacks_function_is(made: Stack, source: Stack, stack: Stack) -> None:
    settings = made.gateway()["Properties"]["Environment"]["Variables"]
    own = stack.gateway()["Properties"]["Environment"]["Variables"]
    assert settings.keys() == own.keys() - ABSENT.keys()
    assert ABSENT.keys() <= own.keys()
    fixed = {name: value for name, value in settings.items() if isinstance(value, str)}
    assert fixed == {name: own[name] for name in fixed}
    for same in ("HEADRACE_HOST_REGIONS", "HEADRACE_SERVICE"):
        assert settings[same] == own[same]
    assert made.template["Conditions"]["HasHostRegions"] == source.template["Conditions"]["HasHostRegions"]
    told, taken = (each.template["Parameters"]["HostRegions"] for each in (source, made))
    for member in ("Type", "Default", "AllowedPattern", "ConstraintDescription"):
        assert told[member] == taken[member], member
    assert made.gateway()["Properties"]["Runtime"] == stack.gateway()["Properties"]["Runtime"]


def test_it_streams(made: Stack) -> None:
    (path,) = made.only("AWS::ApiGateway::RestApi")["Properties"]["Body"]["paths"].values()
    integration = path["x-amazon-apigateway-any-method"]["x-amazon-apigateway-integration"]
    assert integration["responseTransferMode"] == "STREAM"
    assert "response-streaming-invocations" in json.dumps(integration["uri"])
