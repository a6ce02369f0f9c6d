"""From a caller's bytes to a plan: everything that is decided before the first upstream call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.accounts.charges import terms_of
from core.accounts.limits import Limited, check_plan, counts, limited_by
from core.accounts.policies import policy_for
from core.catalog.model import Model, Target
from core.chat import ChatRequest, Role
from core.counters import MICROS
from core.decision import Candidate, Decision, OwnKeyUse, Plan, Policy
from core.demand import Demand, demand_of
from core.errors import GatewayError, StoreUnavailable
from core.lookup import may_use, named_model, workspace_of
from core.money import Terms
from core.parts import Parts
from core.ports import ToolTurn
from core.providers.fields import Disposed, Fields, dispose, fields_of, first_place
from core.providers.refusals import refusable
from core.providers.thinking import wish
from core.routing.auto import Wanted, plan_auto
from core.routing.conversations import Served, this_turn, turn_before
from core.routing.offers import Offer
from core.routing.opinions import Opinions
from core.routing.payers import on_accounts, owned_hosts, view_of
from core.routing.plan import Named, plan_named
from core.routing.policy import Effective, narrow
from core.routing.reading import Reading
from core.routing.sieves import Refusal
from core.routing.stages import refusal_code
from core.routing.thought import with_default_thinking
from core.routing.worst import Worst, worst_of
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import Surface
from core.tenant import Key
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


async def prepare(parts: Parts, surface: Surface, key: Key, body: bytes, ends_at: float | None) -> Prepared:
    """Parse, look up, plan.

    Args:
        parts: The collaborators.
        surface: Where the request came in.
        key: Who asks.
        body: The body as it came.
        ends_at: Unix time in seconds of the platform's own limit, or None.

    Raises:
        GatewayError: The request is wrong, not allowed, or cannot be served.
    """
    parsed = parse_chat(body, surface)
    workspace = await workspace_of(parts, key.org)
    policy = policy_for(workspace, key, parsed.preferences.policy)
    request = with_default_thinking(parsed.request, policy)
    offer = parts.router.offers.of(workspace)
    model = None if request.model == AUTO else named_model(offer.catalog, key, request.model)
    turns, tool_memory = await _recall(parts, key.org, request)
    silence, whole = parts.stream_silence_s, not request.stream
    effective = narrow(policy, parsed.preferences, offer.catalog.id_of, whole=whole, stream_silence_s=silence)
    if policy.own_keys is OwnKeyUse.ONLY:
        hosts = owned_hosts(effective.hosts, offer.catalog.vendors.values(), workspace.own_keys)
        effective = replace(effective, hosts=hosts)
    terms = terms_of(workspace)
    limited = limited_by(workspace, key)
    opinions = workspace.opinions if policy.use_opinions else {}
    caller = _caller(request, turns)
    # What the policy adds to a request, its caller is not told about.
    fields = fields_of(parsed.request)
    asked = _Asked(parts, offer, key, request, fields, effective, terms, caller, opinions, workspace, limited)
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
        demand=demand_of(limited, lambda: asked.worst, (leg.target for leg in plan.legs), terms),
    )


class _Asked:
    """A request about to be planned, with what both ways of planning need to know of it."""

    def __init__(
        self,
        parts: Parts,
        offer: Offer,
        key: Key,
        request: ChatRequest,
        fields: Fields,
        effective: Effective,
        terms: Terms,
        caller: Served | None,
        opinions: Opinions,
        workspace: Workspace,
        limited: Sequence[Limited],
    ) -> None:
        self._fields = fields
        self._disposed: dict[tuple[str, str], Disposed] = {}
        self._parts = parts
        self._offer = offer
        self._key = key
        self._request = request
        self._effective = effective
        self._terms = terms
        self._caller = caller
        self._opinions = opinions
        self._plan = workspace.plan
        self._limited = limited
        self._now = parts.clock.now()
        health = parts.router.health.view(self._now)
        self._view = view_of(health, workspace.own_keys, effective.policy.own_keys)

    def disposed(self, target: Target) -> Disposed:
        """What becomes of the request's fields at a target."""
        name = target.model.id, target.name
        found = self._disposed.get(name)
        if found is None:
            found = self._disposed[name] = dispose(self._request, target, self._fields)
        return found

    def of(self, model: Model, *, may_stand_in: bool) -> tuple[Plan, Decision]:
        """The plan for a model that was named."""
        named = Named(
            request=self._request,
            model=model,
            candidates=self._candidates(model),
            effective=self._effective,
            # Whoever made the calls being answered: another model cannot go on.
            fallbacks=self._fallbacks(model) if may_stand_in and not self._request.mid_tool_loop else (),
            view=self._view,
            worst=self._bound(),
            caller=None if self._caller is None else self._caller.host,
        )
        return plan_named(named)

    def of_any(self) -> tuple[Plan, Decision]:
        """The plan for whichever model is best."""
        router, request = self._parts.router, self._request
        before = router.conversations.served(turn_before(self._key.org, request.messages))
        wanted = Wanted(
            request=request,
            reading=self.reading,
            effective=self._effective,
            key_models=self._key.models,
            refusal=self._refusal(),
            worst=self._bound(),
            view=self._view,
            now=self._now,
            caller=self._caller,
            before=before if self._effective.policy.sticky else None,
        )
        return plan_auto(router.opinions.of(self._key.org, self._offer.index, self._opinions), wanted)

    @cached_property
    def reading(self) -> Reading:
        """What was read of the request."""
        return self._parts.router.read(self._request)

    @cached_property
    def worst(self) -> Worst:
        """The most that the request can use."""
        policy, most_output = self._effective.policy, self._plan.max_output_tokens
        return worst_of(
            self._request,
            self.reading,
            cap_micros=self._effective.max_cost_micros,
            terms=self._terms,
            max_tokens_default=min(policy.max_tokens_default, most_output or policy.max_tokens_default),
            reasks=policy.reask_json,
            at_s=self._now,
        )

    def check_plan(self) -> None:
        """Refuse what is larger than the organisation's plan lets one request be."""
        if self._plan.max_input_tokens is not None or self._plan.max_output_tokens is not None:
            request = self._request
            field = "max_completion_tokens" if "max_completion_tokens" in request.written else "max_tokens"
            prompt_tokens = self.reading.prompt_tokens
            check_plan(self._plan, prompt_tokens=prompt_tokens, max_tokens=request.max_tokens, limit_field=field)

    def _bound(self) -> Worst | None:
        """What bounds the charge: a cap of the request's, or a limit in money, for which all prices must be known."""
        is_in_money = self._terms.provider_cost and counts(self._limited, MICROS)
        return self.worst if is_in_money or self._effective.max_cost_micros is not None else None

    def _candidates(self, model: Model) -> list[Candidate]:
        return [Candidate(target, self.disposed(target).refused) for target in self._offer.catalog.targets(model)]

    def _fallbacks(self, model: Model) -> list[Candidate]:
        """The hosts of the models that the operator lets stand in for this one, in his order."""
        catalog, effective = self._offer.catalog, self._effective
        stand_ins = effective.policy.named_model_fallbacks
        wanted = next((names for name, names in stand_ins.items() if catalog.id_of(name) == model.id), ())
        found = (each for each in map(catalog.find, wanted) if each is not None)
        allowed = (each for each in found if may_use(self._key, each) and effective.allows(each.id))
        return [candidate for each in allowed for candidate in self._candidates(each)]

    def _refusal(self) -> Refusal | None:
        """Why a target refuses the request, by reason code; None when no target can."""
        refused = refusable(self._fields)
        if not refused:
            return None
        return lambda target: refusal_code(dispose(self._request, target, refused).refused)


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
        turns = await parts.memory.recall(org, ids, round(parts.clock.now() * 1000))
    except StoreUnavailable:
        turns = {}
    is_missing = request.mid_tool_loop and (ids[-1] not in turns or turns[ids[-1]].lost)
    return turns, "missing" if is_missing else None
