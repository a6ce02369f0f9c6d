"""Nothing in the templates points at what is not there, from one template to the next included."""

from typing import Any

import pytest

from tests.support.stack import ROOT, Stack, Transformed
from tests.support.stack_references import NESTED, dangling


def test_nothing_dangles(stacks: Transformed) -> None:
    for template in (*stacks.stacks, *stacks.others.values()):
        assert [*dangling(template, stacks.others)] == []


INNER = Stack({"Parameters": {"A": {}, "B": {"Default": 1}}, "Resources": {}, "Outputs": {"There": {"Value": 1}}})


def outer(**properties: Any) -> Stack:
    return Stack(
        {
            "Parameters": {"Given": {}},
            "Conditions": {"Holds": {"Fn::Equals": [{"Ref": "Given"}, ""]}},
            "Resources": {
                "Table": {"Type": "AWS::DynamoDB::Table", **properties},
                "Inner": {"Type": NESTED, "Properties": {"TemplateURL": "inner.yaml", "Parameters": {"A": 1}}},
            },
        }
    )


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"Properties": {"X": {"Ref": "Gone"}}}, "no parameter or resource Gone"),
        ({"Properties": {"X": {"Fn::GetAtt": ["Gone", "Arn"]}}}, "no resource Gone"),
        ({"Properties": {"X": {"Fn::GetAtt": "Gone.Arn"}}}, "no resource Gone"),
        ({"Properties": {"X": {"Fn::Sub": "a ${Gone} b"}}}, "no parameter or resource Gone"),
        ({"Properties": {"X": {"Fn::Sub": ["${Gone.Arn}", {}]}}}, "no resource Gone"),
        ({"Properties": {"X": {"Fn::Sub": ["${own}", {"own": {"Ref": "Gone"}}]}}}, "no parameter or resource Gone"),
        ({"Properties": {"X": [{"Fn::If": ["Gone", 1, 2]}]}}, "no condition Gone"),
        ({"Properties": {"X": {"Fn::GetAtt": ["Inner", "Outputs.Gone"]}}}, "no output Inner.Outputs.Gone"),
        ({"Condition": "Gone"}, "no condition Gone"),
        ({"DependsOn": "Gone"}, "no resource Gone"),
        ({"DependsOn": ["Inner", "Gone"]}, "no resource Gone"),
    ],
)
def test_the_checker_finds_what_dangles(properties: dict[str, Any], said: str) -> None:
    assert [*dangling(outer(**properties), {"inner.yaml": INNER})] == [said]


def test_the_checker_accepts_what_is_there() -> None:
    fine = {
        "a": [{"Ref": "Given"}, {"Ref": "AWS::Region"}, {"Fn::GetAtt": ["Inner", "Outputs.There"]}],
        "b": {
            "Fn::If": ["Holds", {"Fn::GetAtt": ["Table", "Arn"]}, {"Fn::Sub": "${!kept} ${AWS::Region} ${Table.Arn}"}]
        },
        "Condition": {"StringEquals": {"a": "b"}},
    }
    assert [*dangling(outer(Properties=fine, DependsOn="Inner"), {"inner.yaml": INNER})] == []


def test_the_checker_compares_parameters_of_nested_stacks() -> None:
    stack = outer()
    stack.template["Resources"]["Inner"]["Properties"]["Parameters"] = {"C": 1}
    assert [*dangling(stack, {"inner.yaml": INNER})] == ["Inner knows no parameter C", "Inner lacks A"]
    assert [*dangling(stack, {})] == ["Inner: no template inner.yaml"]


def test_what_an_operator_may_say_a_nested_stack_takes(stacks: Transformed) -> None:
    """Else a deployment would fail half-way, in a stack that the operator did not write to."""
    written = stacks.source.template
    for resource in stacks.source.of_type(NESTED).values():
        wanted = stacks.others[resource["Properties"]["TemplateURL"]].template["Parameters"]
        for name, value in resource["Properties"]["Parameters"].items():
            if value == {"Ref": name} and name in written["Parameters"]:
                told, taken = written["Parameters"][name], wanted[name]
                for member in ("Type", "Default", "AllowedPattern", "MinValue", "MaxValue", "ConstraintDescription"):
                    assert told.get(member) == taken.get(member), (name, member)


def test_every_nested_template_is_nested_or_told_of(stacks: Transformed) -> None:
    nested = {each["Properties"]["TemplateURL"] for each in stacks.source.of_type(NESTED).values()}
    guide = (ROOT / "docs/deploy.md").read_text("utf-8")
    assert [path for path in stacks.others if path not in nested and path not in guide] == []
