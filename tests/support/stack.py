"""The stack as the template describes it and as AWS would make it, and ways to look into it."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
OTHERS = sorted((ROOT / "infra").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "infra/examples").glob("*.yaml"))
SAM_TOOLS = ROOT / ".venv-sam/bin"
CHECKOV = ROOT / ".venv-checkov/bin"

# A region, so that no tool asks the machine for one; no telemetry, and no look for newer versions.
ENVIRONMENT = os.environ | {
    "AWS_DEFAULT_REGION": "us-east-1",
    "SAM_CLI_TELEMETRY": "0",
    "CKV_SKIP_PACKAGE_UPDATE_CHECK": "True",
}


@dataclass(frozen=True, slots=True)
class Stack:
    """A template before or after the transform."""

    template: dict[str, Any]

    def of_type(self, kind: str) -> dict[str, Any]:
        """The resources of one type, by logical id."""
        resources = self.template["Resources"]
        return {name: item for name, item in resources.items() if item["Type"] == kind}

    def only(self, kind: str) -> dict[str, Any]:
        """The one resource of a type. Fails when there are more or none."""
        (found,) = self.of_type(kind).values()
        return dict(found)

    def gateway(self) -> dict[str, Any]:
        """The function that answers callers, as it is written or as it becomes."""
        return dict(self.template["Resources"]["GatewayFunction"])


@dataclass(frozen=True, slots=True)
class Transformed:
    """The template as written, what it becomes with each set of parameters, and those that stand beside it.

    The others, by their path from the root, have no transform: they are what AWS gets. Examples are as written.
    """

    source: Stack
    stacks: tuple[Stack, ...]
    others: dict[str, Stack]
    examples: dict[str, Stack]


def tool(name: str, environment: Path = SAM_TOOLS) -> Path:
    """A command of one of the tools' environments. Fails the test when that is not installed."""
    found = environment / name
    if not found.exists():
        made = environment.parent.relative_to(ROOT)
        pytest.fail(f"{found.relative_to(ROOT)} is missing: run `make {made}/.ready` (make test does)")
    return found


def run_tool(
    name: str, *arguments: str, environment: Path = SAM_TOOLS, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a tool from the root and return what it said, whatever its exit code."""
    return subprocess.run(
        [str(tool(name, environment)), *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def transformed(*parameters: dict[str, str]) -> Transformed:
    """The template with each set of parameters, and the others."""
    script = str(ROOT / "tests/support/sam_transform.py")
    paths = [str(path.relative_to(ROOT)) for path in (*OTHERS, *EXAMPLES)]
    done = run_tool("python", script, str(TEMPLATE), *paths, given=json.dumps(parameters))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    read = {path: Stack(template) for path, template in result["others"].items()}
    examples = {path: read.pop(path) for path in paths[len(OTHERS) :]}
    return Transformed(Stack(result["source"]), tuple(map(Stack, result["stacks"])), read, examples)


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, keys included."""
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield key
                yield from strings(item)
        case list():
            for item in value:
                yield from strings(item)
        case _:
            pass


def both_branches(value: object) -> Iterator[Any]:
    """What a list may hold, whichever way its conditions go."""
    match value:
        case {"Fn::If": [_, yes, no]}:
            yield from both_branches(yes)
            yield from both_branches(no)
        case {"Ref": "AWS::NoValue"}:
            return
        case list():
            for item in value:
                yield from both_branches(item)
        case _:
            yield value


def value_of(expression: object, parameters: Mapping[str, object]) -> object:
    """What a condition or an assertion comes to with these parameters; CloudFormation compares them as text."""
    match expression:
        case {"Ref": str(name)}:
            return str(parameters[name])
        case {"Fn::Equals": [left, right]}:
            return value_of(left, parameters) == value_of(right, parameters)
        case {"Fn::Not": [inner]}:
            return not value_of(inner, parameters)
        case {"Fn::And": [*inner]}:
            return all(value_of(each, parameters) for each in inner)
        case {"Fn::Or": [*inner]}:
            return any(value_of(each, parameters) for each in inner)
        case _:
            return str(expression)


def statements(role: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a role may do, whichever way conditions go."""
    for policy in both_branches(role["Properties"].get("Policies", [])):
        yield from policy["PolicyDocument"]["Statement"]


def granted(role: dict[str, Any]) -> dict[str, set[str]]:
    """What a role may do on what, as JSON of what the template says of it."""
    found: dict[str, set[str]] = {}
    for statement in statements(role):
        for resource in both_branches(_as_list(statement["Resource"])):
            found.setdefault(json.dumps(resource), set()).update(_as_list(statement["Action"]))
    return found


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def referred(value: object) -> Iterator[str]:
    """Names of parameters, resources and conditions that a value depends on."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::If": [str(condition), *branches]}:
            yield condition
            yield from referred(branches)
        case {"Fn::Sub": str(text)}:
            yield from (part.partition("}")[0] for part in text.split("${")[1:])
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case dict():
            for item in value.values():
                yield from referred(item)
        case list():
            for item in value:
                yield from referred(item)
        case _:
            pass
