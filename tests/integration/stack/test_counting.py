"""What happens behind the caller's back: a stream that brings settled requests, a clock that looks for lost ones."""

import ast
import importlib
import json
from typing import Any

import pytest

from functions.settings import PREFIX, Settings
from tests.architecture.source import parse
from tests.support.stack import Stack
from tests.support.table_stream import needs_counting

BEHIND = ["RollupFunction", "SweeperFunction"]


def written(source: Stack, name: str) -> dict[str, Any]:
    return dict(source.template["Resources"][name])


@pytest.mark.parametrize("name", BEHIND)
def test_a_function_is_the_gateways_package_with_a_handler_of_its_own(source: Stack, name: str) -> None:
    function, gateway = written(source, name), source.gateway()
    assert function["Metadata"] == gateway["Metadata"], "else the package would be built once more"
    for shared in ("CodeUri", "Runtime", "Architectures", "PackageType"):
        assert function["Properties"][shared] == gateway["Properties"][shared]
    module, _, handler = function["Properties"]["Handler"].rpartition(".")
    assert callable(getattr(importlib.import_module(module), handler))


@pytest.mark.parametrize("name", BEHIND)
def test_a_function_logs_to_its_own_log_and_knows_its_tables(stack: Stack, name: str) -> None:
    function = stack.of_type("AWS::Lambda::Function")[name]["Properties"]
    assert function["LoggingConfig"] == {"LogGroup": {"Ref": name.replace("Function", "LogGroup")}}
    variables = function["Environment"]["Variables"]
    gateway = stack.gateway()["Properties"]["Environment"]["Variables"]
    assert variables.items() <= gateway.items()


@pytest.mark.parametrize("name", BEHIND)
def test_a_function_is_told_every_setting_that_it_reads_and_no_other(stack: Stack, name: str) -> None:
    function = stack.of_type("AWS::Lambda::Function")[name]["Properties"]
    module = function["Handler"].rpartition(".")[0]
    read = {
        node.attr
        for node in ast.walk(parse(f"{module.replace('.', '/')}.py"))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "settings"
    }
    assert {"config_table", "ledger_table"} <= read <= Settings.model_fields.keys()
    # Which store it is says how the others are checked.
    settings = read | {"store"}
    assert {f"{PREFIX}{field.upper()}" for field in settings} == function["Environment"]["Variables"].keys()


def test_a_batch_of_the_stream_is_done_as_far_as_it_goes_and_nothing_is_dropped_unseen(stack: Stack) -> None:
    mapping = stack.only("AWS::Lambda::EventSourceMapping")["Properties"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["LedgerTable", "StreamArn"]}
    assert mapping["FunctionName"] == {"Ref": "RollupFunction"}
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert 0 < mapping["MaximumRetryAttempts"] <= 10_000
    assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": {"Fn::GetAtt": ["RollupFailures", "Arn"]}}}
    queue = stack.of_type("AWS::SQS::Queue")["RollupFailures"]["Properties"]
    assert queue == {"MessageRetentionPeriod": 14 * 86_400, "SqsManagedSseEnabled": True}


def test_a_sweep_that_fails_is_told_for_an_hour(stack: Stack) -> None:
    """By then others have made up for it, or failed too."""
    config = stack.only("AWS::Lambda::EventInvokeConfig")["Properties"]
    assert config["DestinationConfig"] == {"OnFailure": {"Destination": {"Fn::GetAtt": ["SweeperFailures", "Arn"]}}}
    queue = stack.of_type("AWS::SQS::Queue")["SweeperFailures"]["Properties"]
    assert queue == {"MessageRetentionPeriod": 3_600, "SqsManagedSseEnabled": True}


@pytest.mark.parametrize(
    ("image", "passes"),
    [
        ({"open_shard": {"S": "OPEN#1"}, "settled_ms": {"N": "5"}}, True),
        ({"open_shard": {"S": "OPEN#1"}}, False),
        ({"settled_ms": {"N": "5"}}, False),
        ({"quarter": {"N": "5"}}, False),
        (None, False),
    ],
)
def test_the_function_is_called_for_what_is_to_be_counted_alone(
    stack: Stack, image: dict[str, Any] | None, passes: bool
) -> None:
    mapping = stack.only("AWS::Lambda::EventSourceMapping")["Properties"]
    (one,) = mapping["FilterCriteria"]["Filters"]
    change = {"dynamodb": {"Keys": {"pk": {"S": "REQ#1"}}} | ({} if image is None else {"NewImage": image})}
    assert matches(json.loads(one["Pattern"]), change) is passes
    assert needs_counting(change) is passes


def matches(pattern: Any, value: Any) -> bool:
    """What of Lambda's filter rules the pattern uses (Lambda developer guide, "Event filtering", read 2026-11-30)."""
    if pattern == [{"exists": True}]:
        return value is not None and not isinstance(value, dict)
    assert isinstance(pattern, dict)
    return all(matches(inner, (value or {}).get(name)) for name, inner in pattern.items())


def test_the_sweeper_comes_every_few_minutes_and_is_not_called_twice(stack: Stack) -> None:
    rule = stack.only("AWS::Events::Rule")["Properties"]
    assert rule["ScheduleExpression"] == "rate(5 minutes)"
    config = stack.only("AWS::Lambda::EventInvokeConfig")["Properties"]
    assert config["MaximumRetryAttempts"] == 0
    assert config["FunctionName"] == {"Ref": "SweeperFunction"}
