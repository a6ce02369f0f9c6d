"""Log lines: one JSON object each, with Lambda's field names and without what an exception says."""

import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest

from functions.gateway.streaming import logs


@pytest.fixture
def output() -> Iterator[StringIO]:
    """What is logged, with the process's logging as it was put back afterwards."""
    root, names = logging.getLogger(), ("", "core", "functions")
    before = root.handlers[:], [logging.getLogger(name).level for name in names]
    stream = StringIO()
    logs.configure("INFO", stream)
    yield stream
    logging.captureWarnings(False)
    root.handlers[:] = before[0]
    for name, level in zip(names, before[1], strict=True):
        logging.getLogger(name).setLevel(level)


def lines(output: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_a_line_has_lambdas_fields(output: StringIO) -> None:
    token = logs.request_id.set("f00")
    logging.getLogger("functions.odd").info("said %s", "so", extra={"fields": {"status": 410}})
    logs.request_id.reset(token)
    logging.getLogger("functions.odd").info("again")
    first, second = lines(output)
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "level": "INFO",
        "message": "said so",
        "logger": "functions.odd",
        "requestId": "f00",
        "status": 410,
    }
    assert "requestId" not in second


def test_an_exception_is_named_and_placed_but_not_quoted(output: StringIO) -> None:
    try:
        raise ValueError("a prompt")
    except ValueError:
        logging.getLogger("functions.odd").exception("it failed")
    (line,) = lines(output)
    assert line["errorType"] == "ValueError"
    assert "test_logs.py" in line["stackTrace"][0]
    assert "a prompt" not in output.getvalue()


def test_the_code_of_others_is_logged_from_warnings_up(output: StringIO) -> None:
    other = logging.getLogger("somebody.else")
    other.info("GET https://example.com/?key=secret")
    other.warning("careful")
    assert [line["message"] for line in lines(output)] == ["careful"]


def test_a_message_of_several_lines_is_one_line(output: StringIO) -> None:
    logging.getLogger("functions.odd").info("a\nb")
    assert len(output.getvalue().splitlines()) == 1
