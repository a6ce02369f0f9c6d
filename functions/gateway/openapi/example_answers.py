"""Examples of answers, streams, models and failures, made by the code that makes the real ones."""

from typing import Any, Final

import orjson

from core.catalog.model import Abilities, Host, Model, StructuredOutput, Thinking
from core.chat import Choice, FinishReason, Reply, ToolCall, Usage
from core.decision import Alternative, Decision, Objective
from core.errors import GatewayError, Interrupted
from core.events import Event, Finished, TextDelta
from core.money import Prices, Rates, charge, price
from core.record import AttemptRow, Record
from core.surfaces.decision import LIST_PRICE, listed_decision, recorded_decision, routing_object
from core.surfaces.errors import error_answer
from core.surfaces.headers import DEFAULT_PREFIX
from core.surfaces.models import model_list, model_object
from core.surfaces.openai_chat import StreamRenderer, render_reply, usage_object
from core.surfaces.surface import Surface
from functions.gateway.openapi.example_requests import EXAMPLE_CALL, EXAMPLE_MODEL
from functions.gateway.openapi.failures import FAILURES

_REQUEST_ID: Final = "req-0193b1f04a6c7d2e8f3a5b6c7d8e9f01"
_CREATED: Final = 1_796_083_200
_SAID: Final = "Air scatters blue light far more than red, so blue comes from all over the sky."
_PIECES: Final = ("Air scatters", " blue light", " far more.")
_PRICES: Final = Prices(Rates(150_000, 400_000, cached=60_000))
_USAGE: Final = Usage(24, output_tokens=22)
_COST: Final = price(_USAGE, _PRICES)

_MODEL: Final = Model(
    id=EXAMPLE_MODEL,
    name="Gemma 4 31B",
    owner="google",
    hosts=(Host("a-vendor", "its-name-for-it", _PRICES),),
    context_tokens=131_072,
    max_output_tokens=40_960,
    abilities=Abilities(
        tools=True,
        parallel_tools=True,
        vision=True,
        json_mode=True,
        structured_output=StructuredOutput.VERIFIED,
        thinking=Thinking.OPTIONAL,
    ),
    aliases=("gemma-4-31b",),
    released="2026-04-02",
)
_SERVED: Final = AttemptRow(EXAMPLE_MODEL, "", "served", 806, _USAGE, _COST, charged=True)
_DECISION: Final = Decision(
    pick=EXAMPLE_MODEL,
    policy="default",
    optimize=Objective.BALANCED,
    alternatives=(Alternative(EXAMPLE_MODEL, score=1.0),),
    reasoning=f"The request named {EXAMPLE_MODEL}.",
)


def example_model() -> dict[str, Any]:
    """One entry of the list of models."""
    return model_object(_MODEL, _supported)


def example_models() -> dict[str, Any]:
    """A list of models."""
    listed: dict[str, Any] = orjson.loads(model_list([_MODEL], _supported))
    return listed


def example_answers(surface: Surface) -> dict[str, Any]:
    """Named examples of a surface's whole answers, as OpenAPI takes them."""
    function: Any = EXAMPLE_CALL["function"]
    call = ToolCall(str(EXAMPLE_CALL["id"]), function["name"], function["arguments"])
    texts = Choice(0, text=_SAID, finish=FinishReason.STOP)
    calls = Choice(0, tool_calls=(call,), finish=FinishReason.TOOL_CALLS)
    return {
        "text": {"summary": "A text", "value": _answer(surface, texts)},
        "tool_call": {"summary": "A tool call", "value": _answer(surface, calls)},
    }


def example_stream(surface: Surface) -> list[dict[str, Any]]:
    """The frames of a short stream, in order."""
    events: list[Event] = [*(TextDelta(0, piece) for piece in _PIECES), Finished(0, FinishReason.STOP)]
    renderer = _renderer(surface)
    return _frames(renderer.opening(_routing()) + renderer.events(events) + renderer.closing(_usage(ttft_ms=301)))


def example_break(surface: Surface) -> dict[str, Any]:
    """The last frame of a stream that failed."""
    failure = Interrupted("The answer broke off before its end. Send the request again.")
    return _frames(_renderer(surface).error(failure))[-1]


def example_decision() -> dict[str, Any]:
    """The decision for a request that was not made."""
    return _routing()


def example_recorded(surface: Surface) -> dict[str, Any]:
    """A decision as it was recorded."""
    return recorded_decision(_record(surface), _usage())


def example_decisions(surface: Surface) -> dict[str, Any]:
    """A list of decisions."""
    return {"object": "list", "data": [listed_decision(_record(surface), _usage())], "has_more": False}


def example_failures() -> dict[int, Any]:
    """A body for each status of a failure."""
    shown: dict[int, Any] = {}
    for kind, _, codes in FAILURES:
        code = next((code for code in codes if code == kind.default_code), next(iter(codes)))
        message, param = _MESSAGES[kind.status]
        shown[kind.status] = _envelope(kind(message, param=param, code=code))
    return shown


def _supported(model: Model) -> tuple[str, ...]:
    return ("max_completion_tokens", "messages", "model", "stream", "temperature", "tools")


def _answer(surface: Surface, choice: Choice) -> dict[str, Any]:
    return render_reply(
        surface,
        Reply((choice,)),
        response_id=surface.response_id(_REQUEST_ID),
        created=_CREATED,
        model=EXAMPLE_MODEL,
        usage=_usage(),
        routing=_routing(AttemptRow(EXAMPLE_MODEL, "", "served", 806, _USAGE, _COST, charged=True)),
    )


def _renderer(surface: Surface) -> StreamRenderer:
    identity = surface.response_id(_REQUEST_ID)
    return StreamRenderer(surface, response_id=identity, created=_CREATED, model=EXAMPLE_MODEL)


def _frames(data: bytes) -> list[dict[str, Any]]:
    lines = data.removesuffix(b"data: [DONE]\n\n").split(b"\n\n")
    return [orjson.loads(line.removeprefix(b"data: ")) for line in lines if line]


def _usage(ttft_ms: int | None = None) -> dict[str, Any]:
    return usage_object(_USAGE, charge([_COST], LIST_PRICE), latency_ms=812, ttft_ms=ttft_ms)


def _routing(*attempts: AttemptRow, full: bool = False) -> dict[str, Any]:
    return routing_object(_REQUEST_ID, _CREATED, _DECISION, model=EXAMPLE_MODEL, attempts=attempts, full=full)


def _record(surface: Surface) -> Record:
    return Record(
        org="",
        request_id=_REQUEST_ID,
        key_id="",
        created_ms=_CREATED * 1_000,
        lease_until_ms=_CREATED * 1_000,
        requested_model=EXAMPLE_MODEL,
        surface=surface.name,
        stream=False,
        decision=_routing(_SERVED, full=True),
        model=EXAMPLE_MODEL,
        outcome="served",
        latency_ms=812,
        finish_reason="stop",
    )


def _envelope(error: GatewayError) -> dict[str, Any]:
    return error_answer(error, _REQUEST_ID, DEFAULT_PREFIX)[2]


_MESSAGES: Final[dict[int, tuple[str, str | None]]] = {
    400: ("'temperature' must be from 0 to 2, not 3.", "temperature"),
    401: ("This API key is unknown, expired or revoked. Use another one.", None),
    402: (
        "This key may spend $5.00 a day. $4.98 are used or held for requests under way, and this request may come to "
        "$0.05. The limit starts anew at 2026-12-02T00:00:00Z. Ask for fewer tokens, or have the limit raised.",
        None,
    ),
    403: (f"This key may not use '{EXAMPLE_MODEL}'. GET /models lists what it may use.", "model"),
    404: (
        f"There is no model 'google/gemma-4-31b'. Did you mean {EXAMPLE_MODEL}? GET /models lists them all.",
        "model",
    ),
    405: ("/v1/models does not take POST. It takes GET, HEAD.", None),
    409: ("This Idempotency-Key was used with another body. Send each request under a key of its own.", None),
    413: ("The body is larger than 6 MB. Send images and files by URL, or fewer of them.", None),
    422: ("'temprature' is not a field of this API. Did you mean 'temperature'?", "temprature"),
    429: (
        "This key may send 60 requests a minute. 60 are used. The limit starts anew at 2026-12-01T10:05:00Z.",
        None,
    ),
    500: ("The gateway failed. The fault was logged under the request id.", None),
    502: ("The model failed to answer; the gateway tried 3 times. Name another, or ask again later.", None),
    503: ("No host of the model can be used at the moment. Try again, or name another model.", None),
    504: ("The request passed its deadline. Allow more time with routing.deadline_ms.", None),
}
