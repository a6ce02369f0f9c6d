"""The cost of running it is what the arithmetic makes of the figures and the prices."""

import pytest

from bench.cost.__main__ import PAGE, page
from bench.cost.arithmetic import Container, Figures, Load, break_even, container_day, in_container, on_lambda

FIGURES = Figures(
    request_cpu_s=0.5,
    chunk_cpu_s=0.001,
    write_units=10,
    log_bytes=1e6,
    resident_mb=100,
    stream_mb=1,
    counting_s=0,
    counting_mb=512,
)
PRICES = {
    "lambda_gb_second": 0.01,
    "lambda_request": 0.1,
    "api_gateway_request": 0.2,
    "dynamodb_write_unit": 0.03,
    "log_gb": 100.0,
    "fargate_vcpu_hour": 4.0,
    "fargate_gb_hour": 1.0,
    "balancer_hour": 0.5,
    "balancer_unit_hour": 0.0,
}
SHORT = Load("short", 1.5, 0)
SMALL = Container(1.0, 2.0)


def test_the_page_shows_what_the_figures_and_prices_come_to() -> None:
    assert page() == PAGE.read_text("utf-8"), "run `.venv/bin/python -m bench.cost`"


def test_a_request_on_lambda() -> None:
    cost = on_lambda(SHORT, FIGURES, 2_048, PRICES)
    assert cost.compute == pytest.approx(2 * 2.0 * 0.01)
    assert cost.store == pytest.approx(0.3)
    assert cost.logs == pytest.approx(0.1)
    assert cost.total == pytest.approx(0.04 + 0.1 + 0.2 + 0.3 + 0.1)


def test_a_smaller_function_has_less_of_a_processor() -> None:
    half = on_lambda(Load("none", 0, 0), FIGURES, 1_769 // 2, PRICES)
    whole = on_lambda(Load("none", 0, 0), FIGURES, 1_769, PRICES)
    assert half.compute == pytest.approx(whole.compute)


def test_where_both_cost_the_same() -> None:
    requests = break_even(SHORT, FIGURES, 2_048, SMALL, PRICES)
    there = container_day(SMALL, PRICES) + requests * in_container(SHORT, FIGURES, PRICES)
    assert container_day(SMALL, PRICES) == pytest.approx(24 * 6.5)
    assert requests * on_lambda(SHORT, FIGURES, 2_048, PRICES).total == pytest.approx(there)
