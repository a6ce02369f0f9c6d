"""Finds the records that the gateway spilled into its log, in whatever form the log was saved.

It reads JSON lines as they were written, with or without something before them (exports to S3, `aws logs tail`), the
JSON of `aws logs filter-log-events` and `aws logs get-query-results`, and the JSON and CSV that Logs Insights saves;
each also compressed with gzip (Amazon CloudWatch Logs user guide, read 2026-11-30).
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from core.errors import StoreUnavailable
from core.record import Record
from core.store.schema import loads, record_value
from functions.gateway.logs import SPILL_MARKER

_GZIP: Final = b"\x1f\x8b"
_MARKER: Final = "marker"
_RECORD: Final = "record"
_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A place that has the marker and no record that can be read. `place` counts such places from 1."""

    place: int
    reason: str


def spilled(data: bytes) -> Iterator[Record | Unreadable]:
    """What was spilled, in the order of the file.

    Raises:
        OSError: It is compressed, and damaged; or it is nested too deeply, or a table that cannot be read.
    """
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error) as error:
            raise OSError(f"the log is compressed, and damaged: {error}") from None
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        for place, found in enumerate(_in_file(text), 1):
            yield _read(found, place)
    except csv.Error as error:
        raise OSError(f"the log looks like CSV, and cannot be read: {error}") from None


def _in_file(text: str) -> Iterator[Any]:
    whole = _json(text) if text.lstrip()[:1] in ("{", "[") else None
    if whole is not None:
        yield from _in_value(whole)
    elif text.startswith(("@", '"@', _MARKER, f'"{_MARKER}', _RECORD, f'"{_RECORD}')):
        # Records are long: the usual limit of a field is 128 KiB.
        csv.field_size_limit(2**31 - 1)
        for row in csv.DictReader(io.StringIO(text, newline="")):
            yield from _in_row(row)
    else:
        for line in text.splitlines():
            yield from _in_value(line)


def _in_row(row: dict[str, Any], depth: int = 0) -> Iterator[Any]:
    """Of a table that has the fields of the log line as columns, or the whole line in one of them."""
    if row.get(_RECORD) and row.get(_MARKER, SPILL_MARKER) == SPILL_MARKER:
        yield row[_RECORD]
    else:
        yield from _in_value([*row.values()], depth + 1)


def _in_value(value: Any, depth: int = 0) -> Iterator[Any]:
    """The spilled records anywhere within a value, as they were written: text, or what became of it."""
    if depth > _DEEPEST:
        raise OSError("the log cannot be read: it is nested too deeply")
    match value:
        case str() if SPILL_MARKER in value and value != SPILL_MARKER:
            inner = _json(value[max(0, value.find("{")) :])
            if inner is None:
                yield None
            else:
                yield from _in_value(inner, depth + 1)
        case {"marker": marker, **rest} if marker == SPILL_MARKER:
            yield rest.get(_RECORD)
        case dict():
            yield from _in_value([*value.values()], depth + 1)
        case list() if fields := _fields(value):
            yield from _in_row(fields, depth + 1)
        case list():
            for each in value:
                yield from _in_value(each, depth + 1)
        case _:
            pass


def _fields(value: list[Any]) -> dict[str, Any]:
    """A row of Logs Insights as its API gives it: a list of names and values."""
    pairs = [each for each in value if isinstance(each, dict) and each.keys() >= {"field", "value"}]
    return {each["field"]: each["value"] for each in pairs} if len(pairs) == len(value) else {}


def _json(text: str) -> Any:
    """The JSON that a text is, or None."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _read(found: Any, place: int) -> Record | Unreadable:
    try:
        if isinstance(found, str):
            return loads(found, record_value)
        # Some exports open up JSON within JSON.
        return loads(orjson.dumps(found), record_value)
    except StoreUnavailable as error:
        return Unreadable(place, error.detail)
