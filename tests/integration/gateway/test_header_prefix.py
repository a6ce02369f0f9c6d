"""The operator's own name for our headers, on everything that goes out."""

from pathlib import Path

from tests.support.answers import HELLO
from tests.support.phases import body, open_stage

OWN = "x-acme-"
ALWAYS = {"request-id"}


async def test_every_answer_has_the_operators_prefix_and_none_has_ours(tmp_path: Path) -> None:
    async with open_stage(tmp_path, HELLO, variables={"HEADRACE_HEADER_PREFIX": "X-Acme-"}) as stage:
        chat = "/v1/chat/completions"
        answers = [
            (ALWAYS | {"model", "cost-micros", "latency-ms"}, await stage.client.post(chat, json=body())),
            (ALWAYS | {"model"}, await stage.client.post(chat, json=body(stream=True))),
            (ALWAYS, await stage.client.post(chat, json=body(n=0))),
            (ALWAYS, await stage.client.post(chat, json=body(), headers={"authorization": "Bearer hr_"})),
            (ALWAYS, await stage.client.get("/nowhere")),
        ]
    assert [response.status_code for _, response in answers] == [200, 200, 400, 401, 404]
    for names, response in answers:
        own = {name.removeprefix(OWN) for name in response.headers if name.startswith(OWN)}
        assert own == names
        assert not any(name.startswith("x-inferbase-") for name in response.headers)
        assert response.headers[f"{OWN}request-id"] == response.headers["x-request-id"]
