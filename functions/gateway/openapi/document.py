"""Puts the OpenAPI 3.1 document together. It describes the endpoints that there are, and nothing that is planned."""

from typing import Any, Final

from core.surfaces.surface import SURFACES
from functions.gateway.openapi.admin import OPERATOR_SCHEME, admin_paths
from functions.gateway.openapi.admin_shapes import admin_schemas
from functions.gateway.openapi.answers import answer_schemas, shared_answer_schemas
from functions.gateway.openapi.decision import decision_schemas
from functions.gateway.openapi.example_answers import example_failures
from functions.gateway.openapi.example_requests import EXAMPLE_MODEL
from functions.gateway.openapi.failures import failure_responses, failure_schemas
from functions.gateway.openapi.feedback import feedback_schemas
from functions.gateway.openapi.frames import frame_schemas, shared_frame_schemas
from functions.gateway.openapi.models import model_schemas
from functions.gateway.openapi.operations import TAGS, common_headers, failure_headers, paths
from functions.gateway.openapi.preferences import preference_schemas
from functions.gateway.openapi.request import request_schemas
from functions.gateway.openapi.shapes import Schema
from functions.gateway.openapi.usage import usage_schemas

VERSION: Final = "1"

_ABOUT: Final = (
    "Point any OpenAI SDK at it: the base URL is this server's with `/v1`, or with `/api/v1/inference`, and the key "
    "is one of this gateway.\n\n"
    "```python\n"
    "from openai import OpenAI\n"
    'client = OpenAI(base_url="https://your-gateway/v1", api_key="hr_...")\n'
    "answer = client.chat.completions.create(\n"
    f'    model="{EXAMPLE_MODEL}", messages=[{{"role": "user", "content": "Why is the sky blue?"}}]\n'
    ")\n"
    "print(answer.choices[0].message.content)\n"
    "```\n\n"
    "The two surfaces take the same requests and bill alike. The plain one, `/v1`, answers in OpenAI's shapes and "
    "nothing else. The routing one, `/api/v1/inference`, also tells how the model was chosen, and refuses what "
    "nobody documents.\n\n"
    "Every failure has one form: `error` with `message`, `type`, `param` and `code`, and a `request_id`."
)


def openapi_document(header_prefix: str) -> dict[str, Any]:
    """The document.

    Args:
        header_prefix: What our own response headers begin with.
    """
    return {
        "openapi": "3.1.1",
        "info": {"title": "Headrace", "version": VERSION, "description": _ABOUT},
        # Beside the document itself, whatever stage or path it is served under.
        "servers": [{"url": ".", "description": "This gateway."}],
        "tags": [{"name": name, "description": about} for name, about in TAGS],
        "paths": paths(header_prefix, SURFACES) | admin_paths(common_headers(header_prefix)),
        "components": {
            "schemas": _schemas(),
            "responses": failure_responses(failure_headers(header_prefix), example_failures()),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer hr_...`"},
                "operator": OPERATOR_SCHEME,
                "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same key."},
            },
        },
    }


def _schemas() -> dict[str, Schema]:
    made: dict[str, Schema] = {}
    for surface in SURFACES:
        made |= request_schemas(surface)
    made |= preference_schemas()
    for surface in SURFACES:
        made |= answer_schemas(surface)
    made |= shared_answer_schemas()
    made |= decision_schemas() | feedback_schemas()
    for surface in SURFACES:
        made |= frame_schemas(surface)
    made |= shared_frame_schemas() | failure_schemas() | model_schemas()
    return {**made, **usage_schemas(), **admin_schemas()}
