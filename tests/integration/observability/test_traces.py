"""Spans as a collector gets them: one for each request, one for each attempt, in the caller's trace."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from functions.gateway.compose import every_offer
from functions.gateway.finished import Finished
from functions.gateway.traces import Traces, place
from functions.settings import read_settings
from tests.support.lambda_child import child
from tests.support.observed_stage import URL, Stage, set_stage
from tests.support.script import Never, reply
from tests.support.upstream import ScriptedUpstream
from tests.support.watching import ACCEPTED, SeenSpan, services_in, spans_in

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CALLERS = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=typed"}
FAILS = {"headrace.own_key": False, "error.type": "upstream_error", "http.response.status_code": 401}


@asynccontextmanager
async def traced(folder: Path, collector: ScriptedUpstream) -> AsyncIterator[Stage]:
    variables = {
        "HEADRACE_TRACES": "otlp",
        "HEADRACE_TRACES_ENDPOINT": f"{collector.url}/v1/traces",
        "HEADRACE_SERVICE": "shop",
    }
    async with set_stage(folder, variables) as stage:
        yield stage


async def test_a_request_and_its_attempts(tmp_path: Path) -> None:
    async with ScriptedUpstream(ACCEPTED, checks=False) as collector:
        async with traced(tmp_path, collector) as stage:
            response, told = await stage.told_of("first fails", headers=CALLERS, stream=True)
            await stage.running.gateway.after_response()
            assert {request.path for request in collector.received} == {"/v1/traces"}
            upstream_headers = {name for received in stage.upstream.received for name in received.headers}
            host, port = "127.0.0.1", stage.upstream.port
        assert not any(b"typed" in request.body for request in collector.received)
        spans, services = spans_in(collector.received), services_in(collector.received)
    assert services == {"shop"}
    assert not upstream_headers & {"traceparent", "tracestate", "baggage"}
    whole, first, second = spans
    assert (whole.name, whole.kind, whole.trace, whole.parent) == (
        f"POST {URL}",
        Span.SPAN_KIND_SERVER,
        TRACE,
        PARENT,
    )
    assert not whole.failed
    record = told.record
    assert record is not None
    assert record.charge is not None
    assert whole.attributes == {
        "http.request.method": "POST",
        "http.route": URL,
        "http.response.status_code": 200,
        "headrace.request_id": response.headers["x-request-id"],
        "headrace.surface": "plain",
        "headrace.org": "default",
        "headrace.outcome": "served",
        "headrace.model": "lab/small",
        "headrace.fallbacks": 1,
        "headrace.ttft_ms": record.ttft_ms,
        "headrace.cost_micros": record.charge.total,
    }
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.stream": True,
        "headrace.model": "lab/small",
        "headrace.own_key": False,
        "server.address": host,
        "server.port": port,
    }
    assert (first.name, first.attributes) == (
        "chat small-first",
        {**asked, **FAILS, "gen_ai.request.model": "small-first", "gen_ai.provider.name": "first"},
    )
    assert (second.name, second.attributes) == (
        "chat small-second",
        {
            **asked,
            "gen_ai.request.model": "small-second",
            "gen_ai.provider.name": "second",
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.usage.input_tokens": 31,
            "gen_ai.usage.output_tokens": 64,
            "gen_ai.usage.cache_read.input_tokens": 0,
            "gen_ai.usage.cache_creation.input_tokens": 0,
        },
    )
    assert (first.failed, second.failed) == (True, False)
    for span in (first, second):
        assert (span.kind, span.trace, span.parent) == (Span.SPAN_KIND_CLIENT, TRACE, whole.id)
        check_within(span, whole)


def check_within(inner: SeenSpan, outer: SeenSpan) -> None:
    """Attempts are timed to the millisecond."""
    millisecond = 2_000_000
    assert outer.started - millisecond <= inner.started <= inner.ended <= outer.ended + millisecond


async def test_requests_that_fail_or_are_refused(tmp_path: Path) -> None:
    async with ScriptedUpstream(ACCEPTED, checks=False) as collector:
        async with traced(tmp_path, collector) as stage:
            await stage.told_of("both fail")
            await stage.told_of(headers={"authorization": "Bearer hr_typed", "traceparent": "no traceparent"})
            await stage.leave()
            await stage.told.next()
        # They were batched; what is left is sent when the gateway stops.
        failed, *attempts, refused, left, leaving = spans_in(collector.received)
    assert (failed.failed, failed.attributes["error.type"]) == (True, "all_attempts_failed")
    assert failed.attributes["http.response.status_code"] == 502
    assert [span.parent for span in attempts] == [failed.id] * 2
    assert (refused.failed, refused.attributes["error.type"], refused.parent) == (False, "invalid_api_key", "")
    assert "headrace.org" not in refused.attributes
    assert (left.failed, left.attributes["headrace.outcome"]) == (False, "caller_left")
    assert (leaving.failed, leaving.parent, "error.type" in leaving.attributes) == (False, left.id, False)
    assert len({span.trace for span in (failed, refused, left)}) == 3


async def test_a_caller_who_does_not_sample_is_heeded(tmp_path: Path) -> None:
    async with ScriptedUpstream(ACCEPTED, checks=False) as collector:
        async with traced(tmp_path, collector) as stage:
            await stage.told_of(headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})
        assert spans_in(collector.received) == []


async def test_a_collector_that_refuses_harms_nobody(tmp_path: Path) -> None:
    async with ScriptedUpstream(reply({}, 400), checks=False) as collector:
        async with traced(tmp_path, collector) as stage:
            assert (await stage.ask()).status_code == 200
            await stage.told.next()
            await stage.running.gateway.after_response()
            assert (await stage.ask()).status_code == 200


async def test_a_collector_that_hangs_is_given_up() -> None:
    async with ScriptedUpstream([Never()], checks=False) as collector:
        traces = Traces(f"{collector.url}/v1/traces", "shop", {}, export_s=0.05)
        traces.finished(Finished("req-1", "GET", None, None, 1.0, 2.0))
        await asyncio.to_thread(traces.flush)
        await asyncio.to_thread(traces.close)
        assert len(collector.received) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai", ("openai", "api.openai.com", 443)),
        ("azure", ("azure.ai.openai", "your-resource.openai.azure.com", 443)),
        ("bedrock-eu-west-1", ("aws.bedrock", "bedrock-runtime.eu-west-1.amazonaws.com", 443)),
        ("bedrock-openai-us-east-1", ("aws.bedrock", "bedrock-runtime.us-east-1.amazonaws.com", 443)),
        ("google", ("gcp.gemini", "generativelanguage.googleapis.com", 443)),
        ("vertex", ("gcp.vertex_ai", "aiplatform.googleapis.com", 443)),
        ("mistral", ("mistral_ai", "api.mistral.ai", 443)),
        ("xai", ("x_ai", "api.x.ai", 443)),
    ],
)
def test_vendors_have_the_conventions_names(name: str, expected: tuple[str, str, int]) -> None:
    vendor = every_offer(read_settings({})).common.catalog.vendors[name]
    assert tuple(place(name, vendor).values()) == expected
    assert place(name, None) == {"gen_ai.provider.name": expected[0]}


OFF = """
import sys
from functions.gateway.compose import prepare
from functions.gateway.observers import make_traces
from functions.settings import SettingsError, read_settings
import asyncio

async def main():
    gateway = prepare(read_settings({}), {})
    await gateway.connect()
    await gateway.close()

asyncio.run(main())
unwanted = "opentelemetry.sdk", "opentelemetry.exporter", "google.protobuf", "requests", "functions.gateway.traces"
print(sorted(name for name in sys.modules if name.startswith((*unwanted, "functions.gateway.metrics"))), "imported")

sys.modules["opentelemetry.sdk.trace"] = None  # as where it is not installed
try:
    make_traces(read_settings({"HEADRACE_TRACES": "otlp"}), {})
except SettingsError as error:
    print(error)
"""


async def test_what_is_off_is_not_imported(tmp_path: Path) -> None:
    variables = {"PYTHONPATH": str(Path(__file__).parents[3])}
    async with child([sys.executable, "-c", OFF], variables, tmp_path) as process:
        output, _ = await process.communicate()
    imported, missing = output.decode().splitlines()
    assert imported == "[] imported"
    assert missing.startswith("HEADRACE_TRACES needs the extra 'traces'")
    assert "pip install 'headrace[traces]'" in missing
