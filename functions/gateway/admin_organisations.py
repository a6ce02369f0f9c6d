"""The operator's endpoints for organisations, what they pay in, plans, and decisions with their hosts."""

from typing import Final

from core.administration import decisions, organisations
from core.chat import Json
from core.surfaces.admin.organisations import organisation_object, parse_changes, parse_organisation, parse_payment
from core.surfaces.admin.plans import parse_plan, plan_object
from functions.gateway.admin_call import Call, Endpoints, deleted, listed


async def _list(call: Call) -> Json:
    return listed(map(organisation_object, await call.office.store.organisations()))


async def _create(call: Call) -> Json:
    return organisation_object(await organisations.create(call.office, parse_organisation(call.body)))


async def _read(call: Call) -> Json:
    return organisation_object(await call.office.organisation(call.names["org"]))


async def _change(call: Call) -> Json:
    changed = await organisations.change(call.office, call.names["org"], parse_changes(call.body))
    return organisation_object(changed)


async def _delete(call: Call) -> Json:
    await organisations.delete(call.office, call.names["org"])
    return deleted("organisation", call.names["org"])


async def _pay(call: Call) -> Json:
    payment, micros = parse_payment(call.body)
    paid, _ = await organisations.pay_in(call.office, call.names["org"], payment, micros)
    return organisation_object(paid)


async def _list_plans(call: Call) -> Json:
    return listed(map(plan_object, await call.office.store.plans()))


async def _read_plan(call: Call) -> Json:
    return plan_object(await organisations.plan(call.office, call.names["plan"]))


async def _put_plan(call: Call) -> Json:
    plan = parse_plan(call.new_name("plan"), call.body)
    await call.office.directory.save_plan(plan)
    return plan_object(plan)


async def _delete_plan(call: Call) -> Json:
    await organisations.delete_plan(call.office, call.names["plan"])
    return deleted("plan", call.names["plan"])


async def _decision(call: Call) -> Json:
    return await decisions.decision(call.office, call.names["response_id"])


ORGANISATION_ENDPOINTS: Final[Endpoints] = (
    ("GET", "/organisations", _list),
    ("POST", "/organisations", _create),
    ("GET", "/organisations/{org}", _read),
    ("PATCH", "/organisations/{org}", _change),
    ("DELETE", "/organisations/{org}", _delete),
    ("POST", "/organisations/{org}/payments", _pay),
    ("GET", "/plans", _list_plans),
    ("GET", "/plans/{plan}", _read_plan),
    ("PUT", "/plans/{plan}", _put_plan),
    ("DELETE", "/plans/{plan}", _delete_plan),
    ("GET", "/routing-decisions/{response_id}", _decision),
)
