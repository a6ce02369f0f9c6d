"""OpenAI's chat completions as the conversation's vendor reads and writes them, each vendor in its own dialect.

What a dialect adds or lacks is told in the wire reference, 2.4 and 7; everything else is held against OpenAI's types.
"""

import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from core.catalog.model import Quirk, Target
from tests.support.openai_checks import refusal
from tests.support.script import Received, Step, reply, stream
from tests.support.vendors.rows import Row
from tests.support.vendors.talk import Item, Spoken, Turn, call, sealed
from tests.support.vendors.typed import typed_problems

LONGEST_ID = 40
_PARAMS: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsStreaming)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a vendor departs from OpenAI.

    `thinks_in` tells where it shows its thinking; `adds` are top-level members that OpenAI does not know; `whole_calls`
    that a call comes in one piece, its arguments as an object; `says_stop` that it ends calls with the wrong word.
    """

    thinks_in: str = "reasoning_content"
    adds: frozenset[str] = frozenset()
    whole_calls: bool = False
    says_stop: bool = False


_DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect("nothing"),
    "azure": Dialect("nothing"),
    "bedrock-openai-us-east-1": Dialect("tags"),
    "openrouter": Dialect("details", frozenset({"reasoning"})),
    "groq": Dialect("reasoning", frozenset({"reasoning_format"})),
    "together": Dialect("both", frozenset({"reasoning", "chat_template_kwargs"})),
    "deepseek": Dialect(adds=frozenset({"thinking"})),
    "mistral": Dialect("chunks", frozenset({"random_seed"}), whole_calls=True),
    "cerebras": Dialect("reasoning"),
    "moonshot": Dialect(adds=frozenset({"thinking"})),
    "zai": Dialect(adds=frozenset({"thinking"})),
    "minimax": Dialect("tags", frozenset({"thinking", "reasoning_split"})),
    "alibaba": Dialect(adds=frozenset({"enable_thinking", "thinking_budget"})),
    "vllm": Dialect("reasoning", frozenset({"chat_template_kwargs"}), says_stop=True),
    "llama-cpp": Dialect(adds=frozenset({"chat_template_kwargs"})),
    "generic": Dialect(adds=frozenset({"chat_template_kwargs"}), says_stop=True),
}


class OpenAIWire:
    """One row that speaks OpenAI's format."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._dialect = _DIALECTS.get(row.target.vendor.name, Dialect())

    def problems(self, request: Received, body: Any) -> Iterator[str]:
        """What OpenAI refuses, what this vendor refuses, then what is wrong with the history."""
        yield from self._address(request, body)
        if found := refusal(request):
            yield found[1]
            return
        yield from self._types(body)
        yield from self._members(body)
        yield from self._roles(body["messages"])
        yield from self._calls(body["messages"])

    def turns(self, body: Any) -> list[Turn]:
        """The assistant's messages, with the tool messages that follow them."""
        told = {each["tool_call_id"]: each["content"] for each in body["messages"] if each["role"] == "tool"}
        found = []
        for message in body["messages"]:
            if message["role"] != "assistant":
                continue
            thinking = [message["reasoning_content"]] if message.get("reasoning_content") else []
            items = [Item("thinking", each) for each in [*thinking, *message.get("reasoning_details", ())]]
            items += [Item("text", message["content"])] if message.get("content") else []
            calls = message.get("tool_calls", ())
            items += [call(each["function"]["name"], json.loads(each["function"]["arguments"])) for each in calls]
            found.append(Turn(tuple(items), tuple(_joined(told[each["id"]]) for each in calls)))
        return found

    def made(self, spoken: Spoken, number: int) -> Turn:
        """The message as it has to come back: with its thinking only where the vendor wants that."""
        target = self._row.target
        items = []
        if spoken.thinking and target.has(Quirk.REASONING_BACK):
            items.append(Item("thinking", spoken.thinking))
        if spoken.thinking and target.has(Quirk.REASONING_DETAILS_BACK) and self._dialect.thinks_in == "details":
            items += [Item("thinking", detail) for detail in self._details(spoken, number)]
        items += [Item("text", spoken.text)] if spoken.text else []
        items += [call(name, dict(arguments)) for name, arguments in spoken.calls]
        return Turn(tuple(items))

    def answer(self, spoken: Spoken, number: int) -> Sequence[Step]:
        """The stream of chunks."""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += self._thought(spoken, number)
        deltas += [{"content": spoken.text}] if spoken.text else []
        for place, (name, arguments) in enumerate(spoken.calls):
            deltas += self._called(place, number, name, arguments)
        reason = "tool_calls" if spoken.calls and not self._dialect.says_stop else "stop"
        details = {"reasoning_tokens": 8 if spoken.thinking else 0}
        usage = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
        usage_chunk = {"choices": [], "usage": {**usage, "completion_tokens_details": details}}
        choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": reason})
        base = {"id": "up-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return stream(*({**base, "choices": [choice]} for choice in choices), {**base, **usage_chunk})

    def refusal(self, status: int, message: str) -> Sequence[Step]:
        """OpenAI's error object."""
        kind = "invalid_request_error"
        return reply({"error": {"message": message, "type": kind, "param": None, "code": None}}, status)

    def _address(self, request: Received, body: Any) -> Iterator[str]:
        target = self._row.target
        path, _, query = request.path.partition("?")
        if not path.endswith("/chat/completions"):
            yield f"Unknown request URL: {path}"
        if target.has(Quirk.URLS_IN_PATH) and f"/deployments/{target.host.upstream_model}/" not in path:
            yield f"no deployment in {path}"
        version = target.host.api_version
        if query != (f"api-version={version}" if version else ""):
            yield f"the query is {query!r}"
        if body["model"] != target.host.upstream_model:
            yield f"The model {body['model']!r} does not exist"

    def _types(self, body: Mapping[str, Any]) -> Iterator[str]:
        """OpenAI's own types, without what the vendor's dialect adds or has otherwise."""
        plain = {name: value for name, value in body.items() if name not in self._dialect.adds}
        if self._row.target.vendor.name == "groq":
            plain.pop("reasoning_effort", None)  # its `default` is no value of OpenAI's
        more = {"name"} if self._row.target.vendor.name == "mistral" else set()  # on tool messages
        yield from type_problems(plain, self._row.target, more)

    def _members(self, body: Mapping[str, Any]) -> Iterator[str]:
        target = self._row.target
        names = {theirs: ours for ours, theirs in target.vendor.renames.items()}
        for name in body:
            ours = names.get(name, name)
            is_refused = ours not in ("max_tokens", "max_completion_tokens") and target.refuses(ours)
            if is_refused or name in target.vendor.renames:
                yield f"Unsupported parameter: '{name}' is not supported with this model."
        wants_usage = body.get("stream_options", {}).get("include_usage") is True
        if wants_usage == target.has(Quirk.NO_STREAM_OPTIONS):
            yield f"stream_options: {body.get('stream_options')}"
        effort = body.get("reasoning_effort")
        levels = {*target.model.abilities.efforts, "none", "default"}
        if effort is not None and target.model.abilities.efforts and effort not in levels:
            yield f"Unsupported value: reasoning_effort {effort}"

    def _roles(self, messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        target = self._row.target
        roles = [message["role"] for message in messages]
        if "developer" in roles and not target.has(Quirk.DEVELOPER_ROLE):
            yield "unknown variant `developer`"
        if target.has(Quirk.SINGLE_SYSTEM) and "system" in roles[1:]:
            yield "System message must be at the beginning."
        for one, other in itertools.pairwise(roles):
            if target.has(Quirk.ALTERNATE_ROLES) and one == other and one != "tool":
                yield "Conversation roles must alternate user/assistant/user/assistant/..."
        for message in messages:
            if target.has(Quirk.NO_MESSAGE_NAMES) and "name" in message:
                yield "property 'name' is unsupported"
            if target.has(Quirk.EMPTY_CONTENT) and not isinstance(message["content"], str | list):
                yield "content: Input should be a valid string"
            if target.has(Quirk.FLAT_TEXT) and not isinstance(message["content"], str):
                yield 'can only concatenate str (not "list") to str'

    def _calls(self, messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Every call has its result before anything else is said, and every result its call; ids are well made."""
        target = self._row.target
        pattern = r"[A-Za-z0-9]{9}" if target.has(Quirk.SHORT_TOOL_IDS) else rf"[A-Za-z0-9_-]{{1,{LONGEST_ID}}}"
        waiting: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                if message["tool_call_id"] not in waiting:
                    yield "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
                else:
                    waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                yield f"tool_call_ids did not have response messages: {waiting}"
            calls = message.get("tool_calls", ())
            waiting = [each["id"] for each in calls]
            if len(set(waiting)) < len(waiting) or not all(re.fullmatch(pattern, each) for each in waiting):
                yield f"ids of tool calls are refused: {waiting}"
            for each in calls:
                if not isinstance(json.loads(each["function"]["arguments"]), dict):
                    yield "arguments are no object"
            if calls and target.has(Quirk.REASONING_BACK) and not isinstance(message.get("reasoning_content"), str):
                yield "The `reasoning_content` in the thinking mode must be passed back to the API."
        if waiting:
            yield f"tool_call_ids did not have response messages: {waiting}"

    def _thought(self, spoken: Spoken, number: int) -> list[dict[str, Any]]:
        text = spoken.thinking
        pieces = [text[:7], text[7:]] if text else []
        if self._row.target.has(Quirk.CLOSING_THINK_TAG):
            return [{"content": f"{text}</think>"}]
        match self._dialect.thinks_in:
            case "both":
                return [{"reasoning": piece, "reasoning_content": piece} for piece in pieces]
            case "details":
                made = self._details(spoken, number) if text else []
                return [{"reasoning": text, "reasoning_details": [detail]} for detail in made]
            case "tags":
                return [{"content": f"<think>{text}</think>"}] if text else []
            case "chunks":
                return [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": p}]}]} for p in pieces]
            case "nothing":
                return []
            case name:
                return [{name: piece} for piece in pieces]

    def _details(self, spoken: Spoken, number: int) -> list[dict[str, Any]]:
        seal = (self._row.slug, number)
        return [
            {
                "type": "reasoning.text",
                "text": spoken.thinking,
                "signature": sealed(*seal),
                "format": "anthropic-claude-v1",
                "index": 0,
            },
            {"type": "reasoning.encrypted", "data": sealed(*seal, "encrypted"), "id": f"rs_{number}", "index": 1},
        ]

    def _called(self, place: int, number: int, name: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        call_id = f"Mx{number}{place}aB9cQ" if self._row.target.has(Quirk.SHORT_TOOL_IDS) else f"call_{place}"
        opening: dict[str, Any] = {"index": place, "id": call_id, "type": "function"}
        if self._dialect.whole_calls:
            return [{"tool_calls": [{**opening, "function": {"name": name, "arguments": dict(arguments)}}]}]
        written = json.dumps(arguments, ensure_ascii=False) if arguments else ""
        fragments = [{"index": place, "function": {"arguments": piece}} for piece in (written[:6], written[6:])]
        opening["function"] = {"name": name, "arguments": ""}
        return [{"tool_calls": [each]} for each in (opening, *fragments)]


def type_problems(body: Mapping[str, Any], target: Target, on_messages: Collection[str] = ()) -> Iterator[str]:
    """What OpenAI's own types say against a body, but for what a host's quirks add.

    Args:
        body: The body.
        target: Where it goes.
        on_messages: Members that its messages may have beside OpenAI's.
    """
    quirks = {Quirk.REASONING_BACK: "reasoning_content", Quirk.REASONING_DETAILS_BACK: "reasoning_details"}
    more = {*on_messages, *(name for quirk, name in quirks.items() if target.has(quirk))}
    plain = dict(body)
    if target.has(Quirk.INTEGER_LOGPROBS):
        plain.pop("logprobs", None)
    plain["messages"] = [
        {name: value for name, value in message.items() if name not in more} for message in body["messages"]
    ]
    yield from typed_problems(_PARAMS, plain)


def _joined(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
