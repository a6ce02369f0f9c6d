"""What a process learns of its hosts, and what it shows of it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.errors import (
    AccountFailure,
    GatewayError,
    ModelUnavailable,
    NoContent,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
from core.ports import HostNews
from core.routing.board import HealthBoard, HealthView
from core.routing.health import OUT_OF_ROTATION_S, PROBE_S
from tests.support.targets import make_target, make_vendor

NOW = 5_000.0
SHOP = make_vendor("shop")
ONE = make_target("one", vendor=SHOP)
TWO = make_target("two", vendor=SHOP)
ELSEWHERE = make_target("one", vendor=make_vendor("other"))


def board_after(*errors: GatewayError | None) -> HealthBoard:
    board = HealthBoard()
    for error in errors:
        board.note(ONE, error, 50, None, NOW)
    return board


def ranks(view: HealthView) -> list[int]:
    return [view.rank(target.name, target.vendor.name) for target in (ONE, TWO, ELSEWHERE)]


def test_nothing_is_known_at_first() -> None:
    view = HealthBoard().view(NOW)
    assert (view.cooling(), ranks(view), view.ttft_ms(ONE.name)) == ([], [0, 0, 0], None)


def test_answers_are_timed() -> None:
    board = HealthBoard()
    board.note(ONE, None, 900, 250, NOW)
    assert board.view(NOW).ttft_ms(ONE.name) == 250


def test_a_host_that_fails_is_shaky_and_then_out_of_use() -> None:
    board = board_after(*[UpstreamUnavailable("x")] * 2)
    assert ranks(board.view(NOW)) == [1, 0, 0]
    board.note(ONE, UpstreamUnavailable("x"), 50, None, NOW)
    assert (board.view(NOW).cooling(), ranks(board.view(NOW))) == ([ONE.name], [3, 0, 0])


def test_retry_after_is_obeyed() -> None:
    view = board_after(UpstreamRateLimited("x", retry_after_s=30)).view(NOW + 29)
    assert view.cooling() == [ONE.name]
    assert board_after(UpstreamUnavailable("x", retry_after_s=30)).view(NOW + 31).cooling() == []


def test_a_model_that_is_not_there_is_left_alone_once_that_is_sure() -> None:
    assert board_after(ModelUnavailable("x")).view(NOW).cooling() == []
    assert board_after(*[ModelUnavailable("x")] * 3).view(NOW).cooling() == [ONE.name]


def test_an_account_that_fails_takes_all_its_hosts_out_of_rotation() -> None:
    view = board_after(AccountFailure("x")).view(NOW)
    assert (view.cooling(), ranks(view)) == (["shop"], [3, 3, 0])


def test_what_teaches_nothing_changes_nothing() -> None:
    assert ranks(board_after(*[NoContent("x")] * 9).view(NOW)) == [0, 0, 0]


def test_one_probe_restores_a_host_and_its_account() -> None:
    board = board_after(AccountFailure("x"), *[UpstreamUnavailable("x")] * 3)
    then = NOW + OUT_OF_ROTATION_S
    assert ranks(board.view(then)) == [2, 2, 0]
    board.probe(ONE, then)
    assert ranks(board.view(then + 1)) == [3, 3, 0]
    assert ranks(board.view(then + PROBE_S)) == [2, 2, 0]
    board.note(ONE, None, 40, 20, then + 2)
    assert (ranks(board.view(then + 2)), board.view(then + 2).doubtful) == ([1, 0, 0], {ONE.name})


def test_a_host_that_is_well_or_cooling_is_not_probed() -> None:
    board = board_after(*[UpstreamUnavailable("x")] * 3)
    board.probe(ONE, NOW)
    board.probe(TWO, NOW)
    assert ranks(board.view(NOW + 11)) == [2, 0, 0]


def failing_board() -> HealthBoard:
    return board_after(*[UpstreamUnavailable("x")] * 3)


COOLING_MS = 5_010_000


def test_a_cooldown_is_news_until_it_was_told() -> None:
    board = failing_board()
    news = board.news()
    assert news == {ONE.name: HostNews(COOLING_MS, cooldowns=1)}
    board.told(news)
    assert board.news() == {}
    board.note(ONE, UpstreamUnavailable("x"), 50, None, NOW + 11)
    assert board.news() == {ONE.name: HostNews(5_031_000, cooldowns=2)}


def test_what_changes_while_it_is_told_is_news_still() -> None:
    board = failing_board()
    news = board.news()
    board.note(ONE, UpstreamRateLimited("x", retry_after_s=60), 50, None, NOW)
    board.told(news)
    assert board.news() == {ONE.name: HostNews(5_060_000, cooldowns=1)}


def test_a_first_token_time_is_news_when_it_has_changed() -> None:
    board = HealthBoard()
    board.note(ONE, None, 900, 200, NOW)
    news = board.news()
    assert news == {ONE.name: HostNews(ttft_ms=200)}
    board.told(news)
    board.note(ONE, None, 900, 400, NOW)
    assert board.news() == {}
    board.note(ONE, None, 900, 400, NOW)
    assert board.news() == {ONE.name: HostNews(ttft_ms=272)}
    board.learn({})
    board.told({ONE.name: HostNews(ttft_ms=272)})
    assert board.news() == {}


def test_a_near_host_s_times_are_not_told_again_for_milliseconds() -> None:
    board = HealthBoard()
    board.note(ONE, None, 900, 2, NOW)
    board.told(board.news())
    board.note(ONE, None, 900, 20, NOW)
    assert board.news() == {}
    board.note(ONE, None, 900, 200, NOW)
    assert board.news() != {}


def test_a_time_that_others_have_forgotten_is_told_again() -> None:
    board = HealthBoard()
    board.note(ONE, None, 900, 200, NOW)
    board.told(board.news())
    board.learn({})
    board.note(ONE, None, 900, 200, NOW)
    assert board.news() == {ONE.name: HostNews(ttft_ms=200)}


def test_an_account_that_fails_is_news_of_the_vendor() -> None:
    assert [*board_after(AccountFailure("x")).news()] == ["shop"]


def test_what_others_tell_is_known_and_is_no_news() -> None:
    board = HealthBoard()
    board.learn({ONE.name: HostNews(COOLING_MS, cooldowns=3), TWO.name: HostNews(ttft_ms=90)})
    view = board.view(NOW)
    assert (view.cooling(), ranks(view), view.ttft_ms(TWO.name)) == ([ONE.name], [3, 0, 0], 90)
    assert board.news() == {}
    # The next failure goes on from the others' count.
    board.note(ONE, UpstreamUnavailable("x"), 50, None, NOW + 11)
    assert board.news() == {ONE.name: HostNews(5_091_000, cooldowns=4)}


def test_what_was_measured_here_is_not_replaced() -> None:
    board = HealthBoard()
    board.note(ONE, None, 900, 200, NOW)
    board.learn({ONE.name: HostNews(ttft_ms=90)})
    assert board.view(NOW).ttft_ms(ONE.name) == 200


@given(st.lists(st.tuples(st.sampled_from([ONE.name, "shop"]), st.integers(1, 10_000_000)), max_size=6), st.data())
def test_the_latest_deadline_holds_in_whatever_order_it_is_learnt(
    deadlines: list[tuple[str, int]], data: st.DataObject
) -> None:
    boards = [HealthBoard(), failing_board()]
    for board, order in zip(boards, (deadlines, data.draw(st.permutations(deadlines))), strict=True):
        for name, until_ms in (*order, *order):
            board.learn({name: HostNews(until_ms, 1)})
    boards[0].learn({ONE.name: HostNews(COOLING_MS, 1)})
    for moment in (NOW - 1, NOW, NOW + 9, NOW + 11, NOW + 5_000):
        assert boards[0].view(moment).cooling() == boards[1].view(moment).cooling()


def test_a_probe_stays_at_home_and_a_later_deadline_ends_it() -> None:
    board = failing_board()
    board.told(board.news())
    board.probe(ONE, NOW + 10)
    assert board.news() == {}
    board.learn({ONE.name: HostNews(5_040_000, 2)})
    assert board.view(NOW + 35).cooling() == [ONE.name]
    board.note(ONE, None, 40, None, NOW + 12)
    assert board.view(NOW + 35).cooling() == [ONE.name]


def test_what_an_own_account_meets_says_nothing_of_the_gateways() -> None:
    mine = replace(ONE, owner="acme")
    board = HealthBoard()
    for error in (AccountFailure("x"), UpstreamRateLimited("x", retry_after_s=9), ModelUnavailable("x")):
        for _ in range(5):
            board.note(mine, error, 50, None, NOW)
    assert ranks(board.view(NOW)) == [0, 0, 0]
    for _ in range(3):
        board.note(mine, UpstreamUnavailable("x"), 50, None, NOW)
    assert ranks(board.view(NOW)) == [3, 0, 0], "a host that is down is down for all"


def test_an_own_account_that_works_does_not_mend_the_gateways() -> None:
    mine = replace(ONE, owner="acme")
    board = board_after(AccountFailure("x"))
    later = NOW + OUT_OF_ROTATION_S
    board.probe(mine, later)
    assert ranks(board.view(later)) == [2, 2, 0]
    board.note(mine, None, 50, 20, later)
    assert ranks(board.view(later)) == [2, 2, 0]
    board.note(ONE, None, 50, 20, later)
    assert ranks(board.view(later)) == [0, 0, 0]
