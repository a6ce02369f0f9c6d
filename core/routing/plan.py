"""Makes the plan for a model that the caller named: its hosts, in order, without those that cannot serve."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.catalog.model import Model, StructuredOutput
from core.chat import ChatRequest
from core.decision import Alternative, Candidate, Decision, Plan
from core.errors import GatewayError, InvalidRequest, Overloaded, Unprocessable
from core.routing.advice import advice, sentence
from core.routing.board import NOTHING_KNOWN, HealthView
from core.routing.chain import make_plan
from core.routing.policy import Effective
from core.routing.stages import Narrowed, Stage, allowed_hosts, capable, cost_cap, data_promises, narrowed, roomy
from core.routing.worst import Worst


@dataclass(frozen=True, slots=True)
class Named:
    """What is known of a request that names its model.

    `candidates` are the model's hosts that have a credential, in catalog order; `fallbacks` those of the models that
    the operator lets stand in for it, in order. `worst` bounds the charge, None without a cap. `caller` is the target
    that made the tool calls being answered.
    """

    request: ChatRequest
    model: Model
    candidates: Sequence[Candidate]
    effective: Effective
    fallbacks: Sequence[Candidate] = ()
    view: HealthView = NOTHING_KNOWN
    worst: Worst | None = None
    caller: str | None = None


def plan_named(named: Named) -> tuple[Plan, Decision]:
    """Plan a request that names its model.

    Raises:
        InvalidRequest: No host takes a field of the request, or its limit is beyond the model.
        Unprocessable: Policy, data rules, abilities or the cost cap rule the model or every host of it out.
        Overloaded: There is no host.
    """
    request, model, effective = named.request, named.model, named.effective
    if not effective.allows(model.id):
        beside = " or the routing object" if effective.is_narrowed else ""
        raise Unprocessable(
            f"{model.id} is outside the policy {effective.policy.name!r}{beside}. Name another model.",
            param="model",
            code="policy_violation",
        )
    _check_limit(named)
    kept = narrowed(tuple(named.candidates), _stages(named))
    if not kept.kept:
        raise _nothing_left(named, kept)
    spare = narrowed(tuple(named.fallbacks), _stages(named) if named.fallbacks else ())
    ordered = sorted(kept.kept, key=_host_order(named))
    targets = [candidate.target for candidate in (*ordered, *spare.kept)]
    return make_plan(request, targets, effective), _decision(named, spare.kept)


def _check_limit(named: Named) -> None:
    limit = max(
        (candidate.target.max_output_tokens for candidate in named.candidates), default=named.model.max_output_tokens
    )
    if named.request.max_tokens is not None and named.request.max_tokens > limit:
        field = "max_completion_tokens" if "max_completion_tokens" in named.request.written else "max_tokens"
        raise InvalidRequest(f"{named.model.id} can put out at most {limit} tokens. Ask for no more.", param=field)


def _stages(named: Named) -> tuple[Stage, ...]:
    effective = named.effective
    hosts, data = allowed_hosts(effective.hosts), data_promises(effective.data)
    return hosts, data, capable, roomy(named.request.max_tokens), cost_cap(named.worst)


def _host_order(named: Named) -> Callable[[Candidate], tuple[bool, int, int]]:
    """The host that made the calls, then by health and by the request's order; the catalog's counts last."""
    rank = {name: position for position, name in enumerate(named.effective.hosts.order)}

    def key(candidate: Candidate) -> tuple[bool, int, int]:
        target, vendor = candidate.target, candidate.target.vendor.name
        return target.name != named.caller, named.view.rank(target.name, vendor), rank.get(vendor, len(rank))

    return key


def _nothing_left(named: Named, narrowed: Narrowed) -> GatewayError:
    model = named.model
    if not named.candidates:
        return Overloaded(f"No host of {model.id} can be used at the moment. Try again, or name another model.")
    for candidate, _ in narrowed.dropped:
        for field, reason in candidate.refused:
            if field.startswith("response_format"):
                return Unprocessable(
                    f"{model.id}: {reason} Name a model that supports it.", param=field, code="no_eligible_model"
                )
            return InvalidRequest(f"{model.id}: {reason}", param=field, code="unsupported_parameter")
    reasons = Counter(code for _, code in narrowed.dropped)
    if reasons.keys() == {"price_unknown"}:
        return Unprocessable(
            f"What {model.id} costs is not known (price_unknown), so a limit in money could not be kept. Name a model "
            "with a price.",
            param="model",
            code="no_eligible_model",
        )
    codes = ", ".join(sorted(reasons))
    helps = advice(reasons, is_narrowed=named.effective.is_narrowed)
    return Unprocessable(
        f"No host of {model.id} is left: {codes}. {sentence((*helps, 'name another model'))}",
        code="no_eligible_model",
    )


def _decision(named: Named, spare: Sequence[Candidate]) -> Decision:
    request, model = named.request, named.model
    unverified = (
        request.response_format is not None
        and request.response_format.type == "json_schema"
        and model.abilities.structured_output is StructuredOutput.UNVERIFIED
    )
    others = dict.fromkeys(candidate.target.model.id for candidate in spare)
    then = f" If it fails, {' and then '.join(others)} may stand in for it." if others else ""
    return Decision(
        pick=model.id,
        policy=named.effective.policy.name,
        optimize=named.effective.optimize,
        alternatives=(Alternative(model.id, score=1.0), *map(Alternative, others)),
        reasoning=f"The request named {model.id}.{then}",
        structured_output="unverified" if unverified else None,
    )
