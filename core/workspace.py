"""Everything that an organisation has set up, as one value: what a request needs to know of who sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.decision import BUILT_IN_POLICY, Policy
from core.tenant import STANDARD_PLAN, Organisation, OwnKey, Plan

MEASURED_LIKE: Final = 20
"""How many scores of callers weigh as much as a quality that was measured."""

ENOUGH_SCORES: Final = 10
"""From how many scores on something is known of a model that nobody measured."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What an organisation's callers said of a model at a task: how many scores from 0 to 1, and their sum in
    thousandths."""

    count: int
    sum_thousandths: int

    def expected(self, measured: float | None) -> float | None:
        """The quality (0..1) to expect after what was said: the mean of a beta distribution that the scores update.

        Args:
            measured: The quality that was expected before, None where nothing was measured. It is never replaced by
                another model's: then a few scores teach nothing, and more of them start from every quality being
                equally likely.
        """
        total = self.sum_thousandths / 1000
        if measured is not None:
            return (MEASURED_LIKE * measured + total) / (MEASURED_LIKE + self.count)
        return None if self.count < ENOUGH_SCORES else (1 + total) / (2 + self.count)


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
