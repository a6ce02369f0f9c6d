"""What a caller whose request nobody can serve may change, by the reasons for which models or hosts were ruled out."""

from collections.abc import Mapping
from itertools import islice
from typing import Final

_BY_CODE: Final[Mapping[str, str]] = {
    "no_tools": "leave out the tools",
    "no_vision": "leave out the images",
    "no_documents": "leave out the files",
    "no_audio": "leave out the sound",
    "no_structured_output": "leave out the response format",
    "no_choices": "ask for one choice",
    "unsupported_parameter": "leave out what few models take",
    "output_too_small": "lower the limit of tokens",
    "context_too_small": "shorten the prompt",
    "price_unknown": "allow models whose price is known",
    "cost_cap": "ask for fewer tokens or a higher cost cap",
    "quality_unknown": "lower min_quality",
    "min_quality": "lower min_quality",
}
_ENVELOPE: Final = frozenset({"policy", "region", "data_promises"})
_MOST: Final = 2


def advice(counts: Mapping[str, int], *, is_narrowed: bool) -> tuple[str, ...]:
    """What would help those that most were ruled out for, at most two things, each as what follows "Please".

    Args:
        counts: How many were ruled out, by reason code.
        is_narrowed: Whether the request narrowed its policy; only then is there a routing object to widen.
    """
    envelope = "widen the routing object" if is_narrowed else "have the policy of the key widened"
    commonest = sorted(counts, key=lambda code: -counts[code])
    helps = (envelope if code in _ENVELOPE else _BY_CODE.get(code) for code in commonest)
    return tuple(islice(dict.fromkeys(filter(None, helps)), _MOST))


def sentence(choices: tuple[str, ...]) -> str:
    """The choices as one sentence."""
    said = ", or ".join(choices)
    return f"{said[:1].upper()}{said[1:]}."
