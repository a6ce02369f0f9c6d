"""The endpoints as OpenAPI operations: what each takes, needs and answers."""

from collections.abc import Mapping
from typing import Any, Final

from core.idempotency import HEADER
from core.surfaces.decisions_question import LONGEST_LIST, USUAL_LIST
from core.surfaces.openai_chat.body import DEEPEST, MOST_VALUES
from core.surfaces.surface import Surface
from functions.gateway.incoming import LARGEST_BODY
from functions.gateway.openapi.admin import ADMIN_TAG
from functions.gateway.openapi.answer_headers import chat_headers, failure_cost, limit_headers
from functions.gateway.openapi.example_answers import (
    example_answers,
    example_decision,
    example_decisions,
    example_model,
    example_models,
    example_recorded,
)
from functions.gateway.openapi.example_requests import EXAMPLE_MODEL, example_requests
from functions.gateway.openapi.feedback import example_feedback, example_score
from functions.gateway.openapi.shapes import Schema, record, ref, text, whole, words
from functions.gateway.openapi.usage import USAGE_TAG, credits_operation, usage_operation

Operation = dict[str, Any]

CHAT: Final = "Chat"
DECISIONS: Final = "Decisions"
MODELS: Final = "Models"
HEALTH: Final = "Health"
TAGS: Final = (
    (CHAT, "One completion endpoint on two surfaces."),
    (DECISIONS, "Which model a request gets, and why."),
    (MODELS, "What can be asked."),
    USAGE_TAG,
    ADMIN_TAG,
    (HEALTH, "For load balancers and monitors. No key is needed, and nothing else is told."),
)

_NEEDS_KEY: Final[list[dict[str, list[str]]]] = [{"bearer": []}, {"apiKey": []}]
_MAY_HAVE_KEY: Final[list[dict[str, list[str]]]] = [{}, *_NEEDS_KEY]
_REQUEST_ID: Final = text("The id of the request, for questions about it.", pattern="^req-[0-9a-f]{32}$")

_IDEMPOTENCY_KEY: Final = {
    "name": HEADER,
    "in": "header",
    "schema": text(
        "A name for the request. Sent again within 24 hours with the same body it gives the same answer, without a "
        "second call or charge; answers are kept sealed for that.",
        pattern="^[!-~]{1,255}$",
    ),
    "example": "order-4711-summary",
}

_LIMITS: Final = (
    f"JSON of at most {LARGEST_BODY // 2**20} MB and {MOST_VALUES:,} values, nested at most {DEEPEST} levels deep."
)

_SURFACES: Final = {
    "routing": (
        "On the routing surface",
        "A field that nobody documents is refused with 422, at any depth. The answer has the decision in `routing`; "
        "a stream has it in its first frame, and the usage in its last. `model` is the catalog id that served.",
    ),
    "plain": (
        "On the plain surface",
        "OpenAI's shapes and nothing else. A field that nobody documents is sent on as written to hosts that speak "
        "the OpenAI format; elsewhere `usage.dropped_params` names it. `model` is the name that the request gave.",
    ),
}


def paths(prefix: str, surfaces: tuple[Surface, ...]) -> dict[str, Any]:
    """Every path of the API.

    Args:
        prefix: What our own response headers begin with.
        surfaces: The surfaces, in the order to show them.
    """
    made: dict[str, Any] = {}
    for surface in surfaces:
        made[f"{surface.prefix}/chat/completions"] = {"post": _chat(surface, prefix)}
        made[f"{surface.prefix}/route"] = {"post": _route(surface, prefix)}
        made[f"{surface.prefix}/routing-decisions"] = {"get": _decisions(surface, prefix)}
        made[f"{surface.prefix}/routing-decisions/{{response_id}}"] = {"get": _decision(surface, prefix)}
        made[f"{surface.prefix}/routing-decisions/{{response_id}}/feedback"] = {"post": _feedback(surface, prefix)}
        reads = (_NEEDS_KEY, _failed(400, 401, 403, 500, 503))
        made[f"{surface.prefix}/usage"] = {"get": usage_operation(surface, prefix, common_headers(prefix), *reads)}
        reads = (_NEEDS_KEY, _failed(401, 403, 500, 503))
        made[f"{surface.prefix}/credits"] = {"get": credits_operation(surface, common_headers(prefix), *reads)}
        made[f"{surface.prefix}/models"] = {"get": _models(surface, prefix)}
        made[f"{surface.prefix}/models/{{model_id}}"] = {"get": _model(surface, prefix)}
    made["/healthz"] = {"get": _health(prefix, "isAlive", "Is the process up?", {})}
    made["/readyz"] = {"get": _health(prefix, "isReady", "Can requests be served?", _failed(503))}
    return made


def common_headers(prefix: str) -> dict[str, Any]:
    """The headers of every answer."""
    return {
        "x-request-id": {"required": True, "schema": _REQUEST_ID},
        f"{prefix}Request-Id": {"required": True, "schema": {**_REQUEST_ID, "description": "The same."}},
    }


def failure_headers(prefix: str) -> dict[str, Any]:
    """The headers of failures."""
    return {
        **common_headers(prefix),
        "Retry-After": {"schema": whole("Seconds after which a repeat can help.", low=1)},
        "x-should-retry": {"schema": words("false", about="No client should repeat this by itself; SDKs read it.")},
        **failure_cost(prefix),
        **limit_headers(),
    }


def _chat(surface: Surface, prefix: str) -> Operation:
    where, about = _SURFACES[surface.name]
    return {
        "operationId": f"{surface.name}ChatCompletion",
        "tags": [CHAT],
        "summary": f"Create a chat completion {where[0].lower()}{where[1:]}",
        "description": about,
        "security": _NEEDS_KEY,
        "parameters": [_IDEMPOTENCY_KEY],
        "requestBody": _body(surface),
        "responses": {
            "200": _answer(surface, prefix),
            **_failed(400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504),
        },
    }


def _body(surface: Surface) -> dict[str, Any]:
    content = {"schema": ref(f"{surface.name}.ChatRequest"), "examples": example_requests()}
    return {"required": True, "description": _LIMITS, "content": {"application/json": content}}


def _answer(surface: Surface, prefix: str) -> dict[str, Any]:
    return {
        "description": "The whole answer; with `stream: true` the events of it.",
        "headers": {
            **common_headers(prefix),
            **chat_headers(prefix),
        },
        "content": {
            "application/json": {
                "schema": ref(f"{surface.name}.ChatCompletion"),
                "examples": example_answers(surface),
            },
            "text/event-stream": {"schema": ref(f"{surface.name}.Event")},
        },
    }


def _route(surface: Surface, prefix: str) -> Operation:
    return {
        "operationId": f"{surface.name}Route",
        "tags": [DECISIONS],
        "summary": "Ask which model a request would get",
        "description": "Takes the body of a chat completion. No model is called, nothing is charged or recorded.",
        "security": _NEEDS_KEY,
        "requestBody": _body(surface),
        "responses": {
            "200": _found("The decision.", ref("Routing"), prefix, example_decision()),
            **_failed(400, 401, 403, 404, 413, 422, 500, 503),
        },
    }


def _decisions(surface: Surface, prefix: str) -> Operation:
    limit = whole(f"How many. Default: {USUAL_LIST}.", low=1, high=LONGEST_LIST)
    after = text(
        "The id of a decision, in either form: those before it in time are listed. Default: the newest are.",
        pattern="^(req|chatcmpl)-[0-9a-f]{32}$",
    )
    return {
        "operationId": f"{surface.name}ListDecisions",
        "tags": [DECISIONS],
        "summary": "List the decisions, newest first",
        "description": "Those of the key's organisation, of both surfaces. While `has_more` is true, the next page is "
        "`after` the last of this one.",
        "security": _NEEDS_KEY,
        "parameters": [
            {"name": "limit", "in": "query", "schema": limit, "example": 5},
            {"name": "after", "in": "query", "schema": after, "example": surface.response_id(f"req-{'0' * 32}")},
        ],
        "responses": {
            "200": _found("The decisions.", ref("DecisionList"), prefix, example_decisions(surface)),
            **_failed(400, 401, 500, 503),
        },
    }


def _decision(surface: Surface, prefix: str) -> Operation:
    example = example_recorded(surface)
    return {
        "operationId": f"{surface.name}GetDecision",
        "tags": [DECISIONS],
        "summary": "Look at one decision",
        "description": "With everything that it weighed, and what came of it.",
        "security": _NEEDS_KEY,
        "parameters": [_response_id(surface, example["request_id"])],
        "responses": {
            "200": _found("The decision.", ref("RecordedDecision"), prefix, example),
            **_failed(401, 404, 500, 503),
        },
    }


def _feedback(surface: Surface, prefix: str) -> Operation:
    request_id = example_recorded(surface)["request_id"]
    content = {"schema": ref("FeedbackRequest"), "examples": {"good": {"summary": "A score", "value": example_score()}}}
    return {
        "operationId": f"{surface.name}GiveFeedback",
        "tags": [DECISIONS],
        "summary": "Say how good an answer was",
        "description": "A second score takes the place of the first. `GET /models` shows what the scores come to; "
        "they move choices where a policy says so.",
        "security": _NEEDS_KEY,
        "parameters": [_response_id(surface, request_id)],
        "requestBody": {"required": True, "description": "A score.", "content": {"application/json": content}},
        "responses": {
            "200": _found("It is kept.", ref("Feedback"), prefix, example_feedback(request_id, EXAMPLE_MODEL)),
            **_failed(400, 401, 403, 404, 413, 422, 500, 503),
        },
    }


def _response_id(surface: Surface, request_id: str) -> dict[str, Any]:
    return {
        "name": "response_id",
        "in": "path",
        "required": True,
        "schema": text("The `id` of the answer, in the form of either surface.", least=1),
        "example": surface.response_id(request_id),
    }


def _models(surface: Surface, prefix: str) -> Operation:
    return {
        "operationId": f"{surface.name}ListModels",
        "tags": [MODELS],
        "summary": "List the models",
        "description": "Without a key the public catalog, with one the models that it may use.",
        "security": _MAY_HAVE_KEY,
        "responses": {
            "200": _found("The models.", ref("ModelList"), prefix, example_models()),
            **_failed(401, 500, 503),
        },
    }


def _model(surface: Surface, prefix: str) -> Operation:
    return {
        "operationId": f"{surface.name}GetModel",
        "tags": [MODELS],
        "summary": "Look at one model",
        "description": "By its id or one of its aliases. The slash of an id may be written as it is, or as `%2F`.",
        "security": _MAY_HAVE_KEY,
        "parameters": [
            {
                "name": "model_id",
                "in": "path",
                "required": True,
                "schema": text("The id or an alias.", least=1),
                "example": EXAMPLE_MODEL,
            }
        ],
        "responses": {
            "200": _found("The model.", ref("Model"), prefix, example_model()),
            **_failed(401, 404, 500, 503),
        },
    }


def _found(about: str, shape: Schema, prefix: str, example: object) -> dict[str, Any]:
    return {
        "description": about,
        "headers": common_headers(prefix),
        "content": {"application/json": {"schema": shape, "example": example}},
    }


def _health(prefix: str, name: str, summary: str, failed: Mapping[str, Any]) -> Operation:
    body = {"schema": record({"status": words("ok")}, ("status",)), "example": {"status": "ok"}}
    yes = {"description": "Yes.", "headers": common_headers(prefix), "content": {"application/json": body}}
    return {
        "operationId": name,
        "tags": [HEALTH],
        "summary": summary,
        "description": "200 means yes.",
        "security": [],
        "responses": {"200": yes, **failed},
    }


def _failed(*statuses: int) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}
