"""AWS's own checkers find nothing in the template."""

from tests.support.stack import TEMPLATE, run_sam_tool


def test_sam_accepts_the_template() -> None:
    done = run_sam_tool("sam", "validate", "--lint", "--region", "us-east-1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_cfn_lint_finds_nothing_in_another_region() -> None:
    done = run_sam_tool("cfn-lint", "--regions", "eu-central-1", "--", str(TEMPLATE))
    assert (done.returncode, done.stdout.strip()) == (0, "")
