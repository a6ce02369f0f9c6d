"""Metrics in CloudWatch's embedded metric format: one JSON line a request, which CloudWatch Logs turns into metrics.

Names, units and dimensions are documented in docs/observability.md, and alarms are written against them. The format is
described in "Specification: Embedded metric format" (Amazon CloudWatch user guide, read 2026-12-01).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import orjson
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from functions.gateway.finished import Finished

NAMESPACE: Final = "Headrace"

_Metric: TypeAlias = tuple[str, MetricUnit, float | None]


def print_line(line: str) -> None:
    """Write a line to standard output now."""
    print(line, flush=True)


class Metrics:
    """Writes the metrics of each request.

    Args:
        service: The value of the dimension `Service`.
        write: Takes each line, without its end.
    """

    def __init__(self, service: str, write: Callable[[str], None] = print_line) -> None:
        self._service = service
        self._write = write

    def finished(self, request: Finished) -> None:
        """Write the line of a request that is over."""
        self._write(orjson.dumps(document(request, self._service)).decode())


def document(request: Finished, service: str) -> Mapping[str, Any]:
    """What is written of a request: its metrics, and beside them the properties by which its line is found."""
    record, failed = request.record, request.error_class
    dimensions = {"Service": service}
    emf = _serialized(
        dimensions,
        [
            ("Requests", MetricUnit.Count, 1),
            ("Errors", MetricUnit.Count, 0 if failed is None else 1),
            ("Fallbacks", MetricUnit.Count, request.fallbacks),
            ("LedgerSpills", MetricUnit.Count, 0 if request.outcome is None else request.outcome.spills),
            ("TimeToFirstToken", MetricUnit.Milliseconds, None if record is None else record.ttft_ms),
            ("Latency", MetricUnit.Milliseconds, None if record is None else record.latency_ms),
            ("Cost", MetricUnit.NoUnit, None if record is None or record.charge is None else record.charge.total),
        ],
    )
    directives = [*emf["_aws"]["CloudWatchMetrics"]]
    if failed is not None:
        # By class it is errors alone that are counted: each dimension set is a metric of its own, and is billed.
        dimensions["Class"] = failed
        directives += _serialized(dimensions, [("Errors", MetricUnit.Count, 1)])["_aws"]["CloudWatchMetrics"]
    properties = {
        "request_id": request.request_id,
        "route": request.route,
        "surface": request.surface,
        "model": None if record is None else record.model,
        "outcome": request.result,
        "error_code": None if request.error is None else request.error.code,
    }
    written = {name: value for name, value in properties.items() if value is not None}
    timing = {"Timestamp": round(request.ended * 1000), "CloudWatchMetrics": directives}
    return {**emf, **dimensions, **written, "_aws": timing}


def _serialized(dimensions: Mapping[str, str], metrics: Iterable[_Metric]) -> Mapping[str, Any]:
    # Nothing is shared between requests: many may be under way in one process.
    emf = EphemeralMetrics(namespace=NAMESPACE, service="")
    for name, value in dimensions.items():
        emf.add_dimension(name, value)
    for metric, unit, amount in metrics:
        if amount is not None:
            emf.add_metric(metric, unit, amount)
    return {**emf.serialize_metric_set()}
