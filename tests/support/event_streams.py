"""Random good streams of canonical events, as a turn lets them through."""

from hypothesis import strategies as st

from core.chat import FinishReason, Json, Usage
from core.events import (
    AnnotationsAdded,
    AudioDelta,
    Event,
    Finished,
    Noted,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
)

TEXTS = st.text(min_size=1, max_size=12)
NAMES = st.text("abcdefghij_", min_size=1, max_size=8)
TOKENS: st.SearchStrategy[Json] = st.none() | st.lists(
    st.fixed_dictionaries(
        {"token": TEXTS, "logprob": st.floats(-20, 0), "bytes": st.none(), "top_logprobs": st.just([])}
    ),
    min_size=1,
    max_size=2,
).map(lambda tokens: {"content": tokens})
CITATION = st.fixed_dictionaries(
    {
        "type": st.just("url_citation"),
        "url_citation": st.fixed_dictionaries(
            {"start_index": st.just(0), "end_index": st.just(1), "title": TEXTS, "url": st.just("https://a")}
        ),
    }
)


@st.composite
def _call(draw: st.DrawFn, choice: int, call: int, *, custom: bool) -> list[Event]:
    is_custom = custom and draw(st.booleans())
    call_id, name = f"call_{choice}_{call}", draw(NAMES)
    started = ToolCallStarted(choice, call, call_id, name, kind="custom" if is_custom else "function")
    return [started, *(ToolCallDelta(choice, call, piece) for piece in draw(st.lists(TEXTS, max_size=3)))]


@st.composite
def _choice(draw: st.DrawFn, choice: int, *, custom: bool) -> list[Event]:
    events: list[Event] = [ReasoningDelta(choice, text) for text in draw(st.lists(TEXTS, max_size=2))]
    events += [TextDelta(choice, text, draw(TOKENS)) for text in draw(st.lists(TEXTS, max_size=4))]
    if draw(st.booleans()):
        events += [AnnotationsAdded(choice, (citation,)) for citation in draw(st.lists(CITATION, max_size=2))]
    events += [RefusalDelta(choice, text) for text in draw(st.lists(TEXTS, max_size=1))]
    if draw(st.booleans()):
        audio = {"id": "audio_1", "data": "AAAA", "transcript": draw(TEXTS)}
        events += [AudioDelta(choice, audio), AudioDelta(choice, {**audio, "expires_at": 5})]
    calls = draw(st.integers(0, 2))
    for call in range(calls):
        events += draw(_call(choice, call, custom=custom))
    reason = FinishReason.TOOL_CALLS if calls else draw(st.sampled_from([FinishReason.STOP, FinishReason.LENGTH]))
    return [*events, Finished(choice, reason)]


@st.composite
def event_streams(draw: st.DrawFn, *, most_choices: int = 3, custom: bool = True) -> list[Event]:
    """Choices whose events come mixed, notes and usage between them."""
    choices = [draw(_choice(index, custom=custom)) for index in range(draw(st.integers(1, most_choices)))]
    events: list[Event] = [Noted({"system_fingerprint": "fp_1", "provider": "secret"})] if draw(st.booleans()) else []
    while any(choices):
        chosen = draw(st.sampled_from([choice for choice in choices if choice]))
        events.append(chosen.pop(0))
    return [*events, UsageReported(Usage(3, output_tokens=4))]
