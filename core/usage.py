"""Reports on what an organisation used, from the totals."""

from collections.abc import Mapping
from datetime import UTC, datetime

from core.chat import Json
from core.counters import EVER
from core.ports import Limiter, Store, Totals
from core.reservation import ORGANISATION
from core.surfaces.credits import credits_object
from core.surfaces.usage_question import UsageQuestion
from core.surfaces.usage_rows import needed, report, usage_list
from core.totals import QUARTER_MS
from core.workspace import Workspace


async def usage_report(totals: Totals, org: str, question: UsageQuestion, now_ms: int) -> Mapping[str, Json]:
    """A page of an organisation's usage report.

    Raises:
        StoreUnavailable: The totals cannot be read.
    """
    # In this order the totals hold at least what is said to be complete.
    complete = await totals.complete_until(org, now_ms)
    found = await totals.totals(org, question.quarters, needed(question.groups))
    return usage_list(question, report(question, found), complete)


async def credits_report(store: Store, workspace: Workspace, now_ms: int) -> Mapping[str, Json]:
    """What an organisation has left of its credits and what it spent this month, which is that of UTC, like its limits.

    Raises:
        StoreUnavailable: They cannot be read.
    """
    org = workspace.organisation.id
    month = datetime.fromtimestamp(now_ms // 1000, UTC).replace(day=1, hour=0, minute=0, second=0)
    complete = await store.complete_until(org, now_ms)
    quarters = range(int(month.timestamp()) * 1000 // QUARTER_MS, now_ms // QUARTER_MS + 1)
    spent = sum(total.counts.cost_micros for total in await store.totals(org, quarters, frozenset()))
    return credits_object(
        workspace,
        month=month.strftime("%Y-%m"),
        spent_micros=spent,
        balance_micros=await balance(store, workspace),
        complete_until_ms=complete,
    )


async def balance(limiter: Limiter, workspace: Workspace) -> int | None:
    """What an organisation has left of its credits, in micro-dollars; None where its plan does not have it pay first.

    Raises:
        StoreUnavailable: It cannot be read.
    """
    if not workspace.plan.is_prepaid:
        return None
    # The counter that requests are refused by: what they may yet use while they run is taken off.
    standing = (await limiter.standings(workspace.organisation.id, [ORGANISATION]))[ORGANISATION]
    return workspace.organisation.credit_micros - standing.counters.get(EVER, 0)
