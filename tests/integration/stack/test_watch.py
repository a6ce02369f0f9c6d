"""What an operator is told, and that it is about things which exist."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from functions.gateway.metrics import NAMESPACE
from tests.architecture.source import parse
from tests.support.stack import ROOT, Stack
from tests.support.stack_references import PLACE

# Metrics of AWS's own services -> the one dimension that they are asked for by.
OF_AWS = {
    ("AWS/Lambda", "Errors"): "FunctionName",
    ("AWS/Lambda", "Throttles"): "FunctionName",
    ("AWS/Lambda", "ConcurrentExecutions"): "FunctionName",
    ("AWS/Lambda", "IteratorAge"): "FunctionName",
    ("AWS/ApiGateway", "Count"): "ApiName",
    ("AWS/ApiGateway", "4XXError"): "ApiName",
    ("AWS/ApiGateway", "5XXError"): "ApiName",
    ("AWS/DynamoDB", "ConsumedReadCapacityUnits"): "TableName",
    ("AWS/DynamoDB", "ConsumedWriteCapacityUnits"): "TableName",
    ("AWS/DynamoDB", "ReadThrottleEvents"): "TableName",
    ("AWS/DynamoDB", "WriteThrottleEvents"): "TableName",
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): "QueueName",
}

# What each such dimension is given: the parameters that hold such a name.
NAMED_BY = {
    "FunctionName": {"GatewayFunction", "RollupFunction", "SweeperFunction"},
    "ApiName": {"Service"},
    "TableName": {"LedgerTable", "ConfigTable"},
    "QueueName": {"RollupFailures", "SweeperFailures"},
}


def words(*paths: str) -> set[str]:
    """Every string in some source files."""
    nodes = (node for path in paths for node in ast.walk(parse(path)) if isinstance(node, ast.Constant))
    return {node.value for node in nodes if isinstance(node.value, str)}


WRITTEN = words("functions/gateway/metrics.py", "functions/gateway/finished.py")


def check_metric(namespace: str, metric: str, dimensions: dict[str, str]) -> None:
    """Dimensions are values of the dashboard's text, or of alarms' references, as names of parameters."""
    if namespace == NAMESPACE:
        assert metric in WRITTEN
        assert dimensions.pop("Service") == "Service"
        # By class it is errors alone that are counted.
        assert dimensions.keys() <= ({"Class"} if metric == "Errors" else set())
        assert set(dimensions.values()) <= WRITTEN
    else:
        assert [*dimensions] == [OF_AWS[namespace, metric]]
        ((kind, value),) = dimensions.items()
        assert value in NAMED_BY[kind]


def alarms(watch: Stack) -> dict[str, dict[str, Any]]:
    return {name: alarm["Properties"] for name, alarm in watch.of_type("AWS::CloudWatch::Alarm").items()}


def test_every_alarm_is_about_a_metric_that_there_is(watch: Stack) -> None:
    for alarm in alarms(watch).values():
        named = {each["Name"]: each["Value"] for each in alarm["Dimensions"]}
        plain = {name: value["Ref"] if isinstance(value, dict) else value for name, value in named.items()}
        check_metric(alarm["Namespace"], alarm["MetricName"], plain)
        assert ("Statistic" in alarm) is not ("ExtendedStatistic" in alarm)


def test_what_can_go_wrong_has_an_alarm(watch: Stack) -> None:
    watched = {(alarm["Namespace"], alarm["MetricName"]) for alarm in alarms(watch).values()}
    assert watched == {
        ("AWS/Lambda", "Errors"),
        ("AWS/Lambda", "Throttles"),
        ("AWS/Lambda", "IteratorAge"),
        ("AWS/ApiGateway", "5XXError"),
        ("AWS/DynamoDB", "WriteThrottleEvents"),
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
        (NAMESPACE, "Errors"),
        (NAMESPACE, "TimeToFirstToken"),
        (NAMESPACE, "LedgerSpills"),
    }
    queues = {str(alarm["Dimensions"]) for alarm in alarms(watch).values() if alarm["Namespace"] == "AWS/SQS"}
    assert len(queues) == len(NAMED_BY["QueueName"])


# When each alarm begins: of what, compared how, with what; and a period's seconds, how many of the last how many. Where
# the guide says it in numbers or words, they stand behind it.
BEGINS: dict[str, tuple[str, str, object, tuple[int, int, int], str]] = {
    "function-errors": ("Sum", ">=", 3, (60, 1, 5), "three times within a minute"),
    "gateway-faults": ("Sum", ">=", 3, (60, 1, 5), "three within a minute"),
    "throttles": ("Sum", ">", 0, (300, 1, 1), "Lambda refused callers"),
    "api-failures": ("Average", ">", 0.05, (300, 2, 3), "One of twenty requests got a 5xx, for ten minutes"),
    "first-token": (
        "p90",
        ">",
        {"Ref": "FirstTokenAlarmMs"},
        (300, 3, 3),
        "One stream of ten waits longer than `FirstTokenAlarmMs`, for a quarter of an hour",
    ),
    "ledger-spills": ("Sum", ">", 0, (300, 1, 1), "Records were not written"),
    "ledger-throttled": ("Sum", ">", 0, (300, 1, 1), "DynamoDB refused writes"),
    "rollup-lag": ("Maximum", ">", 900_000, (300, 3, 3), "wait a quarter of an hour to be counted"),
    "uncounted-changes": ("Maximum", ">", 0, (300, 1, 1), "The rollup gave a change up"),
    "failed-sweeps": ("Maximum", ">", 0, (300, 1, 1), "A sweep failed within the last hour"),
}
OPERATORS = {">": "GreaterThanThreshold", ">=": "GreaterThanOrEqualToThreshold"}


@pytest.mark.parametrize("told", BEGINS)
def test_an_alarm_begins_when_the_guide_says(watch: Stack, told: str) -> None:
    """Nor does one begin by silence: a gateway that nobody calls writes no metrics."""
    (alarm,) = (each for each in alarms(watch).values() if each["AlarmName"]["Fn::Sub"] == f"${{Service}}-{told}")
    statistic, operator, threshold, (period, breaching, last), says = BEGINS[told]
    assert alarm.get("Statistic", alarm.get("ExtendedStatistic")) == statistic
    assert alarm["ComparisonOperator"] == OPERATORS[operator]
    assert alarm["Threshold"] == threshold
    assert alarm["Period"] == period
    assert alarm["EvaluationPeriods"] == last
    assert alarm.get("DatapointsToAlarm", last) == breaching
    assert alarm["TreatMissingData"] == "notBreaching"
    assert alarm.get("EvaluateLowSampleCountPercentile") == ("ignore" if statistic == "p90" else None)
    (row,) = re.findall(rf"^\| `{told}` \| ([^|]*) \|", (ROOT / "docs/operate.md").read_text("utf-8"), re.MULTILINE)
    assert says in row


def test_it_is_known_of_every_alarm_when_it_begins(watch: Stack) -> None:
    assert {alarm["AlarmName"]["Fn::Sub"].removeprefix("${Service}-") for alarm in alarms(watch).values()} == {*BEGINS}


def test_an_alarm_is_told_when_it_begins_and_when_it_ends(watch: Stack) -> None:
    for name, alarm in alarms(watch).items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": "Alarms"}], name
        assert alarm["AlarmDescription"].endswith("."), name


def test_alarms_are_named_by_their_stack_and_so_are_the_two_that_codedeploy_may_see(watch: Stack, stack: Stack) -> None:
    names = {alarm["AlarmName"]["Fn::Sub"] for alarm in alarms(watch).values()}
    assert len(names) == len(alarms(watch))
    assert all(re.fullmatch(r"\$\{Service\}-[a-z-]+", name) for name in names)
    role = json.dumps(stack.of_type("AWS::IAM::Role")["DeploymentRole"])
    taken_back = {"FunctionErrors", "GatewayFaults"}
    for output in ("FunctionErrorsAlarm", "GatewayFaultsAlarm"):
        assert watch.template["Outputs"][output]["Value"]["Ref"] in taken_back
    for name in taken_back:
        told = alarms(watch)[name]["AlarmName"]["Fn::Sub"].removeprefix("${Service}")
        assert f"alarm:${{AWS::StackName}}{told}" in role
    assert role.count("alarm:") == len(taken_back)


def test_the_guide_says_of_every_alarm_what_to_do(watch: Stack) -> None:
    guide = (ROOT / "docs/operate.md").read_text("utf-8")
    told = set(re.findall(r"^\| `([a-z-]+)` \|", guide, re.MULTILINE))
    assert told == {alarm["AlarmName"]["Fn::Sub"].removeprefix("${Service}-") for alarm in alarms(watch).values()}


def test_the_budget_is_the_accounts_and_told_before_it_is_spent(watch: Stack) -> None:
    budget = watch.only("AWS::Budgets::Budget")
    assert budget["Condition"] == "HasBudget"
    properties = budget["Properties"]
    assert properties["Budget"]["BudgetLimit"] == {"Amount": {"Ref": "BudgetUsd"}, "Unit": "USD"}
    assert "CostFilters" not in properties["Budget"]
    told = [(each["Notification"], each["Subscribers"]) for each in properties["NotificationsWithSubscribers"]]
    assert {(how["NotificationType"], how["Threshold"]) for how, _ in told} == {("FORECASTED", 100), ("ACTUAL", 80)}
    assert all(to == [{"SubscriptionType": "EMAIL", "Address": {"Ref": "AlarmEmail"}}] for _, to in told)


def test_without_an_address_nobody_is_written_to(watch: Stack) -> None:
    assert watch.only("AWS::SNS::Subscription")["Condition"] == "HasEmail"
    has_address = {"Fn::Not": [{"Fn::Equals": [{"Ref": "AlarmEmail"}, ""]}]}
    assert has_address in watch.template["Conditions"]["HasBudget"]["Fn::And"]


@pytest.fixture(scope="module")
def widgets(watch: Stack) -> list[dict[str, Any]]:
    text: str = watch.only("AWS::CloudWatch::Dashboard")["Properties"]["DashboardBody"]["Fn::Sub"]
    found: list[dict[str, Any]] = json.loads(text)["widgets"]
    return found


def metrics(widgets: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """As CloudWatch writes them: namespace, metric, then names and values of dimensions by turns."""
    for widget in widgets:
        for row in widget["properties"].get("metrics", []):
            parts = [part for part in row if isinstance(part, str)]
            if parts:
                yield parts


def test_the_dashboard_shows_metrics_that_there_are(widgets: list[dict[str, Any]]) -> None:
    for namespace, metric, *named in metrics(widgets):
        values = [PLACE.sub(r"\1", value) for value in named[1::2]]
        check_metric(namespace, metric, dict(zip(named[::2], values, strict=True)))


def test_the_dashboard_shows_every_metric_of_the_gateways_own(widgets: list[dict[str, Any]]) -> None:
    shown = {metric for namespace, metric, *_ in metrics(widgets) if namespace == NAMESPACE}
    assert shown == {"Requests", "Fallbacks", "Errors", "TimeToFirstToken", "Latency", "Cost", "LedgerSpills"}
    classes = {named[-1] for namespace, metric, *named in metrics(widgets) if metric == "Errors" and "Class" in named}
    assert classes == {"caller", "limit", "upstream", "gateway"}


def test_the_dashboard_begins_with_every_alarm(watch: Stack, widgets: list[dict[str, Any]]) -> None:
    assert widgets[0]["type"] == "alarm"
    assert set(widgets[0]["properties"]["alarms"]) == {f"${{{name}.Arn}}" for name in alarms(watch)}


def test_the_dashboard_costs_nothing_more(widgets: list[dict[str, Any]]) -> None:
    """Three dashboards of up to 50 metrics are free (https://aws.amazon.com/cloudwatch/pricing/, read 2026-12-01)."""
    assert len([*metrics(widgets)]) <= 50


def test_widgets_do_not_lie_on_each_other(widgets: list[dict[str, Any]]) -> None:
    taken: set[tuple[int, int]] = set()
    for widget in widgets:
        across, down = (
            range(widget["x"], widget["x"] + widget["width"]),
            range(widget["y"], widget["y"] + widget["height"]),
        )
        squares = {(x, y) for x in across for y in down}
        assert across.stop <= 24
        assert not taken & squares, widget["properties"]["title"]
        taken |= squares


def test_nothing_of_it_is_there_where_nobody_watches(source: Stack) -> None:
    assert source.template["Resources"]["Watcher"]["Condition"] == "Watches"
    assert source.template["Conditions"]["Watches"] == {"Fn::Equals": [{"Ref": "Watch"}, "on"]}
    for name, output in source.template["Outputs"].items():
        if "Watcher" in json.dumps(output):
            assert output["Condition"] == "Watches", name


def test_the_api_has_the_name_that_its_metrics_are_asked_for_by(stack: Stack) -> None:
    """By name, since a reference would go in a circle: the API waits for the alias, the alias for the alarms."""
    assert stack.only("AWS::ApiGateway::RestApi")["Properties"]["Name"] == {"Ref": "AWS::StackName"}
    assert stack.template["Resources"]["Watcher"]["Properties"]["Parameters"]["Service"] == {"Ref": "AWS::StackName"}
