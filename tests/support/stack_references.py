"""Checks what a template points at: parameters, resources, conditions, and the parameters and outputs of nested stacks.

Takes templates as AWS gets them, after the transform. Whether an attribute exists is cfn-lint's to say.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.stack import Stack

NESTED = "AWS::CloudFormation::Stack"
OUTPUT = "Outputs."
PLACE = re.compile(r"\$\{([^!][^}]*)\}")


def dangling(stack: Stack, nested: Mapping[str, Stack]) -> Iterator[str]:
    """What a template points at that is not there, each in words. Nested stacks are found by their path."""
    template = stack.template
    parameters, resources = template.get("Parameters", {}), template["Resources"]
    conditions = template.get("Conditions", {})
    for kind, target in _pointers([template.get(part, {}) for part in ("Resources", "Outputs", "Conditions", "Rules")]):
        match kind:
            case "condition" if target not in conditions:
                yield f"no condition {target}"
            case "resource" if target not in resources:
                yield f"no resource {target}"
            case "value" if not target.startswith("AWS::") and target not in parameters | resources:
                yield f"no parameter or resource {target}"
            case "attribute":
                yield from _dangling_attribute(target, resources, nested)
            case _:
                pass
    for name, resource in resources.items():
        if resource["Type"] == NESTED:
            yield from _misfits(name, resource["Properties"], nested)


def _dangling_attribute(target: str, resources: Mapping[str, Any], nested: Mapping[str, Stack]) -> Iterator[str]:
    name, _, attribute = target.partition(".")
    if name not in resources:
        yield f"no resource {name}"
    elif resources[name]["Type"] == NESTED:
        outputs = nested[resources[name]["Properties"]["TemplateURL"]].template["Outputs"]
        if attribute.removeprefix(OUTPUT) not in outputs:
            yield f"no output {target}"


def _misfits(name: str, properties: Mapping[str, Any], nested: Mapping[str, Stack]) -> Iterator[str]:
    path = properties["TemplateURL"]
    if path not in nested:
        yield f"{name}: no template {path}"
        return
    wanted = nested[path].template["Parameters"]
    given = properties.get("Parameters", {})
    yield from (f"{name} knows no parameter {each}" for each in given.keys() - wanted.keys())
    yield from (f"{name} lacks {each}" for each in wanted if each not in given and "Default" not in wanted[each])


def _pointers(value: object) -> Iterator[tuple[str, str]]:
    match value:
        case {"Ref": str(name)}:
            yield "value", name
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            yield "attribute", f"{name}.{attribute}"
        case {"Fn::GetAtt": str(target)}:
            yield "attribute", target
        case {"Fn::If": [str(condition), *branches]}:
            yield "condition", condition
            yield from _pointers(branches)
        case {"Fn::Sub": str(text)}:
            yield from _places(text, {})
        case {"Fn::Sub": [str(text), dict(own)]}:
            yield from _places(text, own)
            yield from _pointers(list(own.values()))
        case dict():
            for name, item in value.items():
                yield from _pointers_of_member(name, item)
        case list():
            for item in value:
                yield from _pointers(item)
        case _:
            pass


def _pointers_of_member(name: str, item: object) -> Iterator[tuple[str, str]]:
    match name, item:
        case "DependsOn", str(target):
            yield "resource", target
        case "DependsOn", [*targets]:
            yield from (("resource", str(target)) for target in targets)
        case "Condition", str(condition):
            yield "condition", condition
        case _:
            yield from _pointers(item)


def _places(text: str, own: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for target in PLACE.findall(text):
        if target not in own:
            yield "attribute" if "." in target else "value", target
