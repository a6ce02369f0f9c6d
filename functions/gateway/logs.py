"""Structured log lines: one JSON object each, with the request id; never a prompt, an answer or a key."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TextIO

import orjson
from aws_lambda_powertools import Logger

from core.record import Record
from core.store.schema import dumps, record_item
from functions.gateway.finished import Finished

SPILL_MARKER = "ledger_spill"


def request_line(request: Finished, service: str) -> Mapping[str, object]:
    """What the log says of a request, with the logger's own names for what every line has; what is not known is not in
    it."""
    record, ended = request.record, datetime.fromtimestamp(request.ended, UTC)
    members: dict[str, object] = {
        "level": "INFO",
        "message": "Request",
        "timestamp": f"{ended:%Y-%m-%d %H:%M:%S},{ended.microsecond // 1000:03d}+0000",
        "service": service,
        "request_id": request.request_id,
        "method": request.method,
        "route": request.route,
        "surface": request.surface,
        "org": request.org,
        "status": request.status,
        "outcome": request.result,
        "error_class": request.error_class,
        "error_code": None if request.error is None else request.error.code,
        "replay_of": request.replay_of,
        "latency_ms": round((request.ended - request.started) * 1000),
    }
    if record is not None:
        members["key_id"] = record.key_id
        members["model"] = record.model
        members["stream"] = record.stream
        members["attempts"] = len(record.attempts)
        members["latency_ms"] = record.latency_ms
        members["ttft_ms"] = record.ttft_ms
        members["cost_micros"] = None if record.charge is None else record.charge.total
    return {name: value for name, value in members.items() if value is not None}


class Logs:
    """Where the gateway writes what operators read.

    Args:
        level: The least severe level that is written.
        service: What the lines call this installation.
        stream: Where they go; standard output by default.
    """

    def __init__(self, level: str, service: str = "headrace", stream: TextIO | None = None) -> None:
        self._level = level
        self._service = service
        self._stream = stream

    @cached_property
    def _logger(self) -> Logger:
        # Made when there is something to say: loggers are shared by name, and the first one settles where they write.
        return Logger(service=self._service, level=self._level, stream=self._stream)

    def finished(self, request: Finished) -> None:
        """Note a request that is over."""
        # Not by the logger: a line for each request has to be cheap, and this is a tenth of its work.
        line = orjson.dumps(request_line(request, self._service)).decode()
        print(line, file=self._stream, flush=True)

    def spill(self, record: Record) -> None:
        """Keep a record that the store did not take; `headrace ledger replay` reads these lines back."""
        item = dumps(record_item(record)).decode()
        self._logger.error(
            "The store did not take a record", request_id=record.request_id, marker=SPILL_MARKER, record=item
        )

    def unknown(self, variables: Sequence[str]) -> None:
        """Note variables that look like settings and are none, by their names."""
        self._logger.warning("Variables that are no settings have no effect", variables=variables)

    def drained(self, host: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """Note what an abandoned call cost us and nobody else."""
        self._logger.info(
            "An abandoned call was billed to its end",
            host=host,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
        )

    def fault(self, request_id: str, error: BaseException) -> None:
        """Note a fault of our own, with its stack."""
        self._logger.error("The gateway failed", request_id=request_id, exc_info=error)

    def attempt_failed(self, request_id: str, host: str, detail: str) -> None:
        """Note what an upstream said when it failed."""
        self._logger.warning("An attempt failed", request_id=request_id, host=host, detail=detail)
