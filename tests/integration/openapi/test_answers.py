"""Everything that the gateway sends is as the document describes it, to the last member."""

import ast
import json
import re
from fractions import Fraction
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import Json, Usage
from core.decision import Alternative, Decision, Objective
from core.errors import GatewayError, Interrupted, SilentUpstream
from core.events import Event, fold
from core.money import Charge, Cost
from core.record import AttemptRow, Record
from core.surfaces.decision import MOST_NAMED, listed_decision, recorded_decision, routing_object
from core.surfaces.errors import error_answer
from core.surfaces.models import model_list, model_object
from core.surfaces.openai_chat import StreamRenderer, render_reply, usage_object
from core.surfaces.surface import SURFACES, Surface
from tests.architecture.source import parse, python_files, references
from tests.support.catalogs import MODELS
from tests.support.event_streams import event_streams
from tests.support.frames import DONE, frames_of
from tests.support.schemas import component, document, faults

ID = "req-" + "0123456789abcdef" * 2
COUNTS = st.integers(0, 10**9)
SHARES = st.none() | st.floats(0, 1)
NAMES = st.text("abcdefghij/-", min_size=1, max_size=8)

USAGES = st.none() | st.builds(
    Usage,
    input_tokens=COUNTS,
    cached_tokens=COUNTS,
    cache_write_5m_tokens=COUNTS,
    input_image_tokens=COUNTS,
    output_tokens=COUNTS,
    reasoning_tokens=st.none() | COUNTS,
    estimated=st.booleans(),
)
CHARGES = st.none() | st.builds(lambda *parts: Charge(sum(parts), *parts), COUNTS, COUNTS, COUNTS)
USAGE_OBJECTS = st.builds(
    usage_object,
    USAGES,
    CHARGES,
    latency_ms=COUNTS,
    ttft_ms=st.none() | COUNTS,
    truncated=st.sampled_from([None, "max_tokens"]),
    dropped_params=st.lists(NAMES, max_size=2),
    structured_output_repair=st.sampled_from([None, "fence", "commentary", "reasked"]),
)
ATTEMPTS = st.builds(
    AttemptRow,
    model=NAMES,
    host=NAMES,
    outcome=st.sampled_from(["served", "rate_limited", "no_content"]),
    ms=COUNTS,
    cost=st.none() | st.builds(Cost, *[st.builds(Fraction, COUNTS)] * 3),
    charged=st.booleans(),
)
DECISIONS = st.builds(
    Decision,
    pick=NAMES,
    policy=NAMES,
    optimize=st.sampled_from(Objective),
    alternatives=st.lists(
        st.builds(Alternative, NAMES, SHARES, SHARES, st.none() | COUNTS, st.none() | COUNTS), max_size=12
    ).map(tuple),
    reasoning=NAMES,
    task=st.sampled_from([None, "chat", "long_context"]),
    task_confidence=SHARES,
    complexity=SHARES,
    decisiveness=st.floats(0, 1),
    excluded=st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple), max_size=2),
    thinking=st.sampled_from([None, "on"]),
    thinking_reason=st.sampled_from([None, "model_ignores_off"]),
    structured_output=st.sampled_from([None, "unverified"]),
    tool_memory=st.sampled_from([None, "missing"]),
)
ROUTING_OBJECTS = st.builds(
    lambda decision, attempts, truncated: routing_object(
        ID, 5, decision, model=decision.pick, attempts=attempts, truncated=truncated
    ),
    DECISIONS,
    st.lists(ATTEMPTS, max_size=2),
    st.sampled_from([None, "max_tokens"]),
)
RECORDS = st.builds(
    lambda decision, attempts, **members: Record(
        org="default",
        request_id=ID,
        key_id="key",
        created_ms=5,
        lease_until_ms=5,
        requested_model="small-alias",
        decision=routing_object(ID, 5, decision, model=decision.pick, attempts=attempts, full=True),
        attempts=tuple(attempts),
        **members,
    ),
    DECISIONS,
    st.lists(ATTEMPTS, max_size=2),
    surface=st.sampled_from(["routing", "plain"]),
    stream=st.booleans(),
    model=st.none() | NAMES,
    outcome=st.sampled_from(["open", "served", "failed", "caller_left"]),
    latency_ms=st.none() | COUNTS,
    ttft_ms=st.none() | COUNTS,
    finish_reason=st.sampled_from([None, "stop", "tool_calls"]),
    error_code=st.sampled_from([None, "deadline_exceeded"]),
)
FAILURES = st.sampled_from([Interrupted, SilentUpstream]).map(lambda kind: kind("It broke off."))


def wire(value: Json) -> Json:
    """As a client reads it."""
    return orjson.loads(orjson.dumps(value))


@given(event_streams(), USAGE_OBJECTS, ROUTING_OBJECTS, st.sampled_from(SURFACES), st.booleans())
def test_whole_answers(events: list[Event], usage: Json, routing: Json, surface: Surface, legacy: bool) -> None:
    answer = render_reply(
        surface,
        fold(events),
        response_id=surface.response_id(ID),
        created=5,
        model="lab/small",
        usage=usage,
        routing=routing,
        legacy_functions=legacy,
    )
    assert faults(f"{surface.name}.ChatCompletion", wire(answer), closed=True) == []


@given(
    event_streams(),
    USAGE_OBJECTS,
    ROUTING_OBJECTS,
    st.sampled_from(SURFACES),
    st.booleans(),
    st.booleans(),
    st.none() | FAILURES,
)
def test_frames_of_streams(
    events: list[Event],
    usage: Json,
    routing: Json,
    surface: Surface,
    include_usage: bool,
    legacy: bool,
    failure: GatewayError | None,
) -> None:
    renderer = StreamRenderer(
        surface,
        response_id=surface.response_id(ID),
        created=5,
        model="lab/small",
        include_usage=include_usage,
        legacy_functions=legacy,
    )
    data = renderer.opening(routing) + renderer.events(events)
    data += renderer.closing(usage) if failure is None else renderer.error(failure)
    for frame in frames_of(data):
        text = frame if frame == DONE else json.dumps(frame)
        assert faults(f"{surface.name}.Event", {"data": text}, closed=True) == []
        if frame != DONE:
            assert faults(frame_component(surface, frame["object"]), frame, closed=True) == []


@given(RECORDS, st.none() | USAGE_OBJECTS)
def test_recorded_decisions(record: Record, usage: Json) -> None:
    assert faults("RecordedDecision", wire(recorded_decision(record, usage)), closed=True) == []
    assert faults("ListedDecision", wire(listed_decision(record, usage)), closed=True) == []


def test_a_decision_that_ruled_out_more_models_than_it_names() -> None:
    excluded = {"no_vision": tuple(f"lab/{number}" for number in range(MOST_NAMED + 1))}
    decision = Decision("lab/small", "default", Objective.COST, (), "Why not.", excluded=excluded)
    made = routing_object(ID, 5, decision, model="lab/small", full=True)
    record = Record("default", ID, "key", 5, 5, "auto", "plain", False, made)
    assert faults("RecordedDecision", wire(recorded_decision(record, None)), closed=True) == []
    assert faults("ListedDecision", wire(listed_decision(record, None)), closed=True) == []


def frame_component(surface: Surface, kind: str) -> str:
    """The component that the stream's own description names for a kind of frame."""
    event: Any = document()["components"]["schemas"][f"{surface.name}.Event"]
    _, payload = event["properties"]["data"]["anyOf"]
    reference: str = payload["contentSchema"]["discriminator"]["mapping"][kind]
    return reference.rpartition("/")[2]


@given(MODELS)
def test_models(model: Any) -> None:
    made = wire(model_object(model, lambda each: ("model", "messages")))
    assert faults("Model", made, closed=True) == []
    assert faults("ModelList", orjson.loads(model_list([model], lambda each: ())), closed=True) == []


def kinds(kind: type[GatewayError]) -> list[type[GatewayError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in kinds(child))]


@pytest.mark.parametrize("kind", kinds(GatewayError), ids=lambda kind: kind.__name__)
def test_failures(kind: type[GatewayError]) -> None:
    status, headers, envelope = error_answer(kind("It went wrong.", retry_after_s=2.5), ID, "X-Inferbase-")
    if kind.type == "stream_error":
        assert faults("StreamFailure", wire(envelope["error"]), closed=True) == []
        return
    response = document()["components"]["responses"][str(status)]
    _, narrowed = response["content"]["application/json"]["schema"]["allOf"]
    allowed = narrowed["properties"]["error"]["properties"]
    assert faults("ErrorEnvelope", wire(envelope), closed=True) == []
    assert envelope["error"]["type"] == allowed["type"]["const"]
    assert envelope["error"]["code"] in allowed["code"]["enum"]
    assert set(headers) <= set(response["headers"])


def test_every_code_that_is_raised_is_documented_under_its_status() -> None:
    raised: dict[str, set[str]] = {}
    by_name = {kind.__name__: kind for kind in kinds(GatewayError)}
    for path in python_files("core", "functions"):
        if path.startswith(("core/providers/", "functions/gateway/openapi/")):
            continue
        for found in references(parse(path)):
            kind = by_name.get(found.name.rpartition(".")[2])
            if kind is None or found.call is None:
                continue
            given = [each.value for each in found.call.keywords if each.arg == "code"]
            written = {each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)}
            raised.setdefault(str(kind.status), set()).update(written or {kind.default_code})
    responses = document()["components"]["responses"]
    stream = component("StreamFailure")["properties"]["code"]["enum"]
    assert len(raised) > 8
    for status, codes in raised.items():
        assert codes <= {*re.findall(r"- `(\w+)`", responses[status]["description"]), *stream}, status
