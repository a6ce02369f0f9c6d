"""A tool loop through the whole gateway, with a plain OpenAI client, at every kind of row that the catalog has.

The model calls two tools at once, gets their results in the other order, calls a third, answers, and is asked again.
The vendors behind check what theirs check: seals byte for byte, places of results, ids, schemas, parameters, keys.
"""

from typing import Any

import pytest
from openai import UnprocessableEntityError

from tests.integration.formats.conversation import ask, called, members, returned
from tests.support.vendors.rows import ROWS, Row
from tests.support.vendors.street import PLAIN, ROUTING, Street
from tests.support.vendors.talk import OPENING, SCRIPT

pytestmark = pytest.mark.asyncio(loop_scope="module")

SURFACES = {False: PLAIN, True: ROUTING}


@pytest.mark.shows("tool loop")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.slug)
async def test_a_tool_loop_goes_round(street: Street, row: Row, stream: bool) -> None:
    vendor = street.vendor(row.slug)
    client = street.sdk[SURFACES[stream]]
    messages: list[Any] = [*OPENING]
    for number, spoken in enumerate(SCRIPT):
        answer = await ask(client, stream=stream, messages=messages, **members(row))
        (choice,) = answer.choices
        assert (choice.message.content or "") == spoken.text
        assert called(choice.message) == [name for name, _ in spoken.calls]
        assert choice.finish_reason == ("tool_calls" if spoken.calls else "stop")
        assert answer.usage is not None
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (50, 20)
        assert len(vendor.served) == number + 1
        messages += returned(choice.message)
    assert vendor.refused == []


async def test_json_beside_tools_is_refused_before_a_host_has_to(street: Street) -> None:
    slug = "google.gemini-2.5-flash"
    vendor = street.vendor(slug)
    request = {**members(vendor.row), "response_format": {"type": "json_object"}}
    with pytest.raises(UnprocessableEntityError, match="JSON only without tools"):
        await street.sdk[PLAIN].chat.completions.create(
            messages=[*OPENING, {"role": "user", "content": "JSON!"}], **request
        )
    assert (vendor.served, vendor.refused) == ([], [])
