"""Observers of requests: one that tests read, and a collector of spans."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1 import trace_pb2

from functions.gateway.finished import Finished
from tests.support.script import PATIENCE_S, Head, Received, Send, Step


class Watched:
    """What an observer was told, in order."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[Finished] = asyncio.Queue()

    def finished(self, request: Finished) -> None:
        self._told.put_nowait(request)

    async def next(self) -> Finished:
        """The next request that is told of."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._told.get()

    @property
    def is_empty(self) -> bool:
        """Whether all that was told was read."""
        return self._told.empty()


@dataclass(frozen=True, slots=True)
class SeenSpan:
    """A span as a collector reads it; ids are in hex, times in Unix nanoseconds."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    started: int
    ended: int
    failed: bool
    attributes: Mapping[str, Any]


ACCEPTED: Sequence[Step] = [Head(200, {"content-type": "application/x-protobuf"}, "length"), Send(b"")]
"""How a collector answers (OpenTelemetry Protocol Specification 1.9, "OTLP/HTTP Response", read 2026-12-01)."""


def spans_in(requests: Sequence[Received]) -> list[SeenSpan]:
    """The spans that a collector was sent, by when they started."""
    found: list[SeenSpan] = []
    for request in requests:
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans:
            for scope in resource.scope_spans:
                found += [_seen(span) for span in scope.spans]
    return sorted(found, key=lambda span: (span.started, span.kind != trace_pb2.Span.SPAN_KIND_SERVER))


def services_in(requests: Sequence[Received]) -> set[str]:
    """The services that the spans are of."""
    resources = [
        resource.resource
        for request in requests
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans
    ]
    named = [(each.key, each.value.string_value) for resource in resources for each in resource.attributes]
    return {value for key, value in named if key == "service.name"}


def _seen(span: trace_pb2.Span) -> SeenSpan:
    return SeenSpan(
        name=span.name,
        kind=span.kind,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        started=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        failed=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
        attributes={each.key: _value(each.value) for each in span.attributes},
    )


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind or "string_value")
