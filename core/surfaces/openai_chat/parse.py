"""Reads a chat completion request: bytes to canonical, with every field checked and none lost without a word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.chat import ChatRequest, Json, Message, TextPart, Tool, ToolChoice
from core.decision import Preferences
from core.surfaces.openai_chat.body import read_object
from core.surfaces.openai_chat.checks import Scan, missing, note_unknown, wrong
from core.surfaces.openai_chat.fields import FIELDS
from core.surfaces.openai_chat.tools import Wanted, check_names, choose
from core.surfaces.surface import Surface


@dataclass(frozen=True, slots=True)
class ParsedChat:
    """A request in canonical form, and what it prefers of routing."""

    request: ChatRequest
    preferences: Preferences


_OURS: Final = ("routing", "extended_thinking")

# An empty array is as good as none (clients send them).
_ARRAYS: Final = ("tools", "functions", "stop", "modalities")


def parse_chat(body: bytes, surface: Surface) -> ParsedChat:
    """Read a request body.

    Args:
        body: UTF-8 JSON, as it came.
        surface: Where it came in; it decides what becomes of fields that nobody documents.

    Raises:
        InvalidRequest: The body is not JSON, or a field is wrong or missing; `param` is its dotted path.
        RequestTooLarge: It holds too many values.
        Unprocessable: A field is unknown, where the surface does not let it pass.
    """
    written = read_object(body)
    scan = Scan(surface.strict_fields)
    got: dict[str, Json] = {}
    for name, value in written.items():
        check = FIELDS.get(name)
        if check is None:
            note_unknown(scan, name, FIELDS)
        elif value is not None:
            got[name] = check(value, (scan, name))
    for name in ("model", "messages"):
        if name not in got:
            raise missing((scan, name))
    return _assemble(got, written, scan)


def _assemble(got: dict[str, Json], body: Mapping[str, Json], scan: Scan) -> ParsedChat:
    # What a null of a field that nobody documents means is not known here: it goes on as written.
    written = {
        name: value for name, value in body.items() if name not in _OURS and (value is not None or name not in FIELDS)
    }
    tools, choice = _tools(got, written, scan)
    stop = _stop(got, written)
    for name in _ARRAYS:
        if name in written and not written[name]:
            del written[name]
    if "max_completion_tokens" in got:
        written.pop("max_tokens", None)
    _check_together(got, scan)
    return ParsedChat(
        ChatRequest(
            model=got["model"],
            messages=got["messages"],
            written=written,
            tools=tools,
            tool_choice=choice,
            # A deprecated function call has room for one.
            parallel_tool_calls=False if got.get("functions") else got.get("parallel_tool_calls"),
            legacy_functions=bool(got.get("functions")),
            response_format=got.get("response_format"),
            max_tokens=got.get("max_completion_tokens", got.get("max_tokens")),
            temperature=got.get("temperature"),
            top_p=got.get("top_p"),
            frequency_penalty=got.get("frequency_penalty"),
            presence_penalty=got.get("presence_penalty"),
            seed=got.get("seed"),
            stop=stop,
            n=got.get("n", 1),
            logprobs=got.get("logprobs", False),
            top_logprobs=got.get("top_logprobs"),
            reasoning_effort=got.get("reasoning_effort"),
            extended_thinking=got.get("extended_thinking"),
            modalities=got.get("modalities") or ("text",),
            service_tier=got.get("service_tier"),
            user=got.get("user"),
            safety_identifier=got.get("safety_identifier"),
            stream=got.get("stream", False),
            include_usage=got.get("stream_options", {}).get("include_usage", False),
            unknown=tuple(scan.unknown),
        ),
        got.get("routing", Preferences()),
    )


def _tools(got: dict[str, Json], written: dict[str, Json], scan: Scan) -> tuple[tuple[Tool, ...], ToolChoice | None]:
    tools: tuple[Tool, ...] = got.get("tools", ())
    functions: tuple[Tool, ...] = got.get("functions", ())
    if tools and functions:
        raise wrong((scan, "functions"), "does not go with 'tools'. Send one of them.")
    check_names(tools, (scan, "tools"), nested=True)
    check_names(functions, (scan, "functions"), nested=False)
    offered = tools or functions
    if not offered:
        written.pop("parallel_tool_calls", None)
        got.pop("parallel_tool_calls", None)
    return offered, _choice(got, written, offered, scan)


def _choice(got: dict[str, Json], written: dict[str, Json], offered: tuple[Tool, ...], scan: Scan) -> ToolChoice | None:
    """The choice, in its new or its deprecated form: either holds for tools in either form."""
    chosen: ToolChoice | None = None
    for name in ("tool_choice", "function_call"):
        wanted: Wanted | None = got.get(name)
        if wanted is None:
            continue
        choice = choose(wanted, offered, (scan, name))
        if choice is None:
            # OpenAI refuses it where there are no tools; it says nothing there.
            del written[name]
        elif chosen is not None and choice != chosen:
            raise wrong((scan, name), "contradicts 'tool_choice'. Send one of them.")
        else:
            chosen = choice
    return chosen


def _stop(got: dict[str, Json], written: dict[str, Json]) -> tuple[str, ...]:
    asked: tuple[str, ...] = got.get("stop", ())
    stop = tuple(sequence for sequence in asked if sequence)
    if len(stop) < len(asked):
        written["stop"] = list(stop)
    return stop


def _check_together(got: Mapping[str, Json], scan: Scan) -> None:
    if "stream_options" in got and not got.get("stream"):
        raise wrong((scan, "stream_options"), "goes with 'stream': true only.")
    if "top_logprobs" in got and not got.get("logprobs"):
        raise wrong((scan, "top_logprobs"), "goes with 'logprobs': true only.")
    if "audio" in got.get("modalities", ()) and "audio" not in got:
        raise missing((scan, "audio"))
    wanted = got.get("response_format")
    if wanted is not None and wanted.type == "json_object" and not _says_json(got["messages"]):
        raise wrong(
            (scan, "messages"),
            "must ask for JSON in words when 'response_format' is 'json_object': the word 'JSON' is nowhere in it.",
        )


def _says_json(messages: tuple[Message, ...]) -> bool:
    return any(
        isinstance(part, TextPart) and "json" in part.text.lower() for message in messages for part in message.parts
    )
