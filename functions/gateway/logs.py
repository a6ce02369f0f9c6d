"""Structured log lines: one JSON object each, with the request id; never a prompt, an answer or a key."""

from aws_lambda_powertools import Logger

from core.record import Record
from core.store.schema import dumps, record_item

SPILL_MARKER = "ledger_spill"


class Logs:
    """Where the gateway writes what operators read.

    Args:
        level: The least severe level that is written.
    """

    def __init__(self, level: str) -> None:
        self._logger = Logger(service="headrace", level=level)

    def spill(self, record: Record) -> None:
        """Keep a record that the store did not take; `headrace ledger replay` reads these lines back."""
        item = dumps(record_item(record)).decode()
        self._logger.error("The store did not take a record", marker=SPILL_MARKER, record=item)

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
