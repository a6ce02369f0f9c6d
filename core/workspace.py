"""Everything that an organisation has set up, as one value: what a request needs to know of who sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.decision import BUILT_IN_POLICY, Policy
from core.tenant import STANDARD_PLAN, Organisation, OwnKey, Plan


@dataclass(frozen=True, slots=True)
class Opinion:
    """What an organisation's callers said of a model at a task: how many scores from 0 to 1, and their sum in
    thousandths."""

    count: int
    sum_thousandths: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """An organisation with its plan, its policies by name, its own keys by vendor, its opinions by (model, task), and
    the TOML of its own catalog, None where it has none.

    The built-in policy is always among the policies; a stored one of the same name takes its place.
    """

    organisation: Organisation
    plan: Plan = STANDARD_PLAN
    policies: Mapping[str, Policy] = field(default_factory=lambda: {BUILT_IN_POLICY.name: BUILT_IN_POLICY})
    own_keys: Mapping[str, OwnKey] = field(default_factory=dict)
    opinions: Mapping[tuple[str, str], Opinion] = field(default_factory=dict)
    catalog: str | None = None
