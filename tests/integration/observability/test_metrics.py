"""The lines of metrics: what CloudWatch makes of them, for every kind of request."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.tenant import Limits
from functions.gateway.metrics import Metrics
from functions.local.keys import create_key
from tests.support.gateway import running_gateway
from tests.support.observed_stage import URL, Stage, set_stage, together
from tests.support.upstream import refusing

UNITS = {
    **dict.fromkeys(("Requests", "Errors", "Fallbacks", "LedgerSpills"), "Count"),
    **dict.fromkeys(("TimeToFirstToken", "Latency"), "Milliseconds"),
    "Cost": "None",
}
PROPERTIES = {"request_id", "route", "surface", "model", "outcome", "error_code"}


def read(line: str) -> dict[tuple[str, ...], dict[str, float]]:
    """What CloudWatch makes of a line: values by dimension values, and metric.

    "Specification: Embedded metric format" (Amazon CloudWatch user guide, read 2026-12-01).
    """
    document: dict[str, Any] = json.loads(line)
    assert "\n" not in line
    meta = document.pop("_aws")
    assert isinstance(meta.pop("Timestamp"), int)
    metrics: dict[tuple[str, ...], dict[str, float]] = {}
    named = {"Service"}
    for directive in meta.pop("CloudWatchMetrics"):
        assert directive["Namespace"] == "Headrace"
        for names in directive["Dimensions"]:
            named |= {*names}
            seen = metrics.setdefault(tuple(document[name] for name in names), {})
            for metric in directive["Metrics"]:
                assert metric["Unit"] == UNITS[metric["Name"]]
                (seen[metric["Name"]],) = document[metric["Name"]]
    assert meta == {}
    assert document.keys() - UNITS.keys() - named <= PROPERTIES
    return metrics


async def written(stage: Stage, lines: list[str]) -> dict[tuple[str, ...], dict[str, float]]:
    """The metrics of the next request that is told of."""
    await stage.told.next()
    (line,) = lines
    lines.clear()
    return read(line)


async def test_each_kind_of_request(tmp_path: Path) -> None:
    lines: list[str] = []
    async with set_stage(tmp_path, before=[Metrics("shop", lines.append)]) as stage:
        response = await stage.ask("first fails", stream=True)
        served = (await written(stage, lines))[("shop",)]
        record = await stage.running.store.record("default", response.headers["x-request-id"])
        assert record is not None
        assert record.charge is not None
        assert served == {
            **{"Requests": 1, "Errors": 0, "Fallbacks": 1, "LedgerSpills": 0},
            **{"TimeToFirstToken": record.ttft_ms, "Latency": record.latency_ms, "Cost": record.charge.total},
        }
        await stage.ask()
        assert "TimeToFirstToken" not in (await written(stage, lines))[("shop",)]
        await stage.ask("both fail")
        failed = await written(stage, lines)
        assert failed[("shop",)].keys() == UNITS.keys() - {"TimeToFirstToken"}
        assert (failed[("shop",)]["Errors"], failed[("shop", "upstream")]) == (1, {"Errors": 1})
        await stage.ask(messages="wrong")
        refused = await written(stage, lines)
        assert refused[("shop",)] == {"Requests": 1, "Errors": 1, "Fallbacks": 0, "LedgerSpills": 0}
        assert refused[("shop", "caller")] == {"Errors": 1}
        token, key = await create_key(stage.running.store, "default", "limited")
        await stage.running.store.save_key(replace(key, limits=Limits(minute_requests=0)))
        await stage.ask(headers={"authorization": f"Bearer {token}"})
        assert ("shop", "limit") in await written(stage, lines)
        stage.store.away |= {"settle"}
        await stage.ask()
        assert (await written(stage, lines))[("shop",)]["LedgerSpills"] == 1
        stage.store.away.add("totals")
        async with stage.running.client() as client:
            assert (await client.get("/v1/usage")).status_code == 503
        gone = await written(stage, lines)
        assert (gone[("shop", "gateway")], gone[("shop",)].keys() & {"Latency", "Cost"}) == ({"Errors": 1}, set())


async def test_requests_at_the_same_time_share_nothing(tmp_path: Path) -> None:
    lines: list[str] = []
    async with set_stage(tmp_path, before=[Metrics("shop", lines.append)]) as stage:
        kinds = ["", "first fails", "both fail", "wrong"] * 5
        answers = await together(*(stage.ask(kind, stream=number % 2 == 0) for number, kind in enumerate(kinds)))
        for _ in kinds:
            await stage.told.next()
    told = {json.loads(line)["request_id"]: read(line) for line in lines}
    assert {answer.headers["x-request-id"] for answer in answers} == told.keys()
    for answer in answers:
        metrics = told[answer.headers["x-request-id"]]
        assert metrics[("shop",)]["Requests"] == 1
        assert metrics[("shop",)]["Errors"] == (answer.status_code != 200)
    assert Counter(metrics[("shop",)]["Fallbacks"] for metrics in told.values()) == {0: 10, 1: 10}
    assert Counter(key for metrics in told.values() for key in metrics if len(key) == 2) == {
        ("shop", "upstream"): 5,
        ("shop", "caller"): 5,
    }


async def test_they_go_to_standard_output_where_they_are_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "another")
    for setting, is_on in ({}, False), ({"HEADRACE_METRICS": "emf", "HEADRACE_SERVICE": "shop"}, True):
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere, variables=setting) as running, running.client() as client:
                await client.post(URL, content=b"no JSON")
        lines = [line for line in capsys.readouterr().out.splitlines() if "CloudWatchMetrics" in line]
        assert [read(line).keys() for line in lines] == (
            [{("shop",): 0, ("shop", "caller"): 0}.keys()] if is_on else []
        )
