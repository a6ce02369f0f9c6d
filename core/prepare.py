"""From a request that was read to its plan: everything that is decided before the first upstream call."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.accounts.policies import policy_for
from core.asking import Asked
from core.chat import ChatRequest, Role
from core.decision import Decision, OwnKeyUse, Plan, Policy
from core.demand import Demand, demand_of
from core.errors import GatewayError, StoreUnavailable
from core.lookup import named_model, workspace_of
from core.parts import Parts
from core.ports import ToolTurn
from core.providers.fields import Disposed, fields_of, first_place
from core.providers.thinking import wish
from core.routing.conversations import Served, this_turn
from core.routing.payers import on_accounts, owned_hosts
from core.routing.policy import narrow
from core.routing.thought import with_default_thinking
from core.surfaces.openai_chat import ParsedChat
from core.surfaces.surface import Surface
from core.tenant import Key
from core.waiting import from_store
from core.workspace import Workspace

AUTO = "auto"
PLATFORM_RESERVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready to be sent.

    `disposed` tells what becomes of its fields at each target of the plan, by model and target name: two variants of a
    model may share a target name. `conversation` is the name under which who serves is remembered, None where nobody
    asks for that. `demand` is what the request takes of limits, None where nothing limits it.
    """

    request: ChatRequest
    workspace: Workspace
    policy: Policy
    plan: Plan
    decision: Decision
    turns: Mapping[str, ToolTurn]
    disposed: Mapping[tuple[str, str], Disposed]
    conversation: int | None = None
    demand: Demand | None = None


async def prepare(parts: Parts, surface: Surface, key: Key, parsed: ParsedChat, ends_at: float | None) -> Prepared:
    """Look up and plan.

    Args:
        parts: The collaborators.
        surface: Where the request came in.
        key: Who asks.
        parsed: What was read of the body.
        ends_at: Unix time in seconds of the platform's own limit, or None.

    Raises:
        GatewayError: The request is wrong, not allowed, or cannot be served.
        StoreUnavailable: What it needs to know cannot be looked up.
    """
    workspace = await workspace_of(parts, key.org)
    policy = policy_for(workspace, key, parsed.preferences.policy)
    request = with_default_thinking(parsed.request, policy)
    offer = parts.router.offers.of(workspace)
    model = None if request.model == AUTO else named_model(offer.catalog, key, request.model)
    turns, tool_memory = await _recall(parts, key.org, request)
    effective = narrow(
        policy,
        parsed.preferences,
        offer.catalog.id_of,
        whole=not request.stream,
        stream_silence_s=parts.stream_silence_s,
        host_regions=parts.host_regions,
    )
    if policy.own_keys is OwnKeyUse.ONLY:
        hosts = owned_hosts(effective.hosts, offer.catalog.vendors.values(), workspace.own_keys)
        effective = replace(effective, hosts=hosts)
    asked = Asked(
        parts=parts,
        offer=offer,
        workspace=workspace,
        key=key,
        request=request,
        # What the policy adds to a request, its caller is not told about.
        fields=fields_of(parsed.request),
        effective=effective,
        caller=_caller(request, turns),
    )
    asked.check_plan()
    try:
        if model is None:
            plan, decision = asked.of_any()
        else:
            # Where callers are shown the name that they asked for, another model cannot stand in.
            plan, decision = asked.of(model, may_stand_in=not surface.echo_model)
    except GatewayError as refused:
        if refused.param is not None:
            refused.param = first_place(refused.param, request)
        raise
    resting = [name for name, own in workspace.own_keys.items() if parts.own_keys.is_resting(own)]
    managed = parts.router.offers.is_managed
    plan = on_accounts(plan, key.org, workspace.own_keys, policy.own_keys, managed, resting)
    if wish(request, plan.legs[0].target).ignored:
        decision = replace(decision, thinking="on", thinking_reason="model_ignores_off")
    if tool_memory is not None:
        decision = replace(decision, tool_memory=tool_memory)
    if ends_at is not None:
        plan = replace(plan, ends_s=max(0.0, ends_at - PLATFORM_RESERVE_S - parts.clock.now()))
    return Prepared(
        request=request,
        workspace=workspace,
        policy=policy,
        plan=plan,
        decision=decision,
        turns=turns,
        disposed={(leg.target.model.id, leg.target.name): asked.disposed(leg.target) for leg in plan.legs},
        conversation=this_turn(key.org, request.messages) if model is None and policy.sticky else None,
        demand=demand_of(asked.limited, lambda: asked.worst, (leg.target for leg in plan.legs), asked.terms),
    )


def _caller(request: ChatRequest, turns: Mapping[str, ToolTurn]) -> Served | None:
    """Who made the tool calls that are being answered; None outside a tool loop, or where it is not remembered."""
    if not request.mid_tool_loop:
        return None
    calls = next(message.tool_calls for message in reversed(request.messages) if message.tool_calls)
    made = next((turns[call.id] for call in calls if call.id in turns), None)
    return None if made is None else Served(made.model, made.host)


async def _recall(parts: Parts, org: str, request: ChatRequest) -> tuple[Mapping[str, ToolTurn], str | None]:
    """The remembered tool turns of the history, and what the decision says of them."""
    ids = [call.id for message in request.messages if message.role is Role.ASSISTANT for call in message.tool_calls]
    if not ids:
        return {}, None
    try:
        turns = await from_store(parts.clock, parts.memory.recall(org, ids, round(parts.clock.now() * 1000)))
    except StoreUnavailable:
        turns = {}
    is_missing = request.mid_tool_loop and (ids[-1] not in turns or turns[ids[-1]].lost)
    return turns, "missing" if is_missing else None
