"""The fault matrix: what can go wrong at a host, before and after the commit, with and without another host to go to.

For each the caller's outcome, the attempts, the charge and the fate of the upstream connection are looked at.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.answers import HELLO
from tests.support.fault_bench import WORD, Bench, Told, open_bench
from tests.support.fault_scripts import AFTER, BEFORE, USED_MICROS, Fault
from tests.support.script import Close

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The answer cut after its head and after each event: (role, three words, the end, usage), and before the last line.
CUTS = {f"cut after {count} events": Fault([*HELLO[: count + 1], Close()]) for count in range(len(HELLO) - 1)}
UNCOMMITTED, UNFINISHED = 2, 5

FAULTS = {
    **{f"before: {name}": fault for name, fault in BEFORE.items()},
    **{f"after: {name}": fault for name, fault in AFTER.items()},
    **CUTS,
}
NUMBERS = {name: number for number, name in enumerate(FAULTS)}

ways = pytest.mark.parametrize("is_stream", [True, False], ids=["streamed", "whole"])
places = pytest.mark.parametrize("is_last", [True, False], ids=["last", "first"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path_factory.mktemp("faults"), FAULTS) as opened:
        yield opened


async def met(bench: Bench, name: str, is_stream: bool, is_last: bool) -> Told:
    """What comes of a request that meets a fault; no call is left open, and no host is named."""
    place = bench.place(NUMBERS[name], is_stream, is_last)
    told = await place.ask(is_stream)
    await place.closed()
    assert WORD not in told.response.text
    assert WORD not in str(told.response.headers)
    assert [each["outcome"] for each in told.record.decision["attempts"]] == told.outcomes
    check_told(told)
    return told


def check_told(told: Told) -> None:
    """A failure tells what it is charged all the same: in its head, or within a stream in its frame."""
    record = told.record
    if record.error_code is None:
        return
    micros = None if record.usage is None or record.charge is None else record.charge.total
    if told.is_stream:
        assert told.frames[-1].get("usage", {}).get("cost_micros") == micros
    else:
        assert told.response.headers.get("x-inferbase-cost-micros") == (None if micros is None else str(micros))


def check_charge(told: Told, micros: int) -> None:
    assert told.record.charge is not None
    assert told.record.charge.total == micros
    assert all(row.charged is (row.usage is not None) for row in told.record.attempts)


@ways
@pytest.mark.parametrize("name", BEFORE)
async def test_at_the_last_host(bench: Bench, name: str, is_stream: bool) -> None:
    fault = BEFORE[name]
    told = await met(bench, f"before: {name}", is_stream, is_last=True)
    assert told.response.status_code == fault.status
    assert told.outcomes == [fault.outcome] * fault.tries
    check_charge(told, fault.tries * fault.cost)
    if fault.is_answer:
        assert (told.text, told.record.outcome, told.record.finish_reason) == ("", "served", "stop")
        return
    assert told.error["code"] == fault.code
    assert (told.record.outcome, told.record.error_code) == ("failed", fault.code)
    assert "own words" not in told.response.text or fault.status == 400
    assert ("retry-after" in told.response.headers) is (fault.status == 429 and "for" in name)
    assert told.response.headers["x-should-retry"] == "false"


@ways
@pytest.mark.parametrize("name", BEFORE)
async def test_with_another_host(bench: Bench, name: str, is_stream: bool) -> None:
    fault = BEFORE[name]
    told = await met(bench, f"before: {name}", is_stream, is_last=False)
    tries = fault.tries_before_next or fault.tries
    check_charge(told, tries * fault.cost + (USED_MICROS if fault.moves_on else 0))
    if not fault.moves_on:
        assert (told.response.status_code, told.error["code"]) == (fault.status, fault.code)
        assert told.outcomes == [fault.outcome] * tries
        return
    assert (told.response.status_code, told.text) == (200, "Hello there!")
    assert told.outcomes == [*[fault.outcome] * tries, "served"]


@places
@pytest.mark.parametrize("name", AFTER)
async def test_after_the_commit_of_a_stream(bench: Bench, name: str, is_last: bool) -> None:
    fault = AFTER[name]
    told = await met(bench, f"after: {name}", True, is_last)
    assert (told.response.status_code, told.text) == (200, "Hel")
    kind = "stream_error" if fault.outcome == "interrupted" else "upstream_error"
    assert (told.error["code"], told.error["type"]) == (fault.outcome, kind)
    assert told.response.text.endswith("data: [DONE]\n\n")
    assert told.outcomes == [fault.outcome]
    assert (told.record.outcome, told.record.error_code) == ("interrupted", fault.outcome)
    check_charge(told, fault.cost)


@places
@pytest.mark.parametrize("name", AFTER)
async def test_in_the_middle_of_a_whole_answer(bench: Bench, name: str, is_last: bool) -> None:
    fault = AFTER[name]
    told = await met(bench, f"after: {name}", False, is_last)
    failed = [fault.outcome] * fault.tries
    if is_last:
        assert (told.response.status_code, told.error["code"]) == (502, fault.code)
        assert (told.outcomes, told.record.outcome) == (failed, "failed")
        check_charge(told, fault.tries * fault.cost)
    else:
        assert (told.response.status_code, told.text) == (200, "Hello there!")
        assert told.outcomes == [*failed, "served"]
        check_charge(told, fault.tries * fault.cost + USED_MICROS)


@places
@ways
@pytest.mark.parametrize("count", range(len(CUTS)))
async def test_a_cut_at_each_event(bench: Bench, count: int, is_stream: bool, is_last: bool) -> None:
    told = await met(bench, f"cut after {count} events", is_stream, is_last)
    words = ["Hello", " there", "!"][: max(0, count - 1)]
    if count >= UNFINISHED:
        assert (told.response.status_code, told.text) == (200, "Hello there!")
        assert (told.outcomes, told.record.finish_reason) == (["served"], "stop")
        used = told.record.usage
        assert used is not None
        assert used.estimated is (count == UNFINISHED)
        if used.estimated:  # the host's own figures were cut off: they stand for what was asked, and what was said
            assert 0 < used.input_tokens < 31
            assert 0 < used.output_tokens <= len("Hello there!")
            check_charge(told, used.input_tokens * 3 + used.output_tokens * 15)
        else:
            check_charge(told, USED_MICROS)
    elif is_stream and count >= UNCOMMITTED:
        assert (told.text, told.error["code"]) == ("".join(words), "interrupted")
        assert told.outcomes == ["interrupted"]
        check_charge(told, 0)
    elif is_last:
        assert (told.response.status_code, told.error["code"]) == (502, "all_attempts_failed")
        assert told.outcomes == ["interrupted", "interrupted"]
        check_charge(told, 0)
    else:
        assert (told.response.status_code, told.text) == (200, "Hello there!")
        assert told.outcomes == ["interrupted", "interrupted", "served"]
        check_charge(told, USED_MICROS)
