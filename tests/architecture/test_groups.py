"""Tests that share an `xdist_group` mark run in one worker, one after the other."""

import pytest

RAN: list[str] = []


@pytest.mark.xdist_group("of-three")
@pytest.mark.parametrize("number", range(3))
def test_a_group_stands_where_the_scheduler_reads_it(request: pytest.FixtureRequest, number: int) -> None:
    is_grouped = bool(getattr(request.config.option, "loadgroup", False))
    assert request.node.nodeid.endswith("]@of-three" if is_grouped else f"[{number}]")
    RAN.append(request.node.name)
    if is_grouped and number == 2:
        assert len(RAN) == 3
