"""The stack as the template describes it and as AWS would make it, and ways to look into it."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
SAM_TOOLS = ROOT / ".venv-sam/bin"

# A region, so that no tool asks the machine for one; no telemetry.
ENVIRONMENT = os.environ | {"AWS_DEFAULT_REGION": "us-east-1", "SAM_CLI_TELEMETRY": "0"}


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


def sam_tool(name: str) -> Path:
    """A command of the SAM tools' environment. Fails the test when that is not installed."""
    tool = SAM_TOOLS / name
    if not tool.exists():
        pytest.fail(f".venv-sam/bin/{name} is missing: run `make .venv-sam/.ready` (make test does)")
    return tool


def run_sam_tool(name: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a SAM tool from the root and return what it said, whatever its exit code."""
    return subprocess.run(
        [str(sam_tool(name)), *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def transformed(*parameters: dict[str, str]) -> tuple[Stack, tuple[Stack, ...]]:
    """The template as written, and the stack that it becomes with each set of parameters."""
    script = str(ROOT / "tests/support/sam_transform.py")
    done = run_sam_tool("python", script, str(TEMPLATE), given=json.dumps(parameters))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return Stack(result["source"]), tuple(map(Stack, result["stacks"]))


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
        case dict():
            for item in value.values():
                yield from referred(item)
        case list():
            for item in value:
                yield from referred(item)
        case _:
            pass
