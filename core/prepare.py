"""From a caller's bytes to a plan: everything that is decided before the first upstream call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.accounts.charges import terms_of
from core.catalog.loader import Catalog
from core.catalog.model import Model, Target
from core.chat import ChatRequest, Role
from core.decision import Candidate, Decision, Plan, Policy
from core.errors import GatewayError, NotFound, PermissionDenied, StoreUnavailable, Unprocessable
from core.money import Terms
from core.parts import Parts
from core.ports import ToolTurn
from core.providers.fields import Disposed, Fields, dispose, fields_of, first_place
from core.providers.refusals import refusable
from core.providers.thinking import wish
from core.routing.auto import Wanted, plan_auto
from core.routing.conversations import Served, this_turn, turn_before
from core.routing.plan import Named, plan_named
from core.routing.policy import Effective, narrow
from core.routing.reading import Reading
from core.routing.sieves import Refusal
from core.routing.stages import refusal_code
from core.routing.worst import Worst, worst_of
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import Surface
from core.tenant import Key

AUTO = "auto"
PLATFORM_RESERVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready to be sent.

    `disposed` tells what becomes of its fields at each target of the plan, by model and target name: two variants of a
    model may share a target name. `conversation` is the name under which who serves is remembered, None where nobody
    asks for that.
    """

    request: ChatRequest
    policy: Policy
    plan: Plan
    decision: Decision
    turns: Mapping[str, ToolTurn]
    disposed: Mapping[tuple[str, str], Disposed]
    conversation: int | None = None


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
    policy = _policy(parts, key, parsed.preferences.policy)
    request = parsed.request
    if request.extended_thinking is None and policy.extended_thinking is not None:
        request = replace(request, extended_thinking=policy.extended_thinking)
    model = None if request.model == AUTO else _model(parts, key, request.model)
    turns, tool_memory = await _recall(parts, key.org, request)
    effective = narrow(policy, parsed.preferences, parts.catalog.id_of)
    terms = Terms() if effective.max_cost_micros is None else await _terms(parts, key)
    asked = _Asked(parts, key, request, effective, terms, _caller(request, turns))
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
    if wish(request, plan.legs[0].target).ignored:
        decision = replace(decision, thinking="on", thinking_reason="model_ignores_off")
    if tool_memory is not None:
        decision = replace(decision, tool_memory=tool_memory)
    if ends_at is not None:
        plan = replace(plan, ends_s=max(0.0, ends_at - PLATFORM_RESERVE_S - parts.clock.now()))
    return Prepared(
        request=request,
        policy=policy,
        plan=plan,
        decision=decision,
        turns=turns,
        disposed={(leg.target.model.id, leg.target.name): asked.disposed(leg.target) for leg in plan.legs},
        conversation=this_turn(key.org, request.messages) if model is None and policy.sticky else None,
    )


def unknown_model(catalog: Catalog, name: str, allowed: Sequence[Model]) -> NotFound:
    """The failure for a name that is no model's; it names near matches among those allowed."""
    near = catalog.near(name, allowed)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return NotFound(f"There is no model {name!r}.{hint} GET /models lists them all.", param="model")


class _Asked:
    """A request about to be planned, with what both ways of planning need to know of it."""

    def __init__(
        self,
        parts: Parts,
        key: Key,
        request: ChatRequest,
        effective: Effective,
        terms: Terms,
        caller: Served | None,
    ) -> None:
        self._fields: Fields = fields_of(request)
        self._disposed: dict[tuple[str, str], Disposed] = {}
        self._parts = parts
        self._key = key
        self._request = request
        self._effective = effective
        self._terms = terms
        self._caller = caller
        self._now = parts.clock.now()
        self._view = parts.router.health.view(self._now)

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
            fallbacks=self._fallbacks(model) if may_stand_in and self._caller is None else (),
            view=self._view,
            worst=self._worst(self._parts.router.read(self._request)) if self._is_capped else None,
            caller=None if self._caller is None else self._caller.host,
        )
        return plan_named(named)

    def of_any(self) -> tuple[Plan, Decision]:
        """The plan for whichever model is best."""
        router, request = self._parts.router, self._request
        reading = router.read(request)
        before = router.conversations.served(turn_before(self._key.org, request.messages))
        wanted = Wanted(
            request=request,
            reading=reading,
            effective=self._effective,
            key_models=self._key.models,
            refusal=self._refusal(),
            worst=self._worst(reading) if self._is_capped else None,
            view=self._view,
            now=self._now,
            caller=self._caller,
            before=before if self._effective.policy.sticky else None,
        )
        return plan_auto(router.index, wanted)

    @property
    def _is_capped(self) -> bool:
        return self._effective.max_cost_micros is not None

    def _worst(self, reading: Reading) -> Worst:
        policy = self._effective.policy
        return worst_of(
            self._request,
            reading,
            cap_micros=self._effective.max_cost_micros or 0,
            terms=self._terms,
            max_tokens_default=policy.max_tokens_default,
            reasks=policy.reask_json,
            at_s=self._now,
        )

    def _candidates(self, model: Model) -> list[Candidate]:
        return [Candidate(target, self.disposed(target).refused) for target in self._parts.catalog.targets(model)]

    def _fallbacks(self, model: Model) -> list[Candidate]:
        """The hosts of the models that the operator lets stand in for this one, in his order."""
        catalog, effective = self._parts.catalog, self._effective
        wanted = effective.policy.named_model_fallbacks.get(model.id, ())
        found = (each for each in map(catalog.find, wanted) if each is not None)
        allowed = (each for each in found if _may_use(self._key, each) and effective.allows(each.id))
        return [candidate for each in allowed for candidate in self._candidates(each)]

    def _refusal(self) -> Refusal | None:
        """Why a target refuses the request, by reason code; None when no target can."""
        refused = refusable(self._fields)
        if not refused:
            return None
        return lambda target: refusal_code(dispose(self._request, target, refused).refused)


def _policy(parts: Parts, key: Key, asked: str | None) -> Policy:
    if asked is not None and asked not in key.policies:
        raise Unprocessable(
            f"This key may not use the policy {asked!r}. It may use: {', '.join(key.policies)}.",
            param="routing.policy",
            code="policy_violation",
        )
    return parts.policy


def _model(parts: Parts, key: Key, name: str) -> Model:
    model = parts.catalog.find(name)
    if model is None:
        raise unknown_model(parts.catalog, name, [each for each in parts.catalog.models if _may_use(key, each)])
    if not _may_use(key, model):
        raise PermissionDenied(f"This key may not use {name!r}. GET /models lists what it may use.", param="model")
    return model


def _may_use(key: Key, model: Model) -> bool:
    return key.models is None or model.id in key.models


def _caller(request: ChatRequest, turns: Mapping[str, ToolTurn]) -> Served | None:
    """Who made the tool calls that are being answered; None outside a tool loop, or where it is not remembered."""
    if not request.mid_tool_loop:
        return None
    calls = next(message.tool_calls for message in reversed(request.messages) if message.tool_calls)
    made = next((turns[call.id] for call in calls if call.id in turns), None)
    return None if made is None else Served(made.model, made.host)


async def _terms(parts: Parts, key: Key) -> Terms:
    """What the organisation pays on top of a host's price, which a cap must hold too."""
    return terms_of(await parts.directory.organisation(key.org))


async def _recall(parts: Parts, org: str, request: ChatRequest) -> tuple[Mapping[str, ToolTurn], str | None]:
    """The remembered tool turns of the history, and what the decision says of them."""
    ids = [call.id for message in request.messages if message.role is Role.ASSISTANT for call in message.tool_calls]
    if not ids:
        return {}, None
    try:
        turns = await parts.store.recall(org, ids, round(parts.clock.now() * 1000))
    except StoreUnavailable:
        turns = {}
    is_missing = request.mid_tool_loop and ids[-1] not in turns
    return turns, "missing" if is_missing else None
