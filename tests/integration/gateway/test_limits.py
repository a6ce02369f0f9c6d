"""Budgets and rates through the whole gateway: what passes, what is refused with which words, and what is left held."""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from itertools import count
from typing import Any

import httpx
import pytest
import pytest_asyncio

from core.counters import MICROS, PARALLEL, REQUESTS, TOKENS, unit_of
from core.decision import Policy
from core.holding import READ_S
from core.record import Record
from core.reservation import ORGANISATION, Reservation, Standing, key_subject
from core.surfaces.surface import PLAIN
from core.tenant import FREE_PLAN, PREPAID_PLAN, Key, Limits, Organisation, Plan
from functions.local.keys import create_key
from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.auto_catalog import CHEAP, STRONG
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.gateway import CATALOG, Running, running_gateway
from tests.support.script import Received, Reset, Script, Signal, Step, reply, stream
from tests.support.upstream import ScriptedUpstream

NO_LIMITS = Limits()
QUESTION: list[Any] = [{"role": "user", "content": "Hello?"}]
DOWN = reply({"error": {"message": "down"}}, 503)
pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = {name: f"x-ratelimit-{name}" for name in ("limit-requests", "remaining-requests", "reset-requests")}
_names = count()


def body(**members: Any) -> dict[str, Any]:
    return {"model": "lab/small", "messages": QUESTION, "max_tokens": 64, **members}


async def limited(
    running: Running,
    limits: Limits = NO_LIMITS,
    *,
    of_organisation: Limits = NO_LIMITS,
    plan: Plan | None = None,
    credit_micros: int = 0,
) -> "Caller":
    """A caller with limits, of an organisation of its own."""
    org = f"org-{next(_names)}"
    directory = running.gateway.service.parts.directory
    if plan is not None:
        await directory.save_plan(plan)
    organisation = Organisation(org, org, 1, limits=of_organisation, plan="standard" if plan is None else plan.id)
    await directory.save_organisation(organisation)
    if credit_micros:
        await directory.pay_in(org, "first", credit_micros, 1)
    token, key = await create_key(running.store, org, "tests")
    await directory.save_key(replace(key, limits=limits))
    return Caller(running, token, replace(key, limits=limits))


class Stage:
    """One gateway for all these tests: each plays scripts of its own, as an organisation of its own.

    The gateway's time is `clock`, `store` may be away, and while `forgets` is set it does not tell where two subjects
    stand, as DynamoDB does not. What the store is asked by the names in `late` waits until it is `released`.
    """

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.upstream = ScriptedUpstream(self._script)
        self.running: Running
        self.store: AwayStore
        self.forgets = False
        self.late: set[str] = set()
        self.waiting: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.released = asyncio.Event()
        self._scripts: tuple[Script, ...] = (HELLO,)
        self._before = 0

    def plays(self, *scripts: Script) -> None:
        """One per request from now on, the last one for all that follow."""
        self._scripts = scripts
        self.store.away.clear()
        self.forgets = False
        self.late = set()
        self.waiting.clear()
        self.released.clear()
        self._before = len(self.upstream.received)

    @property
    def received(self) -> list[Received]:
        """What was asked of the upstream since then."""
        return self.upstream.received[self._before :]

    def arrival(self, number: int) -> Signal:
        return self.upstream.arrival(self._before + number)

    async def is_late(self, name: str) -> None:
        """Return once the store was asked by that name, and waits."""
        await self.waiting[name].wait()

    def wrapped(self, store: Any) -> Any:
        self.store = AwayStore(_Forgetful(self, store))
        return self.store

    async def hurry(self, seconds: float, work: Coroutine[Any, Any, httpx.Response]) -> httpx.Response:
        """Let short waits pass until the answer is there."""
        asking = asyncio.ensure_future(work)
        while not asking.done():
            await asyncio.wait([asking], timeout=0.01)
            if (due := self.clock.due_in()) is not None and due <= seconds:
                await self.clock.advance(due)
        return asking.result()

    def _script(self, received: Received) -> Any:
        number = len(self.received) - 1
        script = self._scripts[min(number, len(self._scripts) - 1)]
        return script(received) if callable(script) else script


class _Forgetful:
    def __init__(self, stage: Stage, store: Any) -> None:
        self._stage = stage
        self._store = store

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def in_time(*asked: Any, **members: Any) -> Any:
            if name in self._stage.late:
                self._stage.waiting[name].set()
                await self._stage.released.wait()
            answer = await method(*asked, **members)
            if name == "reserve" and self._stage.forgets:
                return replace(answer, standings=dict.fromkeys(answer.standings))
            return answer

        return in_time


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    made = Stage()
    folder = tmp_path_factory.mktemp("limits")
    async with (
        made.upstream as upstream,
        running_gateway(
            folder,
            upstream.url,
            clock=made.clock,
            catalog="\n".join((CATALOG, STRONG, CHEAP)),
            replace_store=made.wrapped,
        ) as running,
    ):
        made.running = running
        yield made
        made.plays(HELLO)
        made.released.set()


class Caller:
    def __init__(self, running: Running, token: str, key: Key) -> None:
        self.running = running
        self.key = key
        self.client = running.client(authorization=f"Bearer {token}")

    async def ask(self, **members: Any) -> httpx.Response:
        return await self.client.post("/v1/chat/completions", json=body(**members))

    async def refused(self, **members: Any) -> tuple[int, str, str, httpx.Headers]:
        return self.error(await self.ask(**members))

    def error(self, response: httpx.Response) -> tuple[int, str, str, httpx.Headers]:
        error = response.json()["error"]
        return response.status_code, error["code"], error["message"], response.headers

    async def standing(self, subject: str | None = None) -> Standing:
        subject = subject or key_subject(self.key.id)
        await self.idle()
        return (await self.running.store.standings(self.key.org, [subject]))[subject]

    async def idle(self) -> None:
        await self.running.gateway.service.parts.background.idle()

    async def used(self, unit: str, subject: str | None = None) -> set[int]:
        counters = (await self.standing(subject)).counters
        return {value for name, value in counters.items() if unit_of(name) == unit}

    async def __aenter__(self) -> "Caller":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()


class TestMoney:
    async def test_of_many_at_once_as_many_pass_as_fit_and_nothing_stays_held(self, stage: Stage) -> None:
        stage.plays(text_answer("Hello", wait="end 1"))
        async with await limited(stage.running, Limits(day_micros=10**9)) as caller:
            first = asyncio.ensure_future(caller.ask())
            await stage.arrival(0).wait()
            (standing,) = (await stage.running.store.standings(caller.key.org, [key_subject(caller.key.id)])).values()
            (held,) = standing.counters.values()
            stage.upstream.barrier("end 1").released.set()
            assert (await first).json()["usage"]["cost_micros"] == 1_053
            assert held > 1_053
            assert await caller.used(MICROS) == {1_053}

            room = 1_053 + 10 * held
            limits = replace(caller.key, limits=Limits(day_micros=room, month_micros=room))
            await stage.running.gateway.service.parts.directory.save_key(limits)
            answers = await asyncio.gather(*(caller.ask() for _ in range(32)))
            passed = [answer for answer in answers if answer.status_code == 200]
            assert len(passed) >= 10
            assert {answer.status_code for answer in answers} <= {200, 402}
            standing = await caller.standing()
            assert standing.held == {}
            assert max(standing.counters.values()) == (1 + len(passed)) * 1_053 <= room

    async def test_whatever_a_prompt_is_written_in_a_budget_holds(self, stage: Stage) -> None:
        """Of some scripts every byte is a token of its own."""
        text = "\U00013000\U00013001\U00013002\U00013003" * 100
        tokens = len(text.encode())
        stage.plays(text_answer("Hello", prompt=tokens + 10, completion=5))
        async with await limited(stage.running, Limits(day_micros=3 * 5 * tokens)) as caller:
            asked = {"messages": [{"role": "user", "content": text}], "max_tokens": 10}
            answers = await asyncio.gather(*(caller.ask(**asked) for _ in range(16)))
            assert {answer.status_code for answer in answers} == {200, 402}
            (used,) = await caller.used(MICROS)
            assert used <= 3 * 5 * tokens

    async def test_a_budget_that_is_used_up_is_told_with_when_it_starts_anew(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(day_micros=2_500, month_micros=10**9)) as caller:
            assert (await caller.ask()).status_code == 200
            await caller.idle()
            status, code, message, headers = await caller.refused(max_tokens=200)
            assert (status, code) == (402, "budget_exceeded")
            assert "This key may spend $0.0025 a day. $0.001053 are used or held" in message
            assert "The limit starts anew at 2026-09-22T00:00:00Z." in message
            assert headers["x-should-retry"] == "false"
            assert "retry-after" not in headers
            assert (await caller.ask()).status_code == 200
            assert len(stage.received) == 2

    async def test_the_organisation_and_its_key_are_both_held_to_theirs(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(
            stage.running, Limits(month_micros=10**9), of_organisation=Limits(month_micros=2_500)
        ) as caller:
            assert (await caller.ask()).status_code == 200
            await caller.idle()
            status, code, message, _ = await caller.refused(max_tokens=200)
            assert (status, code) == (402, "budget_exceeded")
            assert "The organisation may spend $0.0025 a month" in message
            assert await caller.used(MICROS) == await caller.used(MICROS, ORGANISATION) == {1_053}

    async def test_credits_are_spent_and_paid_in_again(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, plan=PREPAID_PLAN, credit_micros=2_500) as caller:
            assert (await caller.ask()).status_code == 200
            await caller.idle()
            status, code, message, _ = await caller.refused(max_tokens=200)
            assert (status, code) == (402, "insufficient_credits")
            assert "$0.0025 were paid in, $0.001053 of that are used or held" in message
            await stage.running.gateway.service.parts.directory.pay_in(caller.key.org, "second", 10_000, 1)
            assert (await caller.ask(max_tokens=200)).status_code == 200

    async def test_a_model_of_unknown_price_is_not_for_those_who_are_limited_in_money(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with (
            await limited(stage.running, Limits(day_micros=10**9)) as caller,
            await limited(stage.running, Limits(day_requests=9)) as other,
        ):
            status, code, message, _ = await caller.refused(model="lab/unpriced")
            assert (status, code) == (422, "no_eligible_model")
            assert "What lab/unpriced costs is not known (price_unknown)" in message
            chosen = await caller.client.post("/api/v1/inference/chat/completions", json=body(model="auto"))
            assert chosen.json()["routing"]["excluded"] == {"price_unknown": 1}
            assert (await other.ask(model="lab/unpriced")).status_code == 200

    async def test_without_a_limit_of_its_own_a_request_holds_the_policys_default(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(day_micros=5_000)) as caller:
            directory = stage.running.gateway.service.parts.directory
            status, *_ = await caller.refused(max_tokens=None)
            assert status == 402
            await directory.save_policy(caller.key.org, Policy(max_tokens_default=100))
            assert (await caller.ask(max_tokens=None)).status_code == 200
            assert "max_tokens" not in stage.received[0].json


class TestRates:
    async def test_requests_a_minute_are_counted_and_told(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(minute_requests=2, day_requests=9)) as caller:
            left = 60 - stage.clock.now() % 60
            first, second = await caller.ask(), await caller.ask(stream=True)
            assert [first.headers[name] for name in NAMES.values()] == ["2", "1", f"{left:.0f}s"]
            assert [second.headers[name] for name in NAMES.values()] == ["2", "0", f"{left:.0f}s"]
            assert "x-ratelimit-limit-tokens" not in first.headers
            status, code, message, headers = await caller.refused()
            assert (status, code) == (429, "rate_limited")
            assert "This key may send 2 requests a minute. 2 are used." in message
            assert headers["retry-after"] == f"{left:.0f}"
            assert "x-should-retry" not in headers
            assert [headers[name] for name in NAMES.values()] == ["2", "0", f"{left:.0f}s"]
            await stage.clock.advance(left)
            assert (await caller.ask()).status_code == 200

    async def test_a_wait_until_tomorrow_is_told_and_not_for_clients_to_repeat(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(day_requests=1)) as caller:
            await caller.ask()
            left = 86_400 - stage.clock.now() % 86_400
            for stream in (False, True):
                status, code, _, headers = await caller.refused(stream=stream)
                assert (status, code) == (429, "rate_limited")
                assert (headers["retry-after"], headers["x-should-retry"]) == (f"{left:.0f}", "false")

    async def test_tokens_a_minute_are_held_and_settled(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(minute_tokens=400)) as caller:
            answer = await caller.ask()
            assert answer.headers["x-ratelimit-limit-tokens"] == "400"
            assert int(answer.headers["x-ratelimit-remaining-tokens"]) < 400 - 64
            assert re.fullmatch(r"(\d+m)?\d+s", answer.headers["x-ratelimit-reset-tokens"])
            assert await caller.used(TOKENS) == {95}
            status, code, message, headers = await caller.refused(max_tokens=300)
            assert (status, code) == (429, "rate_limited")
            assert "may use 400 tokens a minute" in message
            status, code, message, headers = await caller.refused(max_tokens=500)
            assert (status, code) == (429, "rate_limited")
            assert "This request alone may come to" in message
            assert headers["x-should-retry"] == "false"
            assert "retry-after" not in headers

    async def test_of_two_subjects_the_one_with_less_left_is_told(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(
            stage.running, Limits(minute_requests=9), of_organisation=Limits(day_requests=2)
        ) as caller:
            answer = await caller.ask(stream=True)
            assert answer.headers["x-ratelimit-limit-requests"] == "2"
            assert answer.headers["x-ratelimit-remaining-requests"] == "1"
            assert re.fullmatch(r"\d+h\d+m\d+s", answer.headers["x-ratelimit-reset-requests"])

    async def test_parallel_requests_are_slots_that_come_back(self, stage: Stage) -> None:
        stage.plays(text_answer("Hello", wait="end 10"))
        async with await limited(stage.running, Limits(parallel=10)) as caller:
            asking = [asyncio.ensure_future(caller.ask(stream=bool(number % 2))) for number in range(64)]
            done = 0
            while done < 54:
                _, pending = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                done = len(asking) - len(pending)
                await asyncio.sleep(0)
                asking_now = [each for each in asking if each.done()]
                assert all(each.result().status_code == 429 for each in asking_now)
            stage.upstream.barrier("end 10").released.set()
            answers = await asyncio.gather(*asking)
            assert [answer.status_code for answer in answers].count(200) == 10
            refused = next(answer for answer in answers if answer.status_code == 429)
            assert "may have 10 requests under way at a time. 10 are." in refused.json()["error"]["message"]
            assert refused.headers["retry-after"] == "1"
            assert await caller.used(PARALLEL) == {0}
            assert (await caller.ask()).status_code == 200

    async def test_a_failure_says_what_is_left_too(self, stage: Stage) -> None:
        stage.plays(reply({"error": {"message": "no"}}, 400))
        async with await limited(stage.running, Limits(day_requests=9)) as caller:
            answer = await caller.ask()
            assert (answer.status_code, answer.headers["x-ratelimit-remaining-requests"]) == (400, "8")
            assert await caller.used(REQUESTS) == {1}
            assert (await caller.standing()).held == {}


class TestPlans:
    async def test_the_free_plan_charges_nothing_and_ends(self, stage: Stage) -> None:
        free = replace(FREE_PLAN, limits=Limits(day_requests=2, month_requests=9))
        stage.plays(HELLO)
        async with await limited(stage.running, plan=free) as caller:
            answers = [await caller.ask() for _ in range(2)]
            assert [answer.json()["usage"]["cost_micros"] for answer in answers] == [0, 0]
            status, code, message, headers = await caller.refused()
            assert (status, code) == (402, "free_plan_exhausted")
            assert "The plan 'Free' gives 2 requests a day, and 2 are used." in message
            assert headers["x-ratelimit-remaining-requests"] == "0"

    async def test_on_the_free_plan_no_price_need_be_known(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, plan=FREE_PLAN) as caller:
            response = await caller.ask(model="lab/unpriced", routing={"max_cost_micros": 1})
            usage = response.json()["usage"]
            assert (usage["cost_micros"], usage["cost"]) == (0, 0)
            assert "pricing_unknown" not in usage
            assert response.headers["x-inferbase-cost-micros"] == "0"
            (record,) = await stage.running.store.records(caller.key.org, 1)
            shown: Any = record.decision["attempts"]
            assert [attempt["cost_micros"] for attempt in shown] == [0]

    async def test_a_plan_bounds_what_its_organisations_spend_a_day(self, stage: Stage) -> None:
        stage.plays(HELLO)
        small = Plan("small", "Small", limits=Limits(day_micros=2_500))
        async with await limited(stage.running, plan=small) as caller:
            assert (await caller.ask()).status_code == 200
            await caller.idle()
            status, code, message, _ = await caller.refused(max_tokens=200)
            assert (status, code) == (402, "budget_exceeded")
            assert "The organisation may spend $0.0025 a day. $0.001053 are used" in message

    async def test_requests_of_the_organisations_own_limit_are_a_rate_on_any_plan(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, of_organisation=Limits(day_requests=1), plan=FREE_PLAN) as caller:
            assert (await caller.ask()).status_code == 200
            status, code, message, headers = await caller.refused()
            assert (status, code) == (429, "rate_limited")
            assert int(headers["retry-after"]) > 1
            assert "The organisation may send 1 request a day" in message

    @pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
    async def test_a_longer_answer_than_the_plan_allows_is_refused(self, stage: Stage, field: str) -> None:
        stage.plays(HELLO)
        async with await limited(
            stage.running, plan=Plan("short", "Short", max_output_tokens=50, max_input_tokens=60)
        ) as caller:
            asked = {"model": "lab/small", "messages": QUESTION}
            for path in ("chat/completions", "route"):
                answer = await caller.client.post(f"/v1/{path}", json={**asked, field: 51})
                error = answer.json()["error"]
                assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_value", field)
                assert "at most 50 tokens" in error["message"]
            long = [{"role": "user", "content": "word " * 100}]
            answer = await caller.client.post("/v1/chat/completions", json={**asked, "messages": long})
            assert (answer.status_code, answer.json()["error"]["param"]) == (400, "messages")
            assert stage.received == []
            assert (await caller.client.post("/v1/chat/completions", json=asked)).status_code == 200
            assert stage.received[0].json["max_tokens"] == 50
            assert (await caller.client.post("/v1/chat/completions", json={**asked, field: 20})).status_code == 200
            sent = stage.received[1].json
            assert sent.get("max_tokens", sent.get("max_completion_tokens")) == 20

    async def test_asking_what_would_be_decided_takes_nothing(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(day_requests=1)) as caller:
            for _ in range(3):
                assert (await caller.client.post("/v1/route", json=body())).status_code == 200
            assert (await caller.standing()) == Standing()


class TestHotPath:
    @pytest.mark.parametrize(
        ("limits", "blocking"),
        [
            (Limits(), []),
            (Limits(day_micros=10**9, minute_requests=99), ["reserve"]),
        ],
        ids=["without", "with"],
    )
    @pytest.mark.parametrize("both", [False, True])
    async def test_before_the_call_the_store_is_asked_once_at_most(
        self, stage: Stage, limits: Limits, blocking: list[str], both: bool
    ) -> None:
        stage.plays(text_answer("Hello", wait="end 16"))
        async with await limited(stage.running, limits, of_organisation=limits if both else Limits()) as caller:
            stage.upstream.barrier("end 16").released.set()
            assert (await caller.ask()).status_code == 200
            await caller.idle()
            # Opening the record runs beside the call, and so does looking what is left of two limits.
            store = stage.store
            store.calls.clear()
            stage.late = {"open", "standings", "mark", "touch_key"}
            asking = asyncio.ensure_future(caller.ask(stream=True))
            await stage.arrival(1).wait()
            assert [call for call in store.calls if call not in stage.late] == blocking
            stage.released.set()
            answer = await asking
            assert answer.status_code == 200


class TestStoreAway:
    async def test_limits_fail_closed(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with (
            await limited(stage.running, Limits(day_requests=9)) as caller,
            await limited(stage.running) as free,
        ):
            assert (await caller.ask()).status_code == (await free.ask()).status_code == 200
            stage.store.away.add("reserve")
            status, code, _, _ = await caller.refused()
            assert (status, code) == (503, "store_unavailable")
            assert (await free.ask()).status_code == 200
            assert len(stage.received) == 3
            assert (await caller.standing()).held == {}
            assert await caller.used(REQUESTS) == {1}

    async def test_what_is_left_may_have_to_be_read_or_stay_unknown(self, stage: Stage) -> None:
        limits = Limits(day_requests=9)
        stage.plays(HELLO)
        stage.forgets = True
        async with await limited(stage.running, limits, of_organisation=limits) as caller:
            answer = await caller.ask()
            assert (answer.status_code, answer.headers["x-ratelimit-remaining-requests"]) == (200, "8")
            stage.store.away.add("standings")
            answer = await caller.ask()
            assert (answer.status_code, "x-ratelimit-limit-requests" in answer.headers) == (200, False)
            stage.store.away.clear()
            stage.late.add("standings")
            answer = await stage.hurry(READ_S, caller.ask())
            assert (answer.status_code, "x-ratelimit-limit-requests" in answer.headers) == (200, False)
            stage.released.set()

    async def test_a_settling_that_is_lost_is_made_up_for_when_there_is_no_room(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(parallel=1, month_micros=10**9)) as caller:
            stage.store.away.add("settle_reservation")
            assert (await caller.ask()).status_code == 200
            await caller.idle()
            stage.store.away.clear()
            assert len((await caller.standing()).held) == 1
            status, code, *_ = await caller.refused()
            assert (status, code) == (429, "rate_limited")
            await stage.clock.advance(901)
            assert (await caller.ask()).status_code == 200
            assert (await caller.standing()).held == {}
            assert await caller.used(MICROS) == {2 * 1_053}


class TestLeaving:
    async def test_a_caller_who_leaves_at_any_moment_leaves_nothing_held(self, stage: Stage) -> None:
        """Cancelled at every turn of the event loop between the first byte read and the last one sent."""
        limits = Limits(parallel=64, day_micros=10**9, minute_tokens=10**9, day_requests=10**6)
        stage.plays(text_answer("Hello", " there"))
        async with await limited(stage.running, limits, of_organisation=limits) as caller:
            service = stage.running.gateway.service
            raw = httpx.Request("POST", "http://x", json=body(stream=True)).content

            async def through(exchange: Any) -> None:
                await exchange.start()
                async for _ in exchange.frames():
                    pass

            finished = 0
            for turns in count():
                exchange = service.chat(PLAIN, caller.key, service.parts.new_request_id(), raw)
                task = asyncio.ensure_future(through(exchange))
                for _ in range(turns):
                    await asyncio.sleep(0)
                finished += task.done()
                task.cancel()
                await asyncio.wait([task])
                await exchange.leave()
                if finished == 3:
                    break
            for subject in (None, ORGANISATION):
                standing = await caller.standing(subject)
                assert standing.held == {}
                assert standing.counters[PARALLEL] == 0
            records = await stage.running.store.records(caller.key.org, 10_000)
            assert all(record.is_settled for record in records)
            total = sum(record.charge.total for record in records if record.charge is not None)
            assert await caller.used(MICROS) == await caller.used(MICROS, ORGANISATION) == {total}

    async def test_the_hold_of_a_process_that_died_ends_with_its_lease(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(parallel=1)) as caller:
            subject = key_subject(caller.key.id)
            expires_ms = round(stage.clock.now() * 1000) + 60_000
            lost = Reservation(caller.key.org, "req-lost", expires_ms, {subject: {PARALLEL: 1}})
            await stage.running.store.reserve(lost, {})
            assert (await caller.refused())[0] == 429
            await stage.clock.advance(61)
            assert (await caller.ask()).status_code == 200
            assert await caller.used(PARALLEL) == {0}

    async def test_a_request_that_is_still_under_way_keeps_what_it_holds(self, stage: Stage) -> None:
        stage.plays(HELLO)
        async with await limited(stage.running, Limits(parallel=1)) as caller:
            now_ms = round(stage.clock.now() * 1000)
            long = Record(caller.key.org, "req-long", caller.key.id, now_ms, now_ms + 60_000, "auto", "plain", True)
            held = Reservation(caller.key.org, "req-long", now_ms, {key_subject(caller.key.id): {PARALLEL: 1}})
            await stage.running.store.open(long)
            await stage.running.store.reserve(held, {})
            assert (await caller.refused())[0] == 429
            assert (await caller.standing()).held.keys() == {"req-long"}

    async def test_one_who_leaves_while_more_is_asked_for_leaves_nothing_held(self, stage: Stage) -> None:
        def script(received: Received) -> list[Step]:
            stage.late |= {"reserve", "settle"}
            return ONLY_THOUGHT

        stage.plays(script, HELLO)
        async with await limited(stage.running, Limits(day_micros=10**9, parallel=5)) as caller:
            asking = asyncio.ensure_future(caller.ask(model="auto", routing={"optimize": "quality"}))
            await stage.is_late("reserve")
            asking.cancel()
            await asyncio.wait([asking])
            await stage.is_late("settle")
            stage.released.set()
            standing = await caller.standing()
            assert standing.held == {}
            assert await caller.used(MICROS) == {95 * 9}
            assert await caller.used(PARALLEL) == {0}
            assert len(stage.received) == 1


ONLY_THOUGHT: list[Step] = stream(chunk({"reasoning_content": "Hm"}), chunk({}, "length"), usage_chunk(31, 64))


ONLY_USAGE = stream(chunk({"role": "assistant"}), usage_chunk(31, 64))[:-1]


def by_model(**scripts: Script) -> Any:
    def script(received: Received) -> Any:
        return scripts[received.json["model"]]

    return script


class TestMoreThanOneCall:
    async def test_after_a_charged_failure_the_next_attempt_is_held_too(self, stage: Stage) -> None:
        stage.plays(by_model(strong=ONLY_THOUGHT, cheap=text_answer("Hello", wait="end 22")))
        async with await limited(stage.running, Limits(day_micros=10**9, minute_tokens=10**6)) as caller:
            asking = asyncio.ensure_future(caller.ask(model="auto", routing={"optimize": "quality"}))
            await stage.arrival(0).wait()
            await stage.upstream.barrier("end 22").reached.wait()
            subject = key_subject(caller.key.id)
            raised = (await stage.running.store.standings(caller.key.org, [subject]))[subject]
            stage.upstream.barrier("end 22").released.set()
            answer = await asking
            cost = answer.json()["usage"]["cost_micros"]
            assert cost == 95 * 9 + 95
            (held,) = raised.held.values()
            (record,) = await stage.running.store.records(caller.key.org, 1)
            assert record.reservation is not None
            asked = record.reservation.amounts[subject]
            more = {name: held.amounts[name] - asked[name] for name in asked if name != PARALLEL}
            assert sorted(more.values()) == [95, 95 * 9]
            assert await caller.used(MICROS) == {cost}
            assert await caller.used(TOKENS) == {190}

    async def test_where_there_is_no_room_for_it_the_caller_is_told(self, stage: Stage) -> None:
        stage.plays(by_model(strong=ONLY_THOUGHT, cheap=HELLO))
        async with await limited(stage.running, Limits(day_micros=2_000)) as caller:
            asked = {"model": "auto", "max_tokens": 80, "routing": {"optimize": "quality"}}
            response = await caller.ask(**asked)
            # The answer that was cut before its content is all that there is.
            assert response.status_code == 200
            assert response.json()["choices"][0]["finish_reason"] == "length"
            assert len(stage.received) == 1
            assert await caller.used(MICROS) == {95 * 9}
            (record,) = await stage.running.store.records(caller.key.org, 1)
            assert [row.outcome for row in record.attempts] == ["no_content", "budget_exceeded"]

    @pytest.mark.parametrize("is_stream", [True, False])
    async def test_where_there_is_no_room_for_it_the_failure_is_told(self, stage: Stage, is_stream: bool) -> None:
        stage.plays(by_model(strong=[*ONLY_USAGE, Reset()], cheap=HELLO))
        async with await limited(stage.running, Limits(day_micros=2_000)) as caller:
            asking = caller.ask(model="auto", max_tokens=80, routing={"optimize": "quality"}, stream=is_stream)
            response = await stage.hurry(1, asking)
            status, code, *_ = caller.error(response)
            assert (status, code) == (502, "upstream_error")
            assert response.headers["x-inferbase-cost-micros"] == str(95 * 9)
            assert len(stage.received) == 1
            assert await caller.used(MICROS) == {95 * 9}
            (record,) = await stage.running.store.records(caller.key.org, 1)
            assert record.error_code == "upstream_error"

    async def test_asking_once_more_for_a_document_is_held_or_left(self, stage: Stage) -> None:
        wanted = {"response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": "JSON please"}]}
        scripts = (text_answer("no document"), text_answer('{"a": 1}'), text_answer("no document"))
        stage.plays(*scripts)
        async with await limited(stage.running, Limits(day_micros=4_500)) as caller:
            await stage.running.gateway.service.parts.directory.save_policy(caller.key.org, Policy(reask_json=True))
            answer = (await caller.ask(**wanted)).json()
            assert answer["choices"][0]["message"]["content"] == '{"a": 1}'
            assert answer["usage"]["cost_micros"] == 2 * 1_053
            assert await caller.used(MICROS) == {2 * 1_053}
            left = (await caller.ask(**wanted)).json()
            assert left["choices"][0]["message"]["content"] == "no document"
            assert len(stage.received) == 3
            assert await caller.used(MICROS) == {3 * 1_053}


async def test_a_store_that_fails_while_more_is_asked_for_ends_the_request(stage: Stage) -> None:

    def script(received: Received) -> list[Step]:
        stage.store.away.add("reserve")
        return [*stream(chunk({"content": "Hm"}), usage_chunk(31, 64))[:-1], Reset()]

    stage.plays(script)
    async with await limited(stage.running, Limits(day_micros=10**9)) as caller:
        asking = caller.ask(model="auto", routing={"optimize": "quality"})
        status, code, *_ = caller.error(await stage.hurry(1, asking))
        assert (status, code) == (503, "store_unavailable")
        assert (await caller.standing()).held == {}
        assert len(stage.received) == 1


async def test_down_hosts_leave_nothing_held(stage: Stage) -> None:
    stage.plays(DOWN)
    async with await limited(stage.running, Limits(day_micros=10**9, parallel=1)) as caller:
        for _ in range(2):
            assert (await stage.hurry(1, caller.ask())).status_code == 502
        assert await caller.used(MICROS) == {0}
