"""AWS's own checkers find nothing in the template."""

import pytest

from tests.support.stack import TEMPLATE, run_sam_tool


@pytest.mark.parametrize("environment", ["default", "eu"])
def test_sam_accepts_the_template(environment: str) -> None:
    done = run_sam_tool("sam", "validate", "--lint", "--config-env", environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_cfn_lint_finds_nothing_in_any_region_served() -> None:
    regions = ["us-east-1", "eu-central-1", "ap-southeast-2"]
    done = run_sam_tool("cfn-lint", "--regions", *regions, "--", str(TEMPLATE))
    assert (done.returncode, done.stdout.strip()) == (0, "")
