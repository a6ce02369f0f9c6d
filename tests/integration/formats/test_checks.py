"""The vendors of the conversation really check: each call that was taken is refused once something in it is wrong."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest

from core.errors import AccountFailure, UpstreamRejected
from core.providers.registry import provider
from tests.integration.formats.conversation import ask, members, returned
from tests.support.script import Head, Received, Send
from tests.support.vendors.checking import CheckingVendor
from tests.support.vendors.street import PLAIN, Street
from tests.support.vendors.talk import OPENING, SCRIPT

pytestmark = pytest.mark.asyncio(loop_scope="module")

Edit: TypeAlias = Callable[[Any], object]
"""Makes a body wrong, in place."""

FABLE, OPUS, BUDGET = "anthropic.claude-fable-5-1", "anthropic.claude-opus-5", "anthropic.claude-opus-4-5"
ARGON, FLASH = "google.gemini-4-argon", "google.gemini-2.5-flash"
BEDROCK, SIGNED, NOVA = (
    "bedrock-us-east-1.claude-opus-5",
    "bedrock-eu-central-1.claude-opus-5",
    "bedrock-us-east-1.nova-pro",
)
OPENAI, DEEPSEEK, ROUTER = "openai.gpt-6.1-sol", "deepseek.deepseek-v4.1-flash", "openrouter.claude-fable-5"
MISTRAL, TOGETHER, GROQ, LOCAL = (
    "mistral.mistral-large-3",
    "together.deepseek-v4.1-flash",
    "groq.qwen3.8-27b",
    "local-template",
)


def block(number: int, place: int) -> Callable[[Any], Any]:
    """A block of the first message but `number`, where messages have blocks."""
    return lambda body: body["messages"][number]["content"][place]


def part(number: int, place: int) -> Callable[[Any], Any]:
    return lambda body: body["contents"][number]["parts"][place]


def damage(found: Callable[[Any], Any], *path: Any) -> Edit:
    """Another last character but two, where bytes are read: the form is as good as before."""

    def edit(body: Any) -> None:
        inner = found(body)
        *steps, last = path
        for step in steps:
            inner = inner[step]
        text = inner[last]
        inner[last] = text[:-9] + ("A" if text[-9] != "A" else "B") + text[-8:]

    return edit


def put(*path: Any) -> Edit:
    """Set a member: all but the last of the path lead to it."""
    *steps, last, value = path

    def edit(body: Any) -> None:
        inner = body
        for step in steps:
            inner = inner[step]
        inner[last] = value

    return edit


def drop(*path: Any) -> Edit:
    *steps, last = path

    def edit(body: Any) -> None:
        inner = body
        for step in steps:
            inner = inner[step]
        del inner[last]

    return edit


def swap(*path: Any) -> Edit:
    """Exchange two neighbours; the path ends in the first one's place."""
    *steps, first = path

    def edit(body: Any) -> None:
        inner = body
        for step in steps:
            inner = inner[step]
        inner[first], inner[first + 1] = inner[first + 1], inner[first]

    return edit


def split(name: str, inner: str, number: int) -> Edit:
    """One turn as two of the same role."""

    def edit(body: Any) -> None:
        turn = body[name][number]
        body[name][number : number + 1] = [{**turn, inner: turn[inner][:1]}, {**turn, inner: turn[inner][1:]}]

    return edit


def move_signature(body: Any) -> None:
    calls = [each for each in body["contents"][1]["parts"] if "functionCall" in each]
    calls[1]["thoughtSignature"] = calls[0].pop("thoughtSignature")


def mark_all(body: Any) -> None:
    for turn in body["messages"]:
        for each in turn["content"]:
            if each["type"] in ("text", "tool_result", "tool_use"):
                each["cache_control"] = {"type": "ephemeral"}


FOREIGN_TEXT = {"type": "text", "text": "And?"}
CHOICE = {"allowedFunctionNames": ["none"]}

# What is wrong, by the row that must notice it. In these histories message 0 is the user's, 1 the first calls, 2 their
# results; OpenAI's have a system message before that.
WRONG: Sequence[tuple[str, str, Edit]] = (
    (OPUS, "a signature", damage(block(1, 0), "signature")),
    (OPUS, "a later signature", damage(block(3, 0), "signature")),
    (OPUS, "thinking's text", put("messages", 1, "content", 0, "thinking", "The weather.")),
    (OPUS, "redacted thinking", damage(block(1, 1), "data")),
    (OPUS, "thinking that is gone", drop("messages", 1, "content", 0)),
    (OPUS, "thinking in another order", swap("messages", 1, "content", 0)),
    (OPUS, "thinking behind a call", swap("messages", 1, "content", 4)),
    (OPUS, "results in two turns", split("messages", "content", 2)),
    (OPUS, "results in another order", swap("messages", 2, "content", 0)),
    (OPUS, "a result that is gone", drop("messages", 2, "content", 0)),
    (OPUS, "text before a result", put("messages", 2, "content", 0, FOREIGN_TEXT)),
    (OPUS, "an id's characters", put("messages", 1, "content", 3, "id", "call.1")),
    (OPUS, "an id twice", put("messages", 3, "content", 2, "id", "toolu_0_0")),
    (OPUS, "a blank text", put("messages", 1, "content", 2, "text", " ")),
    (OPUS, "an assistant at the end", drop("messages", -1)),
    (OPUS, "no limit", drop("max_tokens")),
    (OPUS, "a sampling parameter", put("temperature", 0.5)),
    (OPUS, "an unknown member", put("prompt_cache_key", "k")),
    (OPUS, "no stream", put("stream", False)),
    (OPUS, "a tool's schema", drop("tools", 0, "input_schema", "type")),
    (OPUS, "no tools", drop("tools")),
    (OPUS, "a budget", put("thinking", {"type": "enabled", "budget_tokens": 2_000, "display": "summarized"})),
    (OPUS, "five marks", mark_all),
    (OPUS, "another model", put("model", "claude-2")),
    (BUDGET, "a budget over the limit", put("thinking", "budget_tokens", 4_000)),
    (BUDGET, "a small budget", put("thinking", "budget_tokens", 1_000)),
    (BUDGET, "a temperature beside thinking", put("temperature", 0.5)),
    (BUDGET, "adaptive thinking", put("thinking", "type", "adaptive")),
    (FABLE, "a forced call", put("tool_choice", {"type": "any"})),
    (FABLE, "no thinking", put("thinking", {"type": "disabled"})),
    (ARGON, "a signature", damage(part(1, 1), "thoughtSignature")),
    (ARGON, "a signature on another call", move_signature),
    (ARGON, "a signature that is gone", drop("contents", 1, "parts", 1, "thoughtSignature")),
    (ARGON, "an id that is gone", drop("contents", 1, "parts", 1, "functionCall", "id")),
    (ARGON, "results in another order", swap("contents", 2, "parts", 0)),
    (ARGON, "results in two turns", split("contents", "parts", 2)),
    (ARGON, "a result that is gone", drop("contents", 2, "parts", 0)),
    (ARGON, "a response that is no object", put("contents", 2, "parts", 0, "functionResponse", "response", "Oslo")),
    (ARGON, "a role", put("contents", 1, "role", "user")),
    (ARGON, "two payloads", put("contents", 1, "parts", 0, "inlineData", {"mimeType": "image/png", "data": "AA=="})),
    (ARGON, "an empty text", put("contents", 0, "parts", 0, "text", "")),
    (ARGON, "an unknown member", put("max_tokens", 4_000)),
    (ARGON, "an unknown setting", put("generationConfig", "logitBias", {})),
    (
        ARGON,
        "a schema's keyword",
        put("tools", 0, "functionDeclarations", 0, "parametersJsonSchema", "$schema", "draft"),
    ),
    (
        ARGON,
        "a reference",
        put("tools", 0, "functionDeclarations", 0, "parametersJsonSchema", "properties", "x", {"$ref": "#/$defs/No"}),
    ),
    (ARGON, "a level and a budget", put("generationConfig", "thinkingConfig", "thinkingBudget", 1_024)),
    (ARGON, "a choice of nothing", put("toolConfig", {"functionCallingConfig": CHOICE | {"mode": "ANY"}})),
    (ARGON, "names with a choice", put("toolConfig", {"functionCallingConfig": CHOICE | {"mode": "AUTO"}})),
    (FLASH, "a level", put("generationConfig", "thinkingConfig", {"thinkingLevel": "LOW"})),
    (FLASH, "JSON beside tools", put("generationConfig", "responseMimeType", "application/json")),
    (BEDROCK, "a signature", damage(block(1, 0), "reasoningContent", "reasoningText", "signature")),
    (BEDROCK, "redacted thinking", damage(block(1, 1), "reasoningContent", "redactedContent")),
    (BEDROCK, "thinking that is gone", drop("messages", 1, "content", 0)),
    (BEDROCK, "thinking in another order", swap("messages", 1, "content", 0)),
    (BEDROCK, "results in two turns", split("messages", "content", 2)),
    (BEDROCK, "results in another order", swap("messages", 2, "content", 0)),
    (BEDROCK, "an id's characters", put("messages", 1, "content", 3, "toolUse", "toolUseId", "a|b")),
    (BEDROCK, "a long id", put("messages", 1, "content", 3, "toolUse", "toolUseId", "x" * 65)),
    (BEDROCK, "a blank text", put("messages", 1, "content", 2, "text", " ")),
    (BEDROCK, "an unknown member", put("max_tokens", 4_000)),
    (BEDROCK, "a choice that there is not", put("toolConfig", "toolChoice", {"none": {}})),
    (BEDROCK, "no tools", drop("toolConfig")),
    (BEDROCK, "a sampling parameter", put("inferenceConfig", {"temperature": 0.5})),
    (NOVA, "a schema's root", put("toolConfig", "tools", 0, "toolSpec", "inputSchema", "json", {"anyOf": []})),
    (NOVA, "an empty description", put("toolConfig", "tools", 0, "toolSpec", "description", "")),
    (NOVA, "an array of messages", put("messages", {})),
    (OPENAI, "the deprecated limit", put("max_tokens", 5)),
    (OPENAI, "a sampling parameter", put("temperature", 0.5)),
    (OPENAI, "an unknown member", put("thinking", {"type": "enabled"})),
    (OPENAI, "thinking in the history", put("messages", 2, "reasoning_content", "Hm.")),
    (OPENAI, "a result that is gone", drop("messages", 3)),
    (OPENAI, "a result of nothing", put("messages", 3, "tool_call_id", "call_9")),
    (OPENAI, "a long id", put("messages", 2, "tool_calls", 0, "id", "x" * 41)),
    (OPENAI, "a role", put("messages", 0, "role", "root")),
    (DEEPSEEK, "thinking that is gone", drop("messages", 2, "reasoning_content")),
    (DEEPSEEK, "other thinking", put("messages", 4 + 1, "reasoning_content", "Now.")),
    (DEEPSEEK, "a developer", put("messages", 0, "role", "developer")),
    (ROUTER, "a signature", damage(lambda body: body["messages"][2], "reasoning_details", 0, "signature")),
    (ROUTER, "details in another order", swap("messages", 2, "reasoning_details", 0)),
    (ROUTER, "details that are gone", drop("messages", 2, "reasoning_details")),
    (MISTRAL, "an id's length", put("messages", 2, "tool_calls", 0, "id", "call_0")),
    (MISTRAL, "an unknown member", put("seed", 7)),
    (TOGETHER, "stream options", put("stream_options", {"include_usage": True})),
    (GROQ, "a name", put("messages", 1, "name", "ann")),
    (LOCAL, "null content", put("messages", 2, "content", None)),
    (LOCAL, "content in parts", put("messages", 1, "content", [{"type": "text", "text": "Hi."}])),
    (LOCAL, "two turns of the user", put("messages", 0, "role", "user")),
)


@dataclass(frozen=True)
class Recorded:
    """The last call of a whole conversation, which its vendor took."""

    vendor: CheckingVendor
    call: Received


@pytest.fixture(scope="module")
def taken() -> dict[str, Recorded]:
    return {}


async def recorded(street: Street, taken: dict[str, Recorded], slug: str) -> Recorded:
    if slug not in taken:
        vendor = street.vendor(slug)
        messages: list[Any] = [*OPENING]
        for _ in SCRIPT:
            answer = await ask(street.sdk[PLAIN], stream=False, messages=messages, **members(vendor.row))
            messages += returned(answer.choices[0].message)
        assert status(vendor, vendor.served[-1]) == 200
        taken[slug] = Recorded(vendor, vendor.served[-1])
    return taken[slug]


def status(vendor: CheckingVendor, call: Received) -> int:
    head = vendor.script(call)[0]
    assert isinstance(head, Head)
    return head.status


def failure(vendor: CheckingVendor, call: Received) -> Any:
    """What the codec makes of the refusal, which is in the vendor's own words."""
    head, body = vendor.script(call)
    assert isinstance(head, Head)
    assert isinstance(body, Send)
    target = vendor.row.target
    headers = {name.lower(): value for name, value in head.headers.items()}
    codec = provider(target.vendor.format)
    return codec.decode_error(target, head.status, headers, body.data, datetime.now(UTC))


@pytest.mark.parametrize(("slug", "what", "edit"), WRONG, ids=[f"{slug}: {what}" for slug, what, _ in WRONG])
async def test_what_is_wrong_is_refused(
    street: Street, taken: dict[str, Recorded], slug: str, what: str, edit: Edit
) -> None:
    good = await recorded(street, taken, slug)
    body = json.loads(good.call.body)
    edit(body)
    assert body != json.loads(good.call.body)
    assert isinstance(failure(good.vendor, replace(good.call, body=json.dumps(body).encode())), UpstreamRejected)


KEYED = [OPUS, ARGON, BEDROCK, OPENAI, "azure-v1", "claude-vertex", "gemini-vertex"]


@pytest.mark.parametrize("slug", KEYED)
async def test_a_wrong_key_is_refused(street: Street, taken: dict[str, Recorded], slug: str) -> None:
    good = await recorded(street, taken, slug)
    names = {"authorization", "x-api-key", "api-key", "x-goog-api-key"} & good.call.headers.keys()
    (name,) = names
    without = {each: value for each, value in good.call.headers.items() if each != name}
    for headers in (without, {**without, name: "Bearer other"}):
        assert isinstance(failure(good.vendor, replace(good.call, headers=headers)), AccountFailure)


SIGNED_HEADERS: Sequence[tuple[str, str]] = (
    ("x-amz-date", "20260101T000000Z"),
    ("x-amz-security-token", "another"),
    ("content-type", "text/plain"),
    ("host", "127.0.0.1:9"),
    ("authorization", "AWS4-HMAC-SHA256 nothing"),
)


@pytest.mark.parametrize(("name", "value"), SIGNED_HEADERS, ids=[name for name, _ in SIGNED_HEADERS])
@pytest.mark.parametrize("slug", [SIGNED, "openai-signed"])
async def test_a_changed_header_breaks_a_signature(
    street: Street, taken: dict[str, Recorded], slug: str, name: str, value: str
) -> None:
    good = await recorded(street, taken, slug)
    changed = replace(good.call, headers={**good.call.headers, name: value})
    assert isinstance(failure(good.vendor, changed), AccountFailure)


async def test_a_changed_body_or_path_breaks_a_signature(street: Street, taken: dict[str, Recorded]) -> None:
    good = await recorded(street, taken, SIGNED)
    for changed in (replace(good.call, body=good.call.body + b" "), replace(good.call, path=good.call.path + "?a=b")):
        assert isinstance(failure(good.vendor, changed), AccountFailure)


@pytest.mark.parametrize("slug", [OPUS, "claude-vertex", ARGON, BEDROCK, OPENAI, "azure-deployment"])
async def test_a_wrong_address_is_refused(street: Street, taken: dict[str, Recorded], slug: str) -> None:
    good = await recorded(street, taken, slug)
    step = f"/{slug}"
    inner = good.call.path.removeprefix(step)
    for wrong in (inner + "x", inner.replace(good.vendor.row.target.host.upstream_model, "none")):
        if wrong != inner:
            assert status(good.vendor, replace(good.call, path=step + wrong)) >= 400


async def test_a_version_is_needed(street: Street, taken: dict[str, Recorded]) -> None:
    good = await recorded(street, taken, OPUS)
    headers = {name: value for name, value in good.call.headers.items() if name != "anthropic-version"}
    assert status(good.vendor, replace(good.call, headers=headers)) == 400
