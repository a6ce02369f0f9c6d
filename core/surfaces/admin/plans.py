"""Plans as operators write and read them."""

from typing import Final

from core.chat import Json
from core.errors import InvalidRequest
from core.surfaces.admin.changes import read
from core.surfaces.admin.limits import LARGEST, limits, limits_object
from core.surfaces.openai_chat.checks import boolean, integer, one_of, up_to
from core.tenant import Plan

LONGEST_TITLE: Final = 200
"""How long names for people may be, in characters."""

_PLAN: Final = {
    "name": up_to(LONGEST_TITLE),
    "limits": limits,
    "is_free": boolean,
    "is_prepaid": boolean,
    "max_input_tokens": integer(1, LARGEST),
    "max_output_tokens": integer(1, LARGEST),
}


def parse_plan(plan_id: str, body: bytes) -> Plan:
    """The plan in a body; what is left out is no bound, and paid for by the month.

    Raises:
        InvalidRequest: It is no JSON object, or a member is wrong; the dotted path is named.
        Unprocessable: It has an unknown member.
    """
    got = read(body, {**_PLAN, "object": one_of("plan"), "id": one_of(plan_id)})
    got.pop("object", None)
    plan = Plan(**{"name": plan_id, **got, "id": plan_id})
    if plan.is_free and plan.is_prepaid:
        raise InvalidRequest("A plan cannot be free and prepaid. Choose one.", param="is_prepaid")
    return plan


def plan_object(plan: Plan) -> dict[str, Json]:
    """A plan with every member."""
    return {
        "object": "plan",
        "id": plan.id,
        "name": plan.name,
        "limits": limits_object(plan.limits),
        "is_free": plan.is_free,
        "is_prepaid": plan.is_prepaid,
        "max_input_tokens": plan.max_input_tokens,
        "max_output_tokens": plan.max_output_tokens,
    }
