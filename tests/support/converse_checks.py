"""What Bedrock refuses before any model runs: by botocore's validator, by its model's bounds, and by Converse's rules.

The service model's maxima and patterns are enforced by the service alone, so that they are checked here. The rules
about conversations are those of the wire reference, 2.3 and 4.4.
"""

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel
from botocore.validate import ParamValidator

from tests.support.script import Received

MOST_CACHE_POINTS = 4
PATH = re.compile(r"/model/([^/?]+)/converse-stream")
AUTHORIZATION = re.compile(r"Bearer \S|AWS4-HMAC-SHA256 Credential=\S+/bedrock/aws4_request, SignedHeaders=")
DOCUMENT_NAME = re.compile(r"(?!.*\s\s)[A-Za-z0-9\s()\[\]-]+")


@cache
def operation() -> OperationModel:
    """ConverseStream, as the installed service model describes it."""
    model = Loader().load_service_model("bedrock-runtime", "service-2")
    return ServiceModel(model, "bedrock-runtime").operation_model("ConverseStream")


def refusal(request: Received) -> tuple[int, str] | None:
    """Status and message of the refusal of a call to ConverseStream; None when it is fine."""
    model_id = PATH.fullmatch(request.path)
    if request.method != "POST" or model_id is None:
        return 404, f"{request.method} {request.path} is no ConverseStream"
    if not AUTHORIZATION.match(request.headers.get("authorization", "")):
        return 403, "The call is not signed, and has no key"
    try:
        body = json.loads(request.body)
    except ValueError:
        return 400, "The body is not JSON"
    problem = next(problems(unquote(model_id[1]), body), None)
    return (400, problem) if problem else None


def problems(model_id: str, body: Mapping[str, Any]) -> Iterator[str]:
    """Everything that is wrong with a request body."""
    shape: Any = operation().input_shape
    params = {"modelId": model_id, **body}
    report = ParamValidator().validate(params, shape)
    if report.has_errors():
        yield report.generate_report()
        return
    yield from _bounds(params, shape, "")
    yield from _conversation(body)


def _bounds(value: Any, shape: Any, at: str) -> Iterator[str]:
    for step, member, inner in _members(value, shape):
        yield from _bounds(member, inner, at + step)
    match shape.type_name:
        case "structure":
            if getattr(shape, "is_tagged_union", False) and len(value) != 1:
                yield f"{at} has {len(value)} members of a union"
        case "string":
            yield from _size(len(value), shape, at)
            pattern, allowed = shape.metadata.get("pattern"), shape.enum
            if (pattern and not re.fullmatch(pattern, value)) or (allowed and value not in allowed):
                yield f"{at} does not match {pattern or allowed}: {value!r}"
        case "list" | "map":
            yield from _size(len(value), shape, at)
        case "blob":
            b64decode(value, validate=True)
        case "integer" | "float":
            yield from _size(value, shape, at)
        case _:
            pass


def _members(value: Any, shape: Any) -> list[tuple[str, Any, Any]]:
    if shape.type_name == "structure" and not shape.is_document_type:
        return [(f".{name}", member, shape.members[name]) for name, member in value.items()]
    if shape.type_name == "list":
        return [(f"[{index}]", item, shape.member) for index, item in enumerate(value)]
    if shape.type_name == "map":
        keys = [(f" key {name}", name, shape.key) for name in value]
        return keys + [(f".{name}", item, shape.value) for name, item in value.items()]
    return []


def _size(size: float, shape: Any, at: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if (low is not None and size < low) or (high is not None and size > high):
        yield f"{at} is not within {low} and {high}: {size}"


def _conversation(body: Mapping[str, Any]) -> Iterator[str]:
    turns = body.get("messages", [])
    roles = [turn["role"] for turn in turns]
    if roles != ["user" if index % 2 == 0 else "assistant" for index in range(len(roles))]:
        yield f"roles do not alternate, or do not begin with the user: {roles}"
    if not roles or roles[-1] != "user":
        yield "a conversation must end with a user message"
    calls: list[str] = []
    seen: set[str] = set()
    for turn in turns:
        yield from _turn(turn, calls)
        calls = [block["toolUse"]["toolUseId"] for block in turn["content"] if "toolUse" in block]
        if len(set(calls)) < len(calls) or seen & set(calls):
            yield f"tool use ids are not unique: {calls}"
        seen |= set(calls)
    if seen and "toolConfig" not in body:
        yield "toolConfig must be defined when toolUse and toolResult blocks are used"
    yield from _documents(turns)
    points = [block for blocks in _lists(body) for block in blocks if "cachePoint" in block]
    if len(points) > MOST_CACHE_POINTS:
        yield f"{len(points)} cache points"
    lives = [point["cachePoint"].get("ttl", "5m") for point in points]
    if "1h" in lives[lives.index("5m") :] if "5m" in lives else False:
        yield "a cache point of an hour comes after one of five minutes"
    yield from _choice(body)


def _turn(turn: Mapping[str, Any], calls: list[str]) -> Iterator[str]:
    kinds = [next(iter(block)) for block in turn["content"]]
    if not kinds or kinds[0] == "cachePoint":
        yield f"a turn has no content, or a cache point first: {kinds}"
    if turn["role"] == "user":
        results = [block["toolResult"]["toolUseId"] for block in turn["content"] if "toolResult" in block]
        if results != calls:
            yield f"results {results} do not match the calls {calls}"
        others = [index for index, kind in enumerate(kinds) if kind not in ("toolResult", "cachePoint")]
        if results and others and others[0] < len(kinds) - 1 - kinds[::-1].index("toolResult"):
            yield "results do not come first"
    elif {"image", "document", "audio", "toolResult"} & set(kinds):
        yield f"an assistant cannot say {kinds}"
    for block in turn["content"]:
        inner = block["toolResult"]["content"] if "toolResult" in block else [block]
        if not inner or any("text" in each and not each["text"].strip() for each in inner):
            yield "a text is blank"
        if any("json" in each and not isinstance(each["json"], dict) for each in inner):
            yield "a json result is no object"
        if "toolUse" in block and not isinstance(block["toolUse"]["input"], dict):
            yield "an input is no object"


def _documents(turns: list[Any]) -> Iterator[str]:
    names: list[str] = []
    for turn in turns:
        documents = [block["document"] for block in turn["content"] if "document" in block]
        names += [document["name"] for document in documents]
        if documents and not any("text" in block for block in turn["content"]):
            yield "a document has no text beside it"
    if len(set(names)) < len(names):
        yield f"documents share a name: {names}"
    for name in names:
        if not DOCUMENT_NAME.fullmatch(name):
            yield f"a document's name is refused: {name!r}"


def _lists(body: Mapping[str, Any]) -> list[list[Any]]:
    return [body.get("system", []), *(turn["content"] for turn in body.get("messages", []))]


def _choice(body: Mapping[str, Any]) -> Iterator[str]:
    native = body.get("additionalModelRequestFields", {}).get("tool_choice")
    config = body.get("toolConfig")
    if native is not None and (config is None or "toolChoice" in config):
        yield "tool_choice conflicts with toolConfig.toolChoice, or comes without tools"
    for tool in config["tools"] if config else ():
        schema = tool["toolSpec"]["inputSchema"]["json"]
        if schema.get("type") != "object" or {"oneOf", "anyOf", "allOf"} & set(schema):
            yield f"an input schema's root is refused: {schema}"
