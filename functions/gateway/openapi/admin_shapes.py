"""What operators write and read, as schemas."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.decision import Objective, OwnKeyUse
from core.surfaces.admin.changes import LONGEST_NAME
from core.surfaces.admin.keys import LATEST_S, MOST_OVERLAP_HOURS, USUAL_OVERLAP_HOURS
from core.surfaces.admin.limits import LARGEST, LIMIT_NAMES
from core.surfaces.admin.organisations import LONGEST_SECRET, MOST_MARKUP, MOST_PAID
from core.surfaces.admin.plans import LONGEST_TITLE
from core.surfaces.admin.policies import LONGEST_MS, MOST_ATTEMPTS
from core.tenant import Scope
from functions.gateway.openapi.decision import decision_schemas
from functions.gateway.openapi.shapes import (
    Schema,
    array,
    either,
    flag,
    mapping,
    nullable,
    number,
    record,
    ref,
    text,
    whole,
    words,
)

IDENTIFIER: Final = rf"^[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}$"
_SHARE: Final = r"^[0-9]{1,12}(\.[0-9]{1,12}|/0{0,11}[1-9][0-9]{0,11})?$"
_MEANINGS: Final = {
    "day_micros": "Micro-dollars in a day of UTC.",
    "month_micros": "Micro-dollars in a month of UTC.",
    "day_requests": "Requests in a day.",
    "month_requests": "Requests in a month.",
    "minute_requests": "Requests in a minute.",
    "minute_tokens": "Tokens in a minute, input and output together.",
    "parallel": "Requests at the same time.",
}
_OBJECTIVE: Final = words(*(objective.value for objective in Objective))
_SECONDS: Final = "Unix seconds."


def admin_schemas() -> dict[str, Schema]:
    """The components of the operator's endpoints."""
    return {**_organisations(), **_plans(), **_keys(), **_policies(), **_rest(), **_decisions()}


def _organisations() -> dict[str, Schema]:
    changes = {
        "name": _title("What people call it."),
        "plan": _identifier("A plan's id."),
        "markup": _share(MOST_MARKUP, "What is added to the hosts' prices: 0.05 is five in a hundred."),
        "discount": _share(1, "What is taken off after that."),
        "limits": ref("Limits", "All limits at once; what is left out has none."),
    }
    shown = {
        "object": words("organisation"),
        "id": text(),
        "name": text(),
        "created": whole(_SECONDS),
        "plan": text("The plan's id."),
        "markup": text("As an exact number: `0.05`, `1/3`."),
        "discount": text("The same."),
        "limits": ref("Limits"),
        "credit_micros": whole("All that was paid in, in micro-dollars."),
    }
    return {
        "NewOrganisation": _written({"id": _identifier("Its id, for good."), **changes}, ("id",)),
        "OrganisationChanges": _written(changes),
        "Organisation": record(shown, list(shown), "A paying party."),
        "OrganisationList": _list("Organisation"),
        "Payment": _written(
            {
                "id": _identifier("What the payment is called. One of that name counts once."),
                "micros": {
                    **whole("Micro-dollars; fewer than none take back.", low=-MOST_PAID, high=MOST_PAID),
                    "not": {"const": 0},
                },
            },
            ("id", "micros"),
        ),
    }


def _plans() -> dict[str, Schema]:
    bounds = {
        "max_input_tokens": nullable(whole("Of one request.", low=1, high=LARGEST)),
        "max_output_tokens": nullable(whole("Of one request.", low=1, high=LARGEST)),
    }
    members = {
        "name": _title("What people call it."),
        "limits": ref("Limits", "Hold beside the organisation's own."),
        "is_free": flag("Nothing is charged."),
        "is_prepaid": flag("Requests are refused once the credits are spent."),
        **bounds,
    }
    shown = {"object": words("plan"), "id": text(), **members}
    return {
        "PlanRequest": _written({"object": words("plan"), "id": text("As in the address."), **members}),
        "Plan": record(shown, list(shown), "What an organisation can agree on."),
        "PlanList": _list("Plan"),
        "Limits": record(
            {name: nullable(whole(_MEANINGS[name], low=0, high=LARGEST)) for name in LIMIT_NAMES},
            (),
            "Bounds on what may be used; null is no bound. A limit counts from when it is set: what was used before, "
            "or while there was none, is not counted.",
            additionalProperties=False,
        ),
    }


def _keys() -> dict[str, Schema]:
    scope = words(*(each.value for each in Scope))
    changes = {
        "name": _title("What it is for."),
        "expires": whole("Unix seconds, after now. Null: never.", low=0, high=LATEST_S),
        "policies": _some(_identifier(), "The policies that it may use, its default first."),
        "models": _some(text(least=1), "The only models that it may name. Null: all."),
        "scopes": _some(scope, "What it may be used for."),
        "limits": ref("Limits", "All limits at once; what is left out has none."),
    }
    shown = {
        "object": words("key"),
        "id": text(),
        "organisation": text(),
        "name": text(),
        "hint": text("Its last four characters."),
        "created": whole(_SECONDS),
        "expires": nullable(whole(_SECONDS)),
        "revoked": nullable(whole(_SECONDS)),
        "last_used": nullable(whole("Unix seconds; may lag by an hour.")),
        "policies": array(text()),
        "models": nullable(array(text())),
        "scopes": array(scope),
        "limits": ref("Limits"),
        "successor": nullable(text("The id of the key that took its place when it was rotated.")),
    }
    made = {**shown, "key": text("The key itself. It is shown this once; its hash is kept.", pattern="^hr_")}
    return {
        "NewKey": _written(changes, ("name",)),
        "KeyChanges": _written(changes),
        "Key": record(shown, list(shown), "A caller's key, without what is secret of it."),
        "MadeKey": record(made, list(made), "A key that was just made."),
        "KeyList": _list("Key"),
        "Rotation": _written(
            {
                "overlap_hours": whole(
                    f"How long the old key lives on. Default: {USUAL_OVERLAP_HOURS}.", low=0, high=MOST_OVERLAP_HOURS
                )
            }
        ),
    }


def _policies() -> dict[str, Schema]:
    names = _some(text(least=1))
    data = {"regions": nullable(names), "no_training": nullable(flag()), "zero_retention": nullable(flag())}
    effort = words("none", "minimal", "low", "medium", "high", "xhigh", "max")
    members = {
        "allow_models": nullable({**names, "description": "The only models that may serve."}),
        "allow_providers": nullable({**names, "description": "The only vendors whose hosts may serve."}),
        "allow_optimize": _some(_OBJECTIVE, "The objectives that requests may ask for."),
        "optimize": {**_OBJECTIVE, "description": "The objective of those who ask for none."},
        "first_token_ms": whole("How long an attempt may take to its first token.", low=1, high=LONGEST_MS),
        "deadline_ms": whole("How long a request may take to commit.", low=1, high=LONGEST_MS),
        "max_attempts": whole("Over all hosts.", low=1, high=MOST_ATTEMPTS),
        "max_cost_micros": nullable(whole("The most that a request may cost.", low=0, high=LARGEST)),
        "min_quality": nullable(number("The least expected quality for the task.", low=0, high=1)),
        "data": record(data, (), "What hosts must promise.", additionalProperties=False),
        "named_model_fallbacks": mapping(names, "Which models may stand in for one that was named."),
        "structured_output": record(
            {"extract": nullable(flag()), "reask": nullable(flag())},
            (),
            "Whether JSON is taken out of what surrounds it, and asked for once more where there is none.",
            additionalProperties=False,
        ),
        "thinking": record(
            {"extended_thinking": nullable(flag()), "reasoning_effort": nullable(effort)},
            (),
            "How requests that do not say so think.",
            additionalProperties=False,
        ),
        "max_tokens_default": whole("What is reserved when a request sets no limit.", low=1, high=LARGEST),
        "guardrails": array(text(), "There are none to name.", most=0),
        "sticky": flag("Whether a conversation stays with its model."),
        "own_keys": words(*(use.value for use in OwnKeyUse), about="When keys of the organisation's own are used."),
        "use_opinions": flag("Whether callers' scores move the expected quality."),
    }
    shown = {"object": words("policy"), "name": text(), **members}
    return {
        "PolicyRequest": _written({"object": words("policy"), "name": text("As in the address."), **members}),
        "Policy": record(shown, list(shown), "An envelope for requests, which narrow it and never widen it."),
        "PolicyList": _list("Policy"),
    }


def _rest() -> dict[str, Schema]:
    own_key = {
        "object": words("own_key"),
        "vendor": text(),
        "hint": text("The last four characters of the key."),
        "created": whole(_SECONDS),
    }
    catalog = {"object": words("catalog"), "toml": text("The file.")}
    gone = {"object": text(), "id": text(), "deleted": flag("Whether it was there.")}
    return {
        "OwnKeyRequest": _written({"key": text("As the vendor gave it.", least=1, most=LONGEST_SECRET)}, ("key",)),
        "OwnKey": record(own_key, list(own_key), "An organisation's own key at a vendor; it is kept sealed."),
        "OwnKeyList": _list("OwnKey"),
        "CatalogRequest": _written({"toml": text("A catalog file without vendors.", least=1)}, ("toml",)),
        "Catalog": record(catalog, list(catalog), "An organisation's own catalog."),
        "Deleted": record(gone, list(gone), "What was deleted."),
    }


def _decisions() -> dict[str, Schema]:
    """What callers are shown of a decision, and what the operator is shown beside it."""
    shown = decision_schemas()
    host = {
        "host": text("Vendor, and the vendor's name for the model."),
        "upstream_status": nullable(whole("What the host answered with when it failed.")),
        "upstream_code": nullable(text("Its code for that.")),
    }
    more = {
        "attempts": array(ref("OperatorsAttempt"), "The attempts, in order."),
        "upstream_finish_reason": nullable(text("The host's own word for the end of the first answer.")),
        "organisation": text("Whose request it was."),
        "key_id": text("The key that it came with."),
    }
    return {
        "OperatorsAttempt": _extended(shown["Attempt"], host, "One call of a host, which is named."),
        "OperatorsDecision": _extended(shown["RecordedDecision"], more, "A decision as the operator sees it."),
    }


def _extended(shape: Schema, more: Mapping[str, Schema], about: str) -> Schema:
    required = dict.fromkeys((*shape["required"], *more))
    return record({**shape["properties"], **more}, list(required), about)


def _written(members: Mapping[str, Schema], required: Sequence[str] = (), about: str = "") -> Schema:
    """A body. A null in an optional member is no mistake."""
    shapes = {name: shape if name in required else nullable(shape) for name, shape in members.items()}
    return record(shapes, required, about, additionalProperties=False)


def _list(name: str) -> Schema:
    members = {"object": words("list"), "data": array(ref(name))}
    return record(members, list(members))


def _some(items: Schema, about: str = "") -> Schema:
    return {**array(items, about, least=1), "uniqueItems": True}


def _identifier(about: str = "") -> Schema:
    return text(about, pattern=IDENTIFIER)


def _title(about: str) -> Schema:
    return text(about, most=LONGEST_TITLE)


def _share(highest: int, about: str) -> Schema:
    exact: Any = text(pattern=_SHARE)
    return either(number(low=0, high=highest), exact, about=f"{about} At most {highest}; `1/20` is exact too.")
