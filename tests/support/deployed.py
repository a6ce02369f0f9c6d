"""An emulated AWS account in which the transformed template is deployed, with its nested ones, as CloudFormation does.

The emulator knows no CodeDeploy, so versions take over at once there; all other resources are made.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import boto3

from core.store.dynamodb import DynamoStore
from tests.support.ministack import REGION, Ministack
from tests.support.recorded_aws import RecordedAws, Right
from tests.support.stack import Stack, Transformed
from tests.support.stack_references import NESTED

BUCKET = "packages"
PACKAGE = "package.zip"  # where `sam_transform.py` says that the package lies
NOT_EMULATED = "AWS::CodeDeploy::"
SECRET = "headrace/providers"


@dataclass(frozen=True, slots=True)
class Deployed:
    """What came of a deployment: the stack's outputs, and each function's environment by logical id."""

    outputs: Mapping[str, str]
    variables: Mapping[str, Mapping[str, str]]

    @property
    def tables(self) -> tuple[str, str]:
        """The tables for configuration and ledger."""
        return self.outputs["ConfigTableName"], self.outputs["LedgerTableName"]


class Cloud:
    """The emulated account.

    Args:
        server: Where it runs.
        stacks: The templates, of which the nested ones are uploaded.
    """

    def __init__(self, server: Ministack, stacks: Transformed) -> None:
        self.server = server
        self._urls: dict[str, str] = {}
        storage = self.client("s3")
        storage.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        package = BytesIO()
        with ZipFile(package, "w") as archive:
            archive.writestr("functions/__init__.py", "")
        storage.put_object(Bucket=BUCKET, Key=PACKAGE, Body=package.getvalue())
        for path, nested in stacks.others.items():
            storage.put_object(Bucket=BUCKET, Key=path, Body=json.dumps(nested.template).encode())
            self._urls[path] = f"{server.endpoint}/{BUCKET}/{path}"
        storage.close()

    def client(self, service: str) -> Any:
        """A client of the account."""
        session = boto3.Session("test", "test", region_name=REGION)
        return session.client(service, endpoint_url=self.server.endpoint)  # type: ignore[call-overload]  # any service

    def deploy(self, stack: Stack, name: str, **parameters: str) -> Deployed:
        """Make a stack. Fails the test when a resource cannot be made."""
        formation, functions = self.client("cloudformation"), self.client("lambda")
        given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
        formation.create_stack(
            StackName=name, TemplateBody=self._template(stack), Parameters=given, Capabilities=["CAPABILITY_IAM"]
        )
        waiting = {"Delay": 0.1, "MaxAttempts": 600}
        formation.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=waiting)
        (made,) = formation.describe_stacks(StackName=name)["Stacks"]
        variables = {
            each["LogicalResourceId"]: _variables(functions, each["PhysicalResourceId"])
            for each in formation.describe_stack_resources(StackName=name)["StackResources"]
            if each["ResourceType"] == "AWS::Lambda::Function"
        }
        formation.close()
        functions.close()
        return Deployed({each["OutputKey"]: each["OutputValue"] for each in made["Outputs"]}, variables)

    def _template(self, stack: Stack) -> str:
        written: dict[str, Any] = json.loads(json.dumps(stack.template))
        resources = written["Resources"]
        for name in [name for name, each in resources.items() if each["Type"].startswith(NOT_EMULATED)]:
            del resources[name]
        for each in resources.values():
            each.pop("UpdatePolicy", None)
            if each["Type"] == NESTED:
                each["Properties"]["TemplateURL"] = self._urls[each["Properties"]["TemplateURL"]]
        return json.dumps(written)


def _variables(functions: Any, name: str) -> dict[str, str]:
    found: dict[str, str] = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    return found


@dataclass(frozen=True, slots=True)
class Account:
    """The account in which a stack runs, and a note of who did what there."""

    cloud: Cloud
    aws: RecordedAws
    deployed: Deployed

    def used(self) -> set[Right]:
        """What was done since this was last asked, with `config`, `ledger`, `key` and `secret` for what has names."""
        noted, self.aws.used = self.aws.used, set()
        return {(action, self._place(name)) for action, name in noted}

    def _place(self, name: str) -> str:
        config, ledger = self.deployed.tables
        names = {config: "config", ledger: "ledger", self.deployed.outputs["SealingKeyAlias"]: "key", SECRET: "secret"}
        # Sealed data names its key itself.
        names[""] = "key"
        table, index, inner = name.partition("/index/")
        return names[table] + index + inner

    def store(self) -> DynamoStore:
        """A store that does not stand in the notes: an operator's, for what was there before."""
        return DynamoStore(*self.deployed.tables, client=self.cloud.server.client)
