"""docs/observability.md names everything that is written of a request, and nothing that is not."""

import re
from dataclasses import replace
from pathlib import Path

from core.catalog.model import Auth, Format, Vendor
from core.chat import Usage
from core.errors import InternalError
from core.money import Charge
from core.record import AttemptRow, Record, settled
from core.settlement import Outcome
from functions.gateway.finished import Finished
from functions.gateway.logs import request_line
from functions.gateway.metrics import document
from functions.gateway.traces import client_attributes, place, server_attributes

TEXT = (Path(__file__).parents[3] / "docs/observability.md").read_text("utf-8")
# What every line has, and what metrics are wrapped in.
EVERYWHERE = {"level", "message", "timestamp", "service", "_aws", "Service", "Class"}


def everything() -> tuple[Finished, AttemptRow]:
    """A request of which all is known that can be."""
    usage = Usage(10, output_tokens=3, reasoning_tokens=1)
    row = AttemptRow("lab/small", "lab/small-upstream", "served", 10, usage=usage, upstream_status=200)
    record = settled(
        Record("acme", "req-1", "key-1", 1_000, 2_000, "auto", "plain", True, decision={"task": "chat"}),
        outcome="served",
        attempts=(row,),
        usage=usage,
        charge=Charge(5, 2, 3),
        settled_ms=1_100,
        ttft_ms=50,
        model="lab/small",
        finish_reason="stop",
    )
    request = Finished("req-1", "POST", "/v1/chat/completions", 200, 1.0, 2.0, "plain", "acme", InternalError("no"))
    return replace(request, outcome=Outcome(record, None, (1_050,), 0), replay_of="req-0"), row


def section(title: str) -> str:
    """A part of the document, under its heading."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def named(text: str, pattern: str) -> set[str]:
    """What stands in backquotes and looks like that."""
    return {name for name in re.findall(r"`([^`\n]+)`", text) if re.fullmatch(pattern, name)}


def test_metrics() -> None:
    request, _ = everything()
    written = document(request, "shop").keys() - EVERYWHERE
    assert written <= named(section("Metrics"), r"\w+")
    assert named(section("Metrics"), r"[A-Z][A-Za-z]+") - {"Headrace", "Service"} <= written


def test_log_lines() -> None:
    request, _ = everything()
    written = request_line(request, "shop").keys() - EVERYWHERE
    assert written <= named(section("Log lines"), r"\w+")


def test_spans() -> None:
    request, row = everything()
    assert request.record is not None
    vendor = Vendor(name="lab", format=Format.OPENAI, base_url="https://lab.test", auth=Auth.NONE, key_env=None)
    written = {
        *server_attributes(request),
        *client_attributes(request.record, row, "small"),
        *place("lab", vendor),
    }
    assert written == named(section("Traces"), r"[a-z_]+(\.[a-z_]+)+") - {"url.path"}
