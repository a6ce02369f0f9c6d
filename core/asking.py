"""How a request is planned, by its name or by choice, from all that is known of it and of who sends it."""

from dataclasses import dataclass
from functools import cached_property

from core.accounts.charges import terms_of
from core.accounts.limits import check_plan, counts, limited_by
from core.catalog.model import Model, Target
from core.chat import ChatRequest
from core.counters import MICROS
from core.decision import Candidate, Decision, Plan
from core.lookup import may_use
from core.parts import Parts
from core.providers.fields import Disposed, Fields, dispose
from core.providers.refusals import refusable
from core.routing.auto import Wanted, plan_auto
from core.routing.conversations import Served, turn_before
from core.routing.facts import most_prompt_tokens, prompt_tokens
from core.routing.offers import Offer
from core.routing.payers import free_vendors, view_of
from core.routing.plan import Named, plan_named
from core.routing.policy import Effective
from core.routing.reading import Reading
from core.routing.sieves import Refusal
from core.routing.stages import refusal_code
from core.routing.worst import Worst, worst_of
from core.tenant import Key
from core.workspace import Workspace


@dataclass(kw_only=True, eq=False)
class Asked:
    """A request about to be planned.

    Attributes:
        parts: The collaborators.
        offer: What its organisation may choose from.
        workspace: What its organisation has set up.
        key: Who asks.
        request: What is asked, with what the policy adds.
        fields: What its caller wrote.
        effective: The policy, narrowed by it.
        caller: Who made the tool calls that it answers; None outside a tool loop, or where it is not remembered.
    """

    parts: Parts
    offer: Offer
    workspace: Workspace
    key: Key
    request: ChatRequest
    fields: Fields
    effective: Effective
    caller: Served | None

    def __post_init__(self) -> None:
        self._disposed: dict[tuple[str, str], Disposed] = {}
        self._now = self.parts.clock.now()
        health = self.parts.router.health.view(self._now)
        self._view = view_of(health, self.workspace.own_keys, self.effective.policy.own_keys)
        self.terms = terms_of(self.workspace)
        self.limited = limited_by(self.workspace, self.key)

    def disposed(self, target: Target) -> Disposed:
        """What becomes of the request's fields at a target."""
        name = target.model.id, target.name
        found = self._disposed.get(name)
        if found is None:
            found = self._disposed[name] = dispose(self.request, target, self.fields)
        return found

    def of(self, model: Model, *, may_stand_in: bool) -> tuple[Plan, Decision]:
        """The plan for a model that was named."""
        named = Named(
            request=self.request,
            model=model,
            candidates=self._candidates(model),
            effective=self.effective,
            # Whoever made the calls being answered: another model cannot go on.
            fallbacks=self._fallbacks(model) if may_stand_in and not self.request.mid_tool_loop else (),
            view=self._view,
            worst=self._bound(),
            caller=None if self.caller is None else self.caller.host,
        )
        return plan_named(named)

    def of_any(self) -> tuple[Plan, Decision]:
        """The plan for whichever model is best."""
        router, request = self.parts.router, self.request
        before = router.conversations.served(turn_before(self.key.org, request.messages))
        wanted = Wanted(
            request=request,
            reading=self.reading,
            effective=self.effective,
            key_models=self.key.models,
            refusal=self._refusal(),
            worst=self._bound(),
            view=self._view,
            now=self._now,
            caller=self.caller,
            before=before if self.effective.policy.sticky else None,
        )
        opinions = self.workspace.opinions if self.effective.policy.use_opinions else {}
        return plan_auto(router.opinions.of(self.key.org, self.offer.index, opinions), wanted)

    @cached_property
    def reading(self) -> Reading:
        """What was read of the request."""
        return self.parts.router.read(self.request)

    @cached_property
    def prompt_tokens(self) -> int:
        """An estimate of what the request sends, in tokens; a fraction of the price of reading it."""
        return prompt_tokens(self.request)

    @cached_property
    def worst(self) -> Worst:
        """The most that the request can use."""
        policy, most_output = self.effective.policy, self.workspace.plan.max_output_tokens
        return worst_of(
            self.request,
            # A sample of a long text may make more of it than there is; who leaves may be charged for that.
            max(self.prompt_tokens, most_prompt_tokens(self.request)),
            cap_micros=self.effective.max_cost_micros,
            terms=self.terms,
            max_tokens_default=min(policy.max_tokens_default, most_output or policy.max_tokens_default),
            reasks=policy.reask_json,
            at_s=self._now,
            free_vendors=self._free_vendors(),
        )

    def check_plan(self) -> None:
        """Refuse what is larger than the organisation's plan lets one request be."""
        plan, request = self.workspace.plan, self.request
        if plan.max_input_tokens is not None or plan.max_output_tokens is not None:
            field = "max_completion_tokens" if "max_completion_tokens" in request.written else "max_tokens"
            check_plan(plan, prompt_tokens=self.prompt_tokens, max_tokens=request.max_tokens, limit_field=field)

    def _bound(self) -> Worst | None:
        """What bounds the charge: a cap of the request's, or a limit in money, for which all prices must be known."""
        if not self.terms.factor:
            return None
        is_bounded = self.effective.max_cost_micros is not None or counts(self.limited, MICROS)
        return self.worst if is_bounded else None

    def _free_vendors(self) -> frozenset[str]:
        own, managed = self.workspace.own_keys, self.parts.router.offers.is_managed
        return free_vendors(self.offer.catalog.vendors, own, self.effective.policy.own_keys, managed)

    def _candidates(self, model: Model) -> list[Candidate]:
        return [Candidate(target, self.disposed(target).refused) for target in self.offer.catalog.targets(model)]

    def _fallbacks(self, model: Model) -> list[Candidate]:
        """The hosts of the models that the operator lets stand in for this one, in his order."""
        catalog, effective = self.offer.catalog, self.effective
        stand_ins = effective.policy.named_model_fallbacks
        wanted = next((names for name, names in stand_ins.items() if catalog.id_of(name) == model.id), ())
        found = (each for each in map(catalog.find, wanted) if each is not None)
        allowed = (each for each in found if may_use(self.key, each) and effective.allows(each.id))
        return [candidate for each in allowed for candidate in self._candidates(each)]

    def _refusal(self) -> Refusal | None:
        """Why a target refuses the request, by reason code; None when no target can."""
        refused = refusable(self.fields)
        if not refused:
            return None
        return lambda target: refusal_code(dispose(self.request, target, refused).refused)
