"""The operator's endpoints as operations: what each takes and answers."""

from collections.abc import Mapping
from typing import Any, Final

from functions.gateway.admin_call import ADMIN
from functions.gateway.openapi.admin_examples import ADMIN_EXAMPLES, PATH_EXAMPLES
from functions.gateway.openapi.admin_shapes import IDENTIFIER
from functions.gateway.openapi.shapes import ref, text

ADMIN_TAG: Final = (
    "Admin",
    "Organisations, keys, policies and plans, for the operator. They need the operator's key, which "
    "`headrace operator init` makes, and are not there where none is configured. "
    "Everything here is also a `headrace` command.",
)

OPERATOR_SCHEME: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "`Authorization: Bearer hro_...`, the operator's key, for the endpoints of the operator",
}

# Path, then for each method: the operation's id, its summary, the component of its body, that of its answer, its
# own failures beside those of all.
_ORG: Final = "/organisations/{org}"
_OPERATIONS: Final[Mapping[str, Mapping[str, tuple[str, str, str | None, str, tuple[int, ...]]]]] = {
    "/organisations": {
        "get": ("listOrganisations", "List the organisations", None, "OrganisationList", ()),
        "post": ("createOrganisation", "Make an organisation", "NewOrganisation", "Organisation", (409,)),
    },
    _ORG: {
        "get": ("getOrganisation", "Look at an organisation", None, "Organisation", ()),
        "patch": ("changeOrganisation", "Change an organisation", "OrganisationChanges", "Organisation", ()),
        "delete": ("deleteOrganisation", "Delete an organisation and all that is kept of it", None, "Deleted", ()),
    },
    f"{_ORG}/payments": {"post": ("payIn", "Add a payment to the credits", "Payment", "Organisation", (409,))},
    f"{_ORG}/keys": {
        "get": ("listKeys", "List an organisation's keys", None, "KeyList", ()),
        "post": ("createKey", "Make a key", "NewKey", "MadeKey", ()),
    },
    f"{_ORG}/keys/{{key_id}}": {
        "get": ("getKey", "Look at a key", None, "Key", ()),
        "patch": ("changeKey", "Change a key", "KeyChanges", "Key", (409,)),
        "delete": ("deleteKey", "Forget a key", None, "Deleted", ()),
    },
    f"{_ORG}/keys/{{key_id}}/rotate": {
        "post": ("rotateKey", "Make a key that takes another one's place", "Rotation", "MadeKey", (409,))
    },
    f"{_ORG}/keys/{{key_id}}/revoke": {"post": ("revokeKey", "Revoke a key", None, "Key", (409,))},
    f"{_ORG}/policies": {"get": ("listPolicies", "List an organisation's policies", None, "PolicyList", ())},
    f"{_ORG}/policies/{{policy}}": {
        "get": ("getPolicy", "Look at a policy", None, "Policy", ()),
        "put": ("putPolicy", "Write a policy", "PolicyRequest", "Policy", ()),
        "delete": ("deletePolicy", "Delete a policy", None, "Deleted", (409,)),
    },
    f"{_ORG}/own-keys": {"get": ("listOwnKeys", "List an organisation's own keys", None, "OwnKeyList", ())},
    f"{_ORG}/own-keys/{{vendor}}": {
        "put": ("putOwnKey", "Keep an organisation's own key at a vendor", "OwnKeyRequest", "OwnKey", ()),
        "delete": ("deleteOwnKey", "Forget an organisation's own key", None, "Deleted", ()),
    },
    f"{_ORG}/catalog": {
        "get": ("getCatalog", "Look at an organisation's own catalog", None, "Catalog", ()),
        "put": ("putCatalog", "Write an organisation's own catalog", "CatalogRequest", "Catalog", ()),
        "delete": ("deleteCatalog", "Take an organisation's own catalog away", None, "Deleted", ()),
    },
    "/plans": {"get": ("listPlans", "List the plans", None, "PlanList", ())},
    "/plans/{plan}": {
        "get": ("getPlan", "Look at a plan", None, "Plan", ()),
        "put": ("putPlan", "Write a plan", "PlanRequest", "Plan", ()),
        "delete": ("deletePlan", "Delete a plan", None, "Deleted", (409,)),
    },
    "/routing-decisions/{response_id}": {
        "get": ("getAnyDecision", "Look at a decision with its hosts", None, "OperatorsDecision", ())
    },
}

_DESCRIPTIONS: Final = {
    "deleteOrganisation": "Its keys, policies, records and totals go with it; they cannot be brought back.",
    "payIn": "One that is sent again counts once; another amount under the same name is refused.",
    "createKey": "The key is shown this once.",
    "changeKey": "What is left out stays; null takes the expiry, the models or the limits away.",
    "changeOrganisation": "What is left out stays; null takes the limits away.",
    "rotateKey": "The new key may do what the old one may, and counts on under limits where the old one stands. It is "
    "shown this once. While it lives, the old key cannot be rotated again.",
    "revokeKey": "Processes that know the key refuse it within a minute.",
    "deleteKey": "What it was used for stays in the records.",
    "putPolicy": "What is left out is as in the built-in policy.",
    "deletePolicy": "Not while a live key names it. Under the name `default` the built-in policy holds again.",
    "putOwnKey": "It is kept sealed and never shown again.",
    "putCatalog": "It is checked first: the message names line and field. It may add and change models at vendors that "
    "there are: their prices, limits, abilities, quality and aliases. It may not add or change vendors.",
    "putPlan": "What is left out is no bound. A built-in plan of that id gives way.",
    "deletePlan": "Not while an organisation has it. A built-in plan of that id holds again.",
    "getAnyDecision": "By either form of its id.",
}
_USUAL: Final = "For the operator alone."


def admin_paths(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Every path of the operator's; `headers` are those of every answer."""
    return {
        f"{ADMIN}{path}": {method: _operation(path, *told, headers=headers) for method, told in methods.items()}
        for path, methods in _OPERATIONS.items()
    }


def _operation(
    path: str,
    name: str,
    summary: str,
    body: str | None,
    answer: str,
    own: tuple[int, ...],
    *,
    headers: Mapping[str, Any],
) -> dict[str, Any]:
    found = {"schema": ref(answer), "example": ADMIN_EXAMPLES[answer]}
    refusals = {401, 404, 413, 500, 503, *own} | ({400, 422} if body else set())
    if name == "getAnyDecision":
        refusals.discard(413)
    made: dict[str, Any] = {
        "operationId": name,
        "tags": [ADMIN_TAG[0]],
        "summary": summary,
        "description": _DESCRIPTIONS.get(name, _USUAL),
        "security": [{"operator": []}],
        "responses": {
            "200": {"description": "Done.", "headers": dict(headers), "content": {"application/json": found}},
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(refusals)},
        },
    }
    if names := [part[1:-1] for part in path.split("/") if part.startswith("{")]:
        made["parameters"] = [_in_path(each, is_new=name in ("putPolicy", "putPlan")) for each in names]
    if body is not None:
        shown = {"schema": ref(body), "examples": {"usual": {"summary": "For example", "value": ADMIN_EXAMPLES[body]}}}
        made["requestBody"] = {
            "required": name != "rotateKey",
            "description": "What is to be.",
            "content": {"application/json": shown},
        }
    return made


def _in_path(name: str, *, is_new: bool) -> dict[str, Any]:
    about, example = PATH_EXAMPLES[name]
    is_named = is_new and name in ("policy", "plan")
    shape = text(about, pattern=IDENTIFIER) if is_named else text(about, least=1)
    return {"name": name, "in": "path", "required": True, "schema": shape, "example": example}
