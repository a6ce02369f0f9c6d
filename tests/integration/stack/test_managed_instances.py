"""The example of a function on Lambda Managed Instances becomes what it says, with the gateway's own settings."""

import json
from typing import Any

import pytest

from tests.support.stack import ROOT, Stack, run_tool

EXAMPLE = ROOT / "infra/examples/managed-instances.yaml"


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


def test_it_is_set_as_the_stacks_function_is(made: Stack, stack: Stack) -> None:
    settings = made.gateway()["Properties"]["Environment"]["Variables"]
    own = stack.gateway()["Properties"]["Environment"]["Variables"]
    assert settings.keys() <= own.keys()
    fixed = {name: value for name, value in settings.items() if isinstance(value, str)}
    assert fixed == {name: own[name] for name in fixed}
    assert made.gateway()["Properties"]["Runtime"] == stack.gateway()["Properties"]["Runtime"]


def test_it_streams(made: Stack) -> None:
    (path,) = made.only("AWS::ApiGateway::RestApi")["Properties"]["Body"]["paths"].values()
    integration = path["x-amazon-apigateway-any-method"]["x-amazon-apigateway-integration"]
    assert integration["responseTransferMode"] == "STREAM"
    assert "response-streaming-invocations" in json.dumps(integration["uri"])
