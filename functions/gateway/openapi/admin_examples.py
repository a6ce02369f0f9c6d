"""Examples of what operators write and read, made by the code that makes the real ones."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from core.chat import Json
from core.decision import Objective, Policy
from core.record import AttemptRow
from core.surfaces.admin.catalogs import catalog_object
from core.surfaces.admin.keys import key_object
from core.surfaces.admin.organisations import organisation_object, own_key_object
from core.surfaces.admin.plans import plan_object
from core.surfaces.admin.policies import policy_object
from core.surfaces.surface import ROUTING
from core.tenant import FREE_PLAN, Key, Limits, Organisation, OwnKey
from functions.gateway.openapi.example_answers import example_recorded
from functions.gateway.openapi.example_requests import EXAMPLE_MODEL

_MADE_MS: Final = 1_796_083_200_000
_TOKEN: Final = "hr_..."
_TOML: Final = """[[models]]
id = "acme/tuned"
context_tokens = 32768
max_output_tokens = 4096

[[models.hosts]]
vendor = "openai"
upstream_model = "ft:acme"
prices = { input = 3, output = 12 }
"""
_ORGANISATION: Final = Organisation(
    "acme", "Acme Ltd", _MADE_MS, markup=Fraction(1, 20), limits=Limits(month_micros=500_000_000)
)
_KEY: Final = Key(
    digest="",
    id="key_5f1c2a9be07d4468",
    org="acme",
    name="production",
    hint="x9Qz",
    created_ms=_MADE_MS,
    last_used_ms=_MADE_MS + 86_400_000,
    policies=("cheap", "default"),
    limits=Limits(minute_requests=600),
)
_POLICY: Final = Policy(name="cheap", optimize=Objective.COST, allow_models=(EXAMPLE_MODEL,))
_PLAN: Final = replace(FREE_PLAN, id="trial", name="Trial")
_OWN_KEY: Final = OwnKey("acme", "openai", "", "x9Qz", _MADE_MS)
_ATTEMPT: Final = AttemptRow(EXAMPLE_MODEL, f"lab/{EXAMPLE_MODEL.rpartition('/')[2]}", "served", 806)

PATH_EXAMPLES: Final = {
    "org": ("The organisation's id.", "acme"),
    "key_id": ("The key's id.", _KEY.id),
    "policy": ("The policy's name.", _POLICY.name),
    "plan": ("The plan's id.", _PLAN.id),
    "vendor": ("The vendor's name in the catalog.", _OWN_KEY.vendor),
    "response_id": ("The `id` of the answer, in the form of either surface.", "req-019ae6d3c8007a2f8d5b4c6e1f302a9b"),
}
"""What each name in a path is, with an example."""


def _listed(*data: Json) -> Json:
    return {"object": "list", "data": [*data]}


def _decision() -> Json:
    shown = example_recorded(ROUTING)
    host = {"host": _ATTEMPT.host, "upstream_status": None, "upstream_code": None}
    attempts = [{**attempt, **host} for attempt in shown["attempts"]]
    more = {"upstream_finish_reason": "end_turn", "organisation": "acme", "key_id": _KEY.id}
    return {**shown, "attempts": attempts, **more}


ADMIN_EXAMPLES: Final[dict[str, Any]] = {
    "NewOrganisation": {"id": "acme", "name": "Acme Ltd", "markup": 0.05, "limits": {"month_micros": 500_000_000}},
    "OrganisationChanges": {"plan": "prepaid"},
    "Organisation": organisation_object(_ORGANISATION),
    "OrganisationList": _listed(organisation_object(_ORGANISATION)),
    "Payment": {"id": "invoice-2026-12", "micros": 50_000_000},
    "NewKey": {"name": "production", "policies": ["cheap", "default"], "limits": {"minute_requests": 600}},
    "KeyChanges": {"expires": 1_798_761_600, "models": None},
    "Key": key_object(_KEY),
    "MadeKey": key_object(replace(_KEY, last_used_ms=None), _TOKEN),
    "KeyList": _listed(key_object(_KEY)),
    "Rotation": {"overlap_hours": 48},
    "PolicyRequest": {"optimize": "cost", "allow_models": [EXAMPLE_MODEL]},
    "Policy": policy_object(_POLICY),
    "PolicyList": _listed(policy_object(_POLICY)),
    "PlanRequest": {"name": "Trial", "is_free": True, "limits": {"day_requests": 100}},
    "Plan": plan_object(_PLAN),
    "PlanList": _listed(plan_object(_PLAN)),
    "OwnKeyRequest": {"key": "sk-..."},
    "OwnKey": own_key_object(_OWN_KEY),
    "OwnKeyList": _listed(own_key_object(_OWN_KEY)),
    "CatalogRequest": {"toml": _TOML},
    "Catalog": catalog_object(_TOML),
    "Deleted": {"object": "policy", "id": "cheap", "deleted": True},
    "OperatorsDecision": _decision(),
}
"""An example of each component of the operator's endpoints."""
