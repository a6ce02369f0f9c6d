"""Each request leaves one line in the log, of one JSON object, under the id that its caller was told."""

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from functions.gateway.compose import Gateway
from functions.gateway.logs import Logs
from functions.settings import read_settings
from tests.support.observed_stage import URL, set_stage

ALWAYS = {"level", "message", "timestamp", "service"}


def lines_in(text: io.StringIO) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.getvalue().splitlines()]
    text.seek(0)
    text.truncate()
    return lines


async def test_what_the_line_says(tmp_path: Path) -> None:
    text = io.StringIO()
    # A name of its own, since loggers are shared by name.
    async with set_stage(tmp_path, before=[Logs("INFO", "test-logs", text)]) as stage:
        response, told = await stage.told_of("first fails", stream=True)
        (line,) = lines_in(text)
        record = told.record
        assert record is not None
        assert record.charge is not None
        assert {name: value for name, value in line.items() if name not in ALWAYS} == {
            "request_id": response.headers["x-request-id"],
            "method": "POST",
            "route": URL,
            "surface": "plain",
            "org": "default",
            "status": 200,
            "outcome": "served",
            "key_id": record.key_id,
            "model": "lab/small",
            "stream": True,
            "attempts": 2,
            "latency_ms": record.latency_ms,
            "ttft_ms": record.ttft_ms,
            "cost_micros": record.charge.total,
        }
        assert (line["level"], line["message"], line["service"]) == ("INFO", "Request", "test-logs")
        assert (
            datetime.strptime(line["timestamp"], "%Y-%m-%d %H:%M:%S,%f%z").timestamp() == int(told.ended * 1000) / 1000
        )
        response, _ = await stage.told_of(headers={"authorization": "Bearer hr_typed"})
        (line,) = lines_in(text)
        assert line["request_id"] == response.json()["request_id"]
        assert (line["outcome"], line["error_class"], line["error_code"]) == ("refused", "caller", "invalid_api_key")
        assert line["latency_ms"] >= 0
        assert "model" not in line
        await stage.told_of("cut", stream=True)
        (line,) = lines_in(text)
    assert (line["status"], line["outcome"], line["error_code"]) == (200, "interrupted", "interrupted")


def test_who_writes_them(tmp_path: Path) -> None:
    """The gateway does by itself, unless the level or another journal forbids it."""

    def observers(level: str) -> int:
        return len(Gateway(read_settings({"HEADRACE_LOG_LEVEL": level}), {}).app.observers)

    assert [observers(level) for level in ("DEBUG", "INFO", "WARNING", "ERROR")] == [1, 1, 0, 0]
