"""What the arithmetic needs of the gateway: processor time as the bench of latency measured it, memory, log lines, and
what a store is asked."""

import asyncio
import contextlib
import io
import math
import resource
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import orjson

from bench.cost.arithmetic import Figures
from bench.growth.requests import parallel
from bench.in_process import KEY, ORGANISATION, InProcess, request_body
from bench.prompts import text
from core.store.dynamodb import DynamoStore
from functions.rollup.handler import RollupHandler
from tests.support.ministack import Ministack, running_ministack
from tests.support.table_stream import to_be_counted

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]
Item: TypeAlias = Mapping[str, Mapping[str, Any]]

INDEX_WRITES: Final = 4
"""Of the ledger's two indexes, for one record: by_org when it is opened; by_lease when it is opened, settled, counted.
Nothing is written to an index whose attributes stay as they are (DynamoDB Developer Guide, "Global secondary indexes",
read 2026-11-30)."""

PLATFORM_LOG_BYTES: Final = 330 + 4 * 26
"""What Lambda itself logs of an invocation in plain text (START, END, REPORT), and 26 bytes for each event."""

COUNTING_S: Final = 0.05
COUNTING_MB: Final = 512
"""Assumed of the function that counts: as long for each record, as if every batch held one."""

LATENCIES: Final = Path("docs/performance.json")
"""What `python -m bench.gateway` measured last, over sockets."""


def measured() -> Figures:
    """All figures, on this machine."""
    with asyncio.Runner() as runner:
        run = runner.run
        log_bytes = _logged(run)
        (streams,) = parallel((64,), run)
        stream_mb = (streams.samples[0].bytes or 0) / 64 / 1e6
        write_units = _writes(run)
    request_cpu_s, chunk_cpu_s = _processor()
    return Figures(
        request_cpu_s=request_cpu_s,
        chunk_cpu_s=chunk_cpu_s,
        write_units=write_units,
        log_bytes=log_bytes + PLATFORM_LOG_BYTES,
        resident_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024,
        stream_mb=stream_mb,
        counting_s=COUNTING_S,
        counting_mb=COUNTING_MB,
    )


def _processor() -> tuple[float, float]:
    """The processor's seconds for a request, of a server with DynamoDB behind it, and for a chunk of a slow stream."""
    rows = {(row["workload"], row["target"]): row for row in orjson.loads(LATENCIES.read_bytes())}
    request_us: float = rows["1 KB, whole answer", "Headrace, DynamoDB"]["cpu_busy_us"]
    chunk_us: float = rows["50 chunks, 10 ms apart", "Headrace"]["cpu_chunk_us"]
    return request_us / 1e6, chunk_us / 1e6


def _logged(run: Run) -> int:
    """Bytes logged of a request."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        run(InProcess(logs=True).post(request_body(text(1_000), model="auto")))
    return len(said.getvalue().encode())


def _writes(run: Run) -> float:
    """Write units of one request without limits, from its opening to its place in the totals."""
    with TemporaryDirectory() as folder, running_ministack(Path(folder)) as server:
        client, units = server.client(), list[int]()
        tables = server.tables(client)
        store = DynamoStore(*tables, client=lambda: client)
        run(store.save_organisation(ORGANISATION))
        run(store.save_key(KEY))
        with _counted(client, units):
            run(InProcess(store=store).post(request_body(model="auto")))
            _count_settled(server, store, tables[1])
        run(store.close())
    return sum(units) + INDEX_WRITES


def _count_settled(server: Ministack, store: DynamoStore, table: str) -> None:
    RollupHandler(lambda: store)({"Records": to_be_counted(server, table)}, None)


@contextlib.contextmanager
def _counted(client: Any, units: list[int]) -> Iterator[None]:
    """Note the units of every write to tables: each begun KB of the item as it is then, twice in a transaction."""

    def put(params: Mapping[str, Any], **_: Any) -> None:
        units.append(_units(params["Item"]))

    def update(params: Mapping[str, Any], **_: Any) -> None:
        units.append(_units_there(client, params))

    def transact(params: Mapping[str, Any], **_: Any) -> None:
        units.extend(2 * _units_there(client, action["Update"]) for action in params["TransactItems"])

    heard = {"PutItem": put, "UpdateItem": update, "TransactWriteItems": transact}
    for name, hear in heard.items():
        client.meta.events.register(f"provide-client-params.dynamodb.{name}", hear)
    try:
        yield
    finally:
        for name, hear in heard.items():
            client.meta.events.unregister(f"provide-client-params.dynamodb.{name}", hear)


def _units_there(client: Any, update: Mapping[str, Any]) -> int:
    """Of an item that is about to be changed, with what it is given."""
    found = client.get_item(TableName=update["TableName"], Key=update["Key"]).get("Item", {})
    given = update.get("ExpressionAttributeValues", {})
    return _units(found) if found else _units({**update["Key"], **given})


def _units(item: Item) -> int:
    """DynamoDB Developer Guide, "DynamoDB item sizes and formats", read 2026-11-30: names and values; a number takes
    a byte for two digits and one more."""
    size = 0
    for name, value in item.items():
        ((kind, held),) = value.items()
        size += len(name.encode())
        size += (
            len(held) if kind == "B" else math.ceil(len(str(held)) / 2) + 1 if kind == "N" else len(str(held).encode())
        )
    return math.ceil(size / 1_024)
