"""Gemini's log-probabilities in OpenAI's form."""

from collections.abc import Mapping
from typing import Final

from core.chat import Json

# The least likely that OpenAI reports (chat completions, read 2026-11-30).
_LEAST: Final = -9999.0


def logprobs_of(result: Json) -> Mapping[str, Json] | None:
    """A `logprobsResult` as OpenAI's object; None when there is no token in it."""
    chosen = _objects(result, "chosenCandidates")
    steps = _objects(result, "topCandidates")
    content: list[Json] = []
    for number, token in enumerate(chosen):
        others = _objects(steps[number], "candidates") if number < len(steps) else []
        content.append({**_token(token), "top_logprobs": [_token(other) for other in others]})
    return {"content": content} if content else None


def _token(candidate: Mapping[str, Json]) -> dict[str, Json]:
    token, logprob = candidate.get("token"), candidate.get("logProbability", 0.0)
    text = token if isinstance(token, str) else ""
    known = logprob if isinstance(logprob, int | float) else _LEAST
    return {"token": text, "logprob": known, "bytes": list(text.encode())}


def _objects(value: Json, name: str) -> list[Mapping[str, Json]]:
    entries = value.get(name) if isinstance(value, dict) else None
    return [entry if isinstance(entry, dict) else {} for entry in entries] if isinstance(entries, list) else []
