"""What planning needs of every model and host, laid out once for each catalog so that a request touches no model.

Each host of each model is a row; the hosts of a model are neighbours. The index decides nothing.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from core.catalog.loader import Catalog
from core.catalog.model import Host, Promises, Target
from core.routing.bits import Runs, bits_of, places, span, union
from core.routing.lanes import Lanes
from core.routing.thought import ThinkingMode, ThinkingTrait

SCORE_SCALE: Final = 10_000
"""What a score of 1 is in the columns of scores."""

MOST_TOKENS: Final = 2**24
"""The longest prompt that the columns are reckoned with, in tokens."""

_MOST_CUTS: Final = 64

K = TypeVar("K", bound=Hashable)
Groups: TypeAlias = Mapping[K, int]
"""Rows by what they have in common, as sets of bits."""


class AtLeast:
    """Answers which rows have a number that is large enough.

    Args:
        groups: The rows of each number.
    """

    __slots__ = ("_found", "_groups", "_numbers")

    def __init__(self, groups: Groups[int]) -> None:
        self._numbers = sorted(groups)
        self._groups = groups
        self._found: dict[int, int] = {}

    @property
    def most(self) -> int:
        """The largest number; 0 when there is no row."""
        return self._numbers[-1] if self._numbers else 0

    def rows(self, bound: int) -> int:
        """The rows whose number is not below `bound`."""
        cut = bisect_left(self._numbers, bound)
        found = self._found.get(cut)
        if found is None:
            found = union(self._groups[number] for number in self._numbers[cut:])
            if len(self._found) >= _MOST_CUTS:
                self._found.clear()
            self._found[cut] = found
        return found


@dataclass(frozen=True, slots=True)
class Index:
    """The rows of a catalog.

    For each row: `ids` has the model's id, `hosts` the target's name, `first_token_ms` the catalog's first-token time,
    `is_priced` whether the price is known, `output_limits` the longest answer in tokens, `reasoning` (by mode) how many
    tokens its model usually thinks. `spans` tells where a model's rows begin and how many there are, `rows_by_host`
    where a target stands, `runs` folds rows to models.

    Sets of rows: `everything`; `vendors`, `promises`, `ends` (by the day on which an offer ends), `thinking`, and
    `refusals` (by what decides which fields are refused, each with one target that stands for all); `tools`, `schemas`
    (verified), `json_mode`, `priced`, `timed` (the catalog knows a first-token time), and `scored` by task.
    `contenders` can be the cheapest of their models at usual rates, and `cheapest` always are.

    Columns: `input` and `output` rates in pico-dollars, `thought` (the price of usual reasoning, by mode), the dearest
    rates that any request, an unusual request and an answer can meet, and `scores` by task, where a model that was not
    evaluated stands at the lowest score of the task.

    What the columns do not tell of rates: `changing` rows have others at other times (or are too dear for the columns,
    or ask something for the request itself), `tiered` for long prompts (from `first_tier` tokens on), `serviced` for
    service tiers.
    """

    catalog: Catalog
    ids: Sequence[str]
    hosts: Sequence[str]
    first_token_ms: Sequence[int | None]
    is_priced: bytes
    output_limits: Sequence[int]
    reasoning: Mapping[ThinkingMode, Sequence[int]]
    rows_by_host: Mapping[str, Sequence[int]]
    spans: Mapping[str, tuple[int, int]]
    runs: Runs
    everything: int
    vendors: Groups[str]
    promises: Groups[Promises]
    ends: Groups[str]
    thinking: Groups[ThinkingTrait]
    refusals: Sequence[tuple[Target, int]]
    tools: int
    schemas: int
    json_mode: int
    contexts: AtLeast
    outputs: AtLeast
    priced: int
    contenders: int
    cheapest: int
    timed: int
    changing: Mapping[int, Host]
    tiered: Mapping[int, Host]
    first_tier: int
    serviced: Mapping[int, Host]
    input: Lanes
    output: Lanes
    thought: Mapping[ThinkingMode, Lanes]
    worst_input: Lanes
    worst_unusual_input: Lanes
    worst_output: Lanes
    scored: Mapping[str, int]
    scores: Mapping[str, Lanes]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    def special(self, prompt_tokens: int, service_tier: str | None) -> Mapping[int, Host]:
        """The rows whose rates the columns do not tell, for such a request."""
        found = self.changing
        if prompt_tokens >= self.first_tier:
            found = {**found, **self.tiered}
        return {**found, **self.serviced} if service_tier else found

    def target(self, row: int) -> Target:
        """The target of a row; its model is made if it was not wanted before."""
        model = self.catalog.find(self.ids[row])
        assert model is not None  # every row is of a model of this catalog
        host = model.hosts[row - self.spans[model.id][0]]
        return Target(model, host, self.catalog.vendors[host.vendor])

    def rows_of(self, models: Iterable[str]) -> int:
        """The rows of these models, by id; an id that no model has stands for none."""
        known = (self.spans[each] for each in models if each in self.spans)
        return bits_of((row for start, count in known for row in range(start, start + count)), self.size)

    def leading(self, rows: int) -> tuple[int, int]:
        """The rows that are the cheapest of their models at whatever usual rates, and those of which one is."""
        missing = self.runs.touched(self.contenders & ~rows) & self.runs.touched(rows)
        # Where a contender is missing, any other host of its model may be the cheapest that is left.
        open_to_all = union(self.span(self.ids[row]) for row in places(missing))
        return rows & self.cheapest, rows & (self.contenders & ~self.cheapest | open_to_all)

    def named(self, name: str) -> int:
        """The rows of a host by its target's name, or of all hosts of a vendor."""
        return self.vendors.get(name) or bits_of(self.rows_by_host.get(name, ()), self.size)

    def span(self, model: str) -> int:
        """The rows of one model; none when there is no such model."""
        return span(*self.spans.get(model, (0, 0)))
