"""What a caller names by address is fetched by us where a host takes bytes only, and never from inside our network."""

from collections.abc import Sequence
from pathlib import Path

from core.catalog.model import Format
from tests.support.golden import GOLDEN, Case
from tests.support.script import Head, Received, Send, Step
from tests.support.vendors.hosts import open_hosts

CASE = Case(Format.BEDROCK, GOLDEN / "bedrock" / "text")
METADATA = "https://169.254.169.254/x"


async def test_the_address_of_cloud_credentials_is_refused_before_any_call(tmp_path: Path) -> None:
    def answer(name: str, request: Received) -> Sequence[Step]:
        return [Head(200), Send(CASE.data)]

    content = [{"type": "image_url", "image_url": {"url": METADATA}}]
    asked = {"model": "bedrock/text", "messages": [{"role": "user", "content": content}]}
    async with open_hosts(tmp_path, {"bedrock/text": CASE.target}, answer) as (running, upstream):
        async with running.client() as client:
            whole = await client.post("/v1/chat/completions", json=asked)
            streamed = await client.post("/v1/chat/completions", json={**asked, "stream": True})
        records = await running.store.records("default", 10)
        assert upstream.received == []
    for response in (whole, streamed):
        error = response.json()["error"]
        assert (response.status_code, error["type"]) == (400, "invalid_request_error")
        assert error["param"] == "messages[0].content[0].image_url.url"
    assert [record.charge.total for record in records if record.charge] == [0, 0]
