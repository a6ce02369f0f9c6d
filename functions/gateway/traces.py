"""Spans of requests, sent to an OpenTelemetry collector: one for each request, and one for each attempt at a host.

They are made when the request is over, from what is known of it then, so that a request costs no more while it runs.
Names follow "Semantic conventions for generative client AI spans" (open-telemetry/semantic-conventions-genai on GitHub,
status Development) and "Semantic conventions for HTTP spans" 1.41, both read 2026-12-01. A caller's trace is continued;
it is never told to hosts. Nothing but this module imports OpenTelemetry's SDK, and it is imported where traces are on.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from core.catalog.model import Vendor
from core.record import AttemptRow, Record
from functions.gateway.finished import Finished

EXPORT_S: Final = 2.0
"""How long a batch may take to be sent: on Lambda, a request's environment waits for it."""

# The conventions' names of vendors, where they are not ours.
_PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex": "gcp.vertex_ai",
    "vertex-project": "gcp.vertex_ai",
    "xai": "x_ai",
}
_OF_BEDROCK: Final = "bedrock-"
_PORTS: Final = {"http": 80, "https": 443}

_Attributes = dict[str, AttributeValue]


class Traces:
    """Makes the spans of each request and hands them to a thread that sends them in batches.

    Args:
        endpoint: Where the collector takes spans, as OTLP over HTTP.
        service: What the spans call this installation.
        vendors: The catalog's vendors, by name.
        export_s: How long a batch may take to be sent, in seconds.
    """

    def __init__(self, endpoint: str, service: str, vendors: Mapping[str, Vendor], export_s: float = EXPORT_S) -> None:
        # Beside the application's own provider, if it has one: nothing here is process-wide.
        resource = Resource.create({"service.name": service})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=export_s)))
        self._tracer = self._provider.get_tracer("headrace")
        self._callers = TraceContextTextMapPropagator()
        self._vendors = vendors

    def finished(self, request: Finished) -> None:
        """Make the spans of a request that is over."""
        name = request.method if request.route is None else f"{request.method} {request.route}"
        span = self._tracer.start_span(
            name,
            self._callers.extract({} if request.traceparent is None else {"traceparent": request.traceparent}),
            SpanKind.SERVER,
            server_attributes(request),
            start_time=round(request.started * 1e9),
        )
        if request.error_class in ("gateway", "upstream"):
            span.set_status(Status(StatusCode.ERROR))
        if request.outcome is not None:
            record = request.outcome.record
            for row, ended_ms in zip(record.attempts, request.outcome.ended_ms, strict=True):
                self._attempt(span, record, row, ended_ms)
        span.end(round(request.ended * 1e9))

    def flush(self) -> None:
        """Send what was made; blocks until that is done, or given up."""
        self._provider.force_flush()

    def close(self) -> None:
        """Send the rest, and stop; blocks."""
        self._provider.shutdown()

    def _attempt(self, parent: Span, record: Record, row: AttemptRow, ended_ms: int) -> None:
        vendor, _, model = row.host.partition("/")
        span = self._tracer.start_span(
            f"chat {model}",
            set_span_in_context(parent),
            SpanKind.CLIENT,
            {**client_attributes(record, row, model), **place(vendor, self._vendors.get(vendor))},
            start_time=(ended_ms - row.ms) * 1_000_000,
        )
        if "error.type" in _failure(row):
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended_ms * 1_000_000)


def server_attributes(request: Finished) -> _Attributes:
    """What the span of a request says; not the tokens, which its attempts' spans have."""
    record = request.record
    attributes: dict[str, AttributeValue | None] = {
        "http.request.method": request.method,
        "http.route": request.route,
        "http.response.status_code": request.status,
        "error.type": None if request.error is None else request.error.code,
        "headrace.request_id": request.request_id,
        "headrace.surface": request.surface,
        "headrace.org": request.org,
        "headrace.outcome": request.result,
    }
    if record is not None:
        attributes["headrace.model"] = record.model
        attributes["headrace.task"] = record.decision.get("task")
        attributes["headrace.fallbacks"] = request.fallbacks
        attributes["headrace.ttft_ms"] = record.ttft_ms
        attributes["headrace.cost_micros"] = None if record.charge is None else record.charge.total
    return _known(attributes)


def client_attributes(record: Record, row: AttemptRow, upstream_model: str) -> _Attributes:
    """What the span of an attempt says, beside whom it called."""
    attributes: dict[str, AttributeValue | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": upstream_model,
        "gen_ai.request.stream": True,
        "headrace.model": row.model,
        "headrace.own_key": row.own_key,
        "http.response.status_code": row.upstream_status,
    }
    if row.outcome == "served" and record.finish_reason is not None:
        attributes["gen_ai.response.finish_reasons"] = [record.finish_reason]
    if row.usage is not None and not row.usage.estimated:
        attributes["gen_ai.usage.input_tokens"] = row.usage.input_tokens
        attributes["gen_ai.usage.output_tokens"] = row.usage.output_tokens
        attributes["gen_ai.usage.cache_read.input_tokens"] = row.usage.cached_tokens
        attributes["gen_ai.usage.cache_creation.input_tokens"] = row.usage.written_tokens
        attributes["gen_ai.usage.reasoning.output_tokens"] = row.usage.reasoning_tokens
    return _known({**attributes, **_failure(row)})


def _failure(row: AttemptRow) -> _Attributes:
    """How an attempt failed; one whose caller left did not."""
    return {} if row.outcome in ("served", "caller_left") else {"error.type": row.outcome}


def place(name: str, vendor: Vendor | None) -> _Attributes:
    """Whom an attempt called, and where, in the conventions' words; other vendors keep the catalog's name for them."""
    provider = "aws.bedrock" if name.startswith(_OF_BEDROCK) else _PROVIDERS.get(name, name)
    if vendor is None:
        return {"gen_ai.provider.name": provider}
    url = urlsplit(vendor.base_url)
    port = url.port or _PORTS.get(url.scheme, 443)
    return {"gen_ai.provider.name": provider, "server.address": url.hostname or "", "server.port": port}


def _known(attributes: Mapping[str, AttributeValue | None]) -> _Attributes:
    return {name: value for name, value in attributes.items() if value is not None}
