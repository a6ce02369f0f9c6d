"""What a process learns of its hosts, and what it shows of it."""

from core.errors import (
    AccountFailure,
    GatewayError,
    ModelUnavailable,
    NoContent,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
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
    assert (ranks(board.view(then + 2)), board.view(then + 2).doubtful) == ([1, 0, 0], frozenset())


def test_a_host_that_is_well_or_cooling_is_not_probed() -> None:
    board = board_after(*[UpstreamUnavailable("x")] * 3)
    board.probe(ONE, NOW)
    board.probe(TWO, NOW)
    assert ranks(board.view(NOW + 11)) == [2, 0, 0]
