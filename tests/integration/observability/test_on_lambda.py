"""On Lambda all is told and sent after the answer is out, and before the next request is asked for."""

import json
from pathlib import Path

from functions.gateway.compose import Gateway
from functions.gateway.finished import Finished
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import HELLO
from tests.support.clock import ManualClock
from tests.support.gateway import CATALOG
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving
from tests.support.upstream import ScriptedUpstream
from tests.support.watching import ACCEPTED, spans_in


async def test_a_request_is_told_of_before_the_environment_asks_for_the_next(tmp_path: Path) -> None:
    told: list[Finished] = []

    class Noting:
        def finished(self, request: Finished) -> None:
            told.append(request)

    clock = ManualClock()
    async with (
        ScriptedUpstream(HELLO) as upstream,
        ScriptedUpstream(ACCEPTED, checks=False) as collector,
        RuntimeApiEmulator() as api,
    ):
        variables = {
            "HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db"),
            "HEADRACE_TRACES": "otlp",
            "HEADRACE_TRACES_ENDPOINT": f"{collector.url}/v1/traces",
        }
        gateway = Gateway(
            read_settings(variables),
            variables,
            clock=clock,
            own_catalog=(("test.toml", CATALOG.format(upstream=upstream.url)),),
            observers=[Noting()],
        )
        async with serving(api, gateway, clock):
            await api.waits_for_polls(1)
            token, _ = await create_key(gateway.service.parts.store, "default", "tests")
            body = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}
            event = rest_event(json.dumps(body).encode(), headers={"Authorization": [f"Bearer {token}"]})
            call = await api.invoke(event, deadline=clock.now() + 60).done()
            await api.polled(2)
            (request,) = told
            spans = spans_in(collector.received)
    assert call.body.endswith(b"data: [DONE]\n\n")
    assert (request.result, request.request_id) == ("served", call.headers["x-request-id"])
    assert [span.name for span in spans] == ["POST /v1/chat/completions", "chat small-upstream"]
    assert spans[0].attributes["headrace.request_id"] == request.request_id
