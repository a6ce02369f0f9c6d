"""On whose account calls are made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Auth, Vendor
from core.decision import Budgets, HostRules, Leg, OwnKeyUse, Plan
from core.errors import AccountFailure
from core.routing.board import HealthBoard
from core.routing.payers import free_vendors, on_accounts, owned_hosts, view_of
from tests.support.targets import make_target, make_vendor

LAB = make_target("small", vendor=make_vendor("lab", auth=Auth.BEARER))
SHOP = make_target("small", vendor=make_vendor("shop", auth=Auth.BEARER))
PLAN = Plan(legs=(Leg(LAB, Budgets(1, 2)), Leg(SHOP, Budgets(3, 4))), deadline_s=5, thinking_deadline_s=6)


def walked(use: OwnKeyUse, *, managed: bool = True, resting: tuple[str, ...] = ()) -> list[tuple[str, str | None]]:
    plan = on_accounts(PLAN, "acme", {"lab"}, use, lambda vendor: managed, resting)
    return [(leg.target.vendor.name, leg.target.owner) for leg in plan.legs]


@pytest.mark.parametrize(
    ("use", "managed", "resting", "accounts"),
    [
        (OwnKeyUse.FIRST, True, (), ["acme", None]),
        (OwnKeyUse.FIRST, True, ("lab",), [None, "acme"]),
        (OwnKeyUse.FIRST, False, (), ["acme"]),
        (OwnKeyUse.FIRST, False, ("lab",), ["acme"]),
        (OwnKeyUse.LAST, True, (), [None, "acme"]),
        (OwnKeyUse.LAST, False, (), ["acme"]),
        (OwnKeyUse.ONLY, True, (), ["acme"]),
        (OwnKeyUse.ONLY, True, ("lab",), ["acme"]),
    ],
)
def test_each_host_is_there_once_for_each_account_in_the_order_of_the_policy(
    use: OwnKeyUse, managed: bool, resting: tuple[str, ...], accounts: list[str | None]
) -> None:
    expected = [*(("lab", account) for account in accounts), ("shop", None)]
    assert walked(use, managed=managed, resting=resting) == expected


def test_budgets_stay_with_their_hosts_and_the_rest_of_the_plan_as_it_is() -> None:
    plan = on_accounts(PLAN, "acme", {"lab"}, OwnKeyUse.FIRST, lambda vendor: True, ())
    assert [leg.budgets for leg in plan.legs] == [Budgets(1, 2), Budgets(1, 2), Budgets(3, 4)]
    assert (plan.deadline_s, plan.max_attempts) == (5, PLAN.max_attempts)


def test_who_has_no_own_key_keeps_the_plan() -> None:
    assert on_accounts(PLAN, "acme", {}, OwnKeyUse.ONLY, lambda vendor: True, ()) is PLAN


FREE = make_vendor("house", auth=Auth.NONE)
VENDORS = (LAB.vendor, SHOP.vendor, FREE)


def test_own_only_leaves_the_vendors_with_an_own_key_and_those_that_want_none() -> None:
    assert owned_hosts(HostRules(), VENDORS, {"lab"}).only == ("house", "lab")
    rules = HostRules(only=("shop", "lab"), ignore=("house",), order=("lab",))
    assert owned_hosts(rules, VENDORS, {"lab"}) == HostRules(only=("lab",), ignore=("house",), order=("lab",))
    assert owned_hosts(HostRules(only=("shop",)), VENDORS, {"lab"}).only == ()


def test_the_gateways_own_account_matters_only_where_it_comes_first() -> None:
    board = HealthBoard()
    board.note(LAB, AccountFailure("x"), 5, None, 0)
    view = board.view(0)
    assert view.rank(LAB.name, "lab") == 3
    for use, own, rank in (
        (OwnKeyUse.FIRST, {"lab"}, 0),
        (OwnKeyUse.ONLY, {"lab"}, 0),
        (OwnKeyUse.LAST, {"lab"}, 3),
        (OwnKeyUse.FIRST, {"shop"}, 3),
        (OwnKeyUse.FIRST, set(), 3),
    ):
        assert view_of(view, own, use).rank(LAB.name, "lab") == rank


@given(st.sets(st.sampled_from(["lab", "shop", "gone"])), st.sampled_from(OwnKeyUse), st.sets(st.sampled_from("ls")))
def test_free_are_the_vendors_at_which_every_call_is_on_the_own_account(
    own: set[str], use: OwnKeyUse, managed: set[str]
) -> None:
    def is_managed(vendor: Vendor) -> bool:
        return vendor.name[0] in managed

    plan = on_accounts(PLAN, "acme", own, use, is_managed, ())
    charged = {leg.target.vendor.name for leg in plan.legs if leg.target.owner is None}
    free = free_vendors({each.name: each for each in VENDORS}, own, use, is_managed)
    assert free == {"lab", "shop"} - charged
