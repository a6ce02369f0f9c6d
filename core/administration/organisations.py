"""Operators' use cases for organisations and plans."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.administration.office import Office
from core.errors import Conflict, InvalidRequest, NotFound
from core.tenant import BUILT_IN_PLANS, Organisation, Plan


async def create(office: Office, members: Mapping[str, Any]) -> Organisation:
    """Make an organisation.

    Args:
        office: The collaborators.
        members: Those of `Organisation` that are given; `id` must be.

    Raises:
        Conflict: There is one of that id.
        InvalidRequest: There is no such plan.
    """
    org = members["id"]
    if await office.store.organisation(org) is not None:
        raise Conflict(f"There is an organisation {org!r} already. Choose another id.", code="already_exists")
    await _check_plan(office, members)
    made = Organisation(**{"name": org, "created_ms": office.now_ms(), **members})
    await office.directory.save_organisation(made)
    return made


async def change(office: Office, org: str, members: Mapping[str, Any]) -> Organisation:
    """Change members of an organisation.

    Raises:
        NotFound: There is no such organisation.
        InvalidRequest: There is no such plan.
    """
    before = await office.organisation(org)
    await _check_plan(office, members)
    changed = replace(before, **members)
    await office.directory.save_organisation(changed)
    return changed


async def pay_in(office: Office, org: str, payment: str, micros: int) -> tuple[Organisation, bool]:
    """Add a payment, in micro-dollars, to an organisation's credits; a negative one takes back.

    Returns:
        The organisation, and whether the payment was added now: the same one may be sent again and counts once.

    Raises:
        NotFound: There is no such organisation.
        Conflict: There was a payment of that name and of another amount; nothing was added.
        InvalidRequest: The credits would become larger than what can be kept; nothing was added.
    """
    await office.organisation(org)
    before = await office.directory.pay_in(org, payment, micros, office.now_ms())
    found = await office.organisation(org)
    if before not in (None, micros):
        raise Conflict(
            f"A payment {payment!r} of {before} micro-dollars was added to {org!r} before. Nothing was added now; give "
            "another amount another name.",
            code="already_exists",
        )
    return found, before is None


async def delete(office: Office, org: str) -> None:
    """Delete an organisation and everything that is kept of it.

    What a failure, or a request that was under way, left over is deleted also when there is none any more.

    Raises:
        NotFound: There was no such organisation; nothing of it is left.
    """
    found = await office.store.organisation(org)
    await office.directory.delete_organisation(org)
    if found is None:
        await office.organisation(org)


async def plan(office: Office, plan_id: str) -> Plan:
    """The plan of that id, stored or built in.

    Raises:
        NotFound: There is none.
    """
    for found in await office.store.plans():
        if found.id == plan_id:
            return found
    raise NotFound(f"There is no plan {plan_id!r}.", code="plan_not_found")


async def delete_plan(office: Office, plan_id: str) -> None:
    """Forget a stored plan; one that is built in under the same id holds again.

    Raises:
        NotFound: There is no such plan.
        Conflict: It is built in, or organisations have it.
    """
    found = await plan(office, plan_id)
    if found in BUILT_IN_PLANS:
        raise Conflict(f"The plan {plan_id!r} is built in and cannot be deleted.", code="in_use")
    if not any(built_in.id == plan_id for built_in in BUILT_IN_PLANS):
        having = [each.id for each in await office.store.organisations() if each.plan == plan_id]
        if having:
            raise Conflict(
                f"Organisations have the plan {plan_id!r} ({len(having)}, such as {having[0]!r}). Give them another "
                "plan first.",
                code="in_use",
            )
    await office.directory.delete_plan(plan_id)


async def _check_plan(office: Office, members: Mapping[str, Any]) -> None:
    if "plan" in members:
        known = [each.id for each in await office.store.plans()]
        if members["plan"] not in known:
            raise InvalidRequest(f"There is no plan {members['plan']!r}. There are: {', '.join(known)}.", param="plan")
