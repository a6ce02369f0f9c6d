"""From a caller's bytes to a plan: everything that is decided before the first upstream call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.catalog.loader import Catalog
from core.catalog.model import Model, Target
from core.chat import ChatRequest, Role
from core.decision import Candidate, Decision, Plan, Policy
from core.errors import NotFound, PermissionDenied, StoreUnavailable, Unprocessable
from core.parts import Parts
from core.ports import ToolTurn
from core.providers.fields import Disposed, dispose
from core.providers.thinking import wish
from core.routing.plan import plan_named
from core.routing.policy import narrow
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import Surface
from core.tenant import Key

PLATFORM_RESERVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready to be sent. `disposed` tells by target name what becomes of its fields there."""

    request: ChatRequest
    policy: Policy
    plan: Plan
    decision: Decision
    turns: Mapping[str, ToolTurn]
    disposed: Mapping[str, Disposed]


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
    model = _model(parts, key, request.model)
    turns, tool_memory = await _recall(parts, key.org, request)
    disposed: dict[str, Disposed] = {}
    candidates: list[Candidate] = []
    for target in _targets(parts, model, turns):
        disposed[target.name] = dispose(request, target)
        candidates.append(Candidate(target, disposed[target.name].refused))
    ignored = any(wish(request, candidate.target).ignored for candidate in candidates)
    plan, decision = plan_named(
        request,
        model,
        candidates,
        narrow(policy, parsed.preferences),
        thinking_reason="model_ignores_off" if ignored else None,
    )
    if ends_at is not None:
        left = max(0.0, ends_at - PLATFORM_RESERVE_S - parts.clock.now())
        plan = replace(plan, ends_s=left)
    if tool_memory is not None:
        decision = replace(decision, tool_memory=tool_memory)
    return Prepared(request, policy, plan, decision, turns, disposed)


def unknown_model(catalog: Catalog, name: str, allowed: Sequence[Model]) -> NotFound:
    """The failure for a name that is no model's; it names near matches among those allowed."""
    near = catalog.near(name, allowed)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return NotFound(f"There is no model {name!r}.{hint} GET /models lists them all.", param="model")


def _policy(parts: Parts, key: Key, asked: str | None) -> Policy:
    if asked is not None and asked not in key.policies:
        raise Unprocessable(
            f"This key may not use the policy {asked!r}. It may use: {', '.join(key.policies)}.",
            param="routing.policy",
            code="policy_violation",
        )
    return parts.policy


def _model(parts: Parts, key: Key, name: str) -> Model:
    allowed = [model for model in parts.catalog.models if key.models is None or model.id in key.models]
    model = parts.catalog.find(name)
    if model is None:
        raise unknown_model(parts.catalog, name, allowed)
    if model not in allowed:
        raise PermissionDenied(f"This key may not use {name!r}. GET /models lists what it may use.", param="model")
    return model


def _targets(parts: Parts, model: Model, turns: Mapping[str, ToolTurn]) -> list[Target]:
    """The model's hosts; mid tool loop the one that made the calls first, since only it takes its own thinking back."""
    made_by = {turn.host for turn in turns.values()}
    return sorted(parts.catalog.targets(model), key=lambda target: target.name not in made_by)


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
