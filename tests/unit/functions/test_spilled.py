"""Spilled records are found in whatever form a log was saved, and nowhere else."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from core.record import Record
from functions.gateway.logs import SPILL_MARKER, Logs
from functions.local.spilled import Unreadable, spilled
from tests.contracts.values import final, open_record

RECORDS = [open_record(1), final(open_record(1)), final(open_record(2, decision={"reasoning": 'a "quoted", line\n'}))]
OTHER = {"level": "INFO", "message": "An attempt failed", "detail": "ledger_spil"}
AT = "2026-11-30T12:00:00.123Z"

Form = Callable[[list[str]], bytes]


def lines(written: list[str]) -> bytes:
    return "\n".join([json.dumps(OTHER), *written, "", "REPORT RequestId: 1 Duration: 5 ms"]).encode()


def with_times(written: list[str]) -> bytes:
    return "\n".join(f"{AT} {line}" for line in [json.dumps(OTHER), *written]).encode()


def filtered_events(written: list[str]) -> bytes:
    events = [{"logStreamName": "s", "timestamp": 1, "message": line} for line in [json.dumps(OTHER), *written]]
    return json.dumps({"events": events, "searchedLogStreams": []}, indent=1).encode()


def query_results(written: list[str]) -> bytes:
    rows = [
        [{"field": "@timestamp", "value": AT}, {"field": "@message", "value": line}, {"field": "@ptr", "value": "x"}]
        for line in written
    ]
    return json.dumps({"results": rows, "statistics": {"recordsMatched": 3.0}, "status": "Complete"}).encode()


def query_fields(written: list[str]) -> bytes:
    rows = [
        [{"field": "marker", "value": SPILL_MARKER}, {"field": "record", "value": json.loads(line)["record"]}]
        for line in written
    ]
    return json.dumps({"results": rows}).encode()


def insights_json(written: list[str]) -> bytes:
    """The console's export opens up messages that are JSON."""
    return json.dumps([{"@timestamp": AT, "@message": json.loads(line)} for line in written]).encode()


def insights_json_throughout(written: list[str]) -> bytes:
    opened = [json.loads(line) for line in written]
    return json.dumps([{"@message": {**line, "record": json.loads(line["record"])}} for line in opened]).encode()


def insights_csv(written: list[str]) -> bytes:
    return table(["@timestamp", "@message"], [[AT, line] for line in [json.dumps(OTHER), *written]])


def insights_csv_of_fields(written: list[str]) -> bytes:
    return table(["record", "@timestamp"], [[json.loads(line)["record"], AT] for line in written])


def table(head: list[str], rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return ("\ufeff" + text.getvalue()).encode()


def compressed(written: list[str]) -> bytes:
    return gzip.compress(with_times(written))


def one_line(written: list[str]) -> bytes:
    return written[0].encode()


FORMS: list[Form] = [
    *(lines, with_times, filtered_events, query_results, query_fields, insights_json, insights_json_throughout),
    *(insights_csv, insights_csv_of_fields, compressed),
]


@pytest.fixture
def spill() -> Callable[[Record], str]:
    """Gives the line as the gateway itself writes it."""
    text = io.StringIO()
    # A name of its own each time, since loggers are shared by name.
    logs = Logs("ERROR", f"spills-{uuid4().hex}", text)

    def line_of(record: Record) -> str:
        logs.spill(record)
        return text.getvalue().splitlines()[-1]

    return line_of


@pytest.fixture
def written(spill: Callable[[Record], str]) -> list[str]:
    return [*map(spill, RECORDS)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_form_of_a_saved_log_is_read(written: list[str], form: Form) -> None:
    assert len(written) == len(RECORDS)
    assert [*spilled(form(written))] == RECORDS


def test_a_single_line_is_a_log_too(written: list[str]) -> None:
    assert [*spilled(one_line(written))] == RECORDS[:1]


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"{}", b"[]", b"nothing here", b'{"marker": "another"}', json.dumps(SPILL_MARKER).encode(), b"\xff"],
)
def test_where_nothing_was_spilled_nothing_is_found(data: bytes) -> None:
    assert [*spilled(data)] == []


@pytest.mark.parametrize(
    "line",
    [
        f'{{"marker": "{SPILL_MARKER}", "record": "{{}}"}}',
        f'{{"marker": "{SPILL_MARKER}", "record": "{{"}}',
        f'{{"marker": "{SPILL_MARKER}"}}',
        f'{{"marker": "{SPILL_MARKER}", "record": 7}}',
        f'{{"marker": "{SPILL_MARKER}", "rec',
    ],
)
def test_what_cannot_be_read_is_told_and_the_rest_is_found(written: list[str], line: str) -> None:
    found = [*spilled("\n".join([written[0], line, written[1]]).encode())]
    assert found[::2] == RECORDS[:2]
    unreadable: Any = found[1]
    assert isinstance(unreadable, Unreadable)
    assert (unreadable.place, "cannot be read" in unreadable.reason) == (2, True)


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8bnot really", gzip.compress(b"cut off")[:-9], gzip.compress(b"")[:10] + b"x"],
    ids=["no archive", "cut off", "no end"],
)
def test_a_damaged_archive_is_an_error(data: bytes) -> None:
    with pytest.raises(OSError, match=r"damaged|Unknown"):
        [*spilled(data)]


def test_a_record_that_holds_the_marker_is_one_record(spill: Callable[[Record], str]) -> None:
    record = open_record(3, requested_model=f'{SPILL_MARKER} "marker"')
    assert [*spilled(spill(record).encode())] == [record]
