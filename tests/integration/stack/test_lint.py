"""Checkers that know AWS find nothing in the templates. `sam validate --lint` runs the first of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stack import CHECKOV, EXAMPLES, OTHERS, ROOT, TEMPLATE, Stack, Transformed, run_tool

TEMPLATES = [str(path.relative_to(ROOT)) for path in (TEMPLATE, *OTHERS, *EXAMPLES)]


def test_cfn_lint_finds_nothing_in_either_region() -> None:
    done = run_tool("cfn-lint", "--regions", "us-east-1", "eu-central-1", "--", *TEMPLATES)
    assert (done.returncode, done.stdout.strip()) == (0, "")


@pytest.mark.timeout(120)
def test_checkov_finds_nothing_that_is_not_accepted_with_a_reason() -> None:
    files = [argument for path in TEMPLATES for argument in ("-f", path)]
    how = ("--framework", "cloudformation", "--skip-download", "-o", "json")
    done = run_tool("checkov", *files, *how, environment=CHECKOV)
    found = json.loads(done.stdout)["results"]
    assert [(each["check_id"], each["resource"]) for each in found["failed_checks"]] == [], done.stderr
    assert found["parsing_errors"] == []
    looked_at = {each["file_path"] for each in (*found["passed_checks"], *found["skipped_checks"])}
    assert {"/template.yaml", "/infra/data.yaml", "/infra/watch.yaml"} <= looked_at


def written(stacks: Transformed) -> Iterator[Stack]:
    yield from (stacks.source, *stacks.others.values(), *stacks.examples.values())


def accepted(template: Stack) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, resource in template.template["Resources"].items():
        for skipped in resource.get("Metadata", {}).get("checkov", {}).get("skip", []):
            yield name, skipped


def test_what_is_accepted_has_a_reason(stacks: Transformed) -> None:
    for template in written(stacks):
        for name, skipped in accepted(template):
            assert len(skipped["comment"].split()) >= 8, (name, skipped)
            assert skipped["comment"].endswith("."), (name, skipped)


def test_a_rule_is_silenced_for_one_resource_and_never_for_a_whole_template(stacks: Transformed) -> None:
    silenced = {
        (name, rule)
        for template in written(stacks)
        for name, resource in template.template["Resources"].items()
        for rule in resource.get("Metadata", {}).get("cfn-lint", {}).get("config", {}).get("ignore_checks", [])
    }
    # SAM hands UpdateReplacePolicy on to the function's versions, for which it is meant.
    assert silenced == {(name, "W3011") for name in ("GatewayFunction", "RollupFunction", "SweeperFunction")}
    for template in written(stacks):
        assert template.template.get("Metadata", {}).keys() <= {"AWS::CloudFormation::Interface"}
