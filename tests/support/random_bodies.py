"""Random request bodies: good ones from the document's own variants, then changed anywhere, cut, or no JSON at all."""

import json
from functools import cache
from random import Random

from core.chat import Json
from tests.support.schemas import component, document, samples

_TEXTS = ("", "a", "text", "auto", "lab/small", "\x00", "\u2028", "😀" * 3, "' OR 1=1 --", "../../x", "{{x}}", "a" * 70)
_NUMBERS = (0, 1, -1, 2, 129, 1.5, -0.0, 1e308, 5e-324, 2**53, 2**63, 2**64, -(2**70))


@cache
def _good() -> tuple[Json, ...]:
    """A value of every variant of every field, with a body around it."""
    request = component("plain.ChatRequest")
    question = {"role": "user", "content": "word, as JSON"}
    return tuple(
        {"model": "lab/small", "messages": [question], name: "lab/small" if name == "model" else value}
        for name, shape in request["properties"].items()
        for value in samples(shape)
    )


@cache
def _names() -> tuple[str, ...]:
    schemas = document()["components"]["schemas"].values()
    return tuple(sorted({name for shape in schemas for name in shape.get("properties", {})}))


def random_json(random: Random, depth: int = 3) -> Json:
    """Any JSON value, small ones mostly."""
    kind = random.randrange(8 if depth else 5)
    match kind:
        case 0:
            return random.choice((None, True, False))
        case 1:
            return random.choice(_NUMBERS)
        case 2:
            return random.choice(_TEXTS)
        case 3:
            return random.choice(_names())
        case 4:
            return "".join(
                chr(random.choice((32, 34, 92, 97, 233, 0x4E2D, 0x1F600))) for _ in range(random.randrange(9))
            )
        case 5:
            return [random_json(random, depth - 1) for _ in range(random.randrange(4))]
        case _:
            return {_name(random): random_json(random, depth - 1) for _ in range(random.randrange(5))}


def random_body(random: Random) -> bytes:
    """A body: mostly a good one that was changed in a few places."""
    kind = random.randrange(24)
    if kind == 0:
        return random.randbytes(random.randrange(40))
    if kind == 1:
        return json.dumps(random_json(random)).encode()
    body = dict(random.choice(_good()))
    for _ in range(random.choice((0, 0, 1, 1, 1, 2, 3))):
        name = random.choice(list(body) or ["model"])
        body[name] = _changed(body.get(name), random)
    if random.randrange(3) == 0:
        body |= random.choice(_good())
    if random.randrange(8) == 0:
        del body[random.choice(list(body))]
    if random.randrange(8) == 0:
        body[_name(random)] = random_json(random)
    if random.randrange(2):
        body["stream"] = True
    data = json.dumps(body, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    if kind == 2:
        return data[: random.randrange(len(data) + 1)]
    if kind == 3:
        place = random.randrange(len(data) + 1)
        return data[:place] + random.randbytes(1) + data[place + 1 :]
    return data


def _changed(value: Json, random: Random) -> Json:
    """The value with one change somewhere inside it."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        name = random.choice(list(value))
        match random.randrange(8):
            case 0:
                return {other: member for other, member in value.items() if other != name}
            case 1:
                return {**value, _name(random): random_json(random)}
            case 2:
                return {**value, **random.choice(_good())}
            case _:
                return {**value, name: _changed(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        match random.randrange(6):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return [*value, value[place]]
            case _:
                return [*value[:place], _changed(value[place], random), *value[place + 1 :]]
    return random_json(random)


def _name(random: Random) -> str:
    return random.choice(_names()) if random.random() < 0.7 else random.choice(_TEXTS)
