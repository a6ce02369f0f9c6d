"""Usage that nobody reported: by what was asked and what went by, never beyond what could have been used."""

from dataclasses import replace

from core.chat import ChatRequest, ImagePart, Message, Role, TextPart
from core.decision import Alternative, Decision, Objective
from core.estimate import estimated_usage, likely_pico
from core.events import ReasoningDelta, TextDelta, ToolCallDelta, ToolCallStarted
from core.money import Prices, Rates
from core.seen import Seen
from tests.support.targets import make_target


def request(*parts: TextPart | ImagePart, max_tokens: int | None = None, n: int = 1) -> ChatRequest:
    return ChatRequest("lab/small", (Message(Role.USER, parts, {}),), {}, max_tokens=max_tokens, n=n)


def test_a_large_image_is_no_large_prompt() -> None:
    image = ImagePart("data:image/png;base64," + "A" * 3_000_000)
    usage = estimated_usage(request(TextPart("What is this?"), image), Seen(), make_target())
    assert usage.estimated
    assert 500 < usage.input_tokens < 2_000


def test_nothing_is_beyond_the_window_or_the_limit() -> None:
    seen = Seen()
    seen.note((TextDelta(0, "word " * 100_000),), keep_text=False)
    asked = request(TextPart("many words " * 100_000))
    usage = estimated_usage(asked, seen, make_target(context_tokens=8_192, max_output_tokens=2_048))
    assert (usage.input_tokens, usage.output_tokens) == (8_192, 2_048)
    limited = estimated_usage(request(TextPart("x"), max_tokens=100, n=2), seen, make_target())
    assert limited.output_tokens == 200


def test_everything_that_was_written_counts() -> None:
    seen = Seen()
    events = (
        ReasoningDelta(0, "abcd"),
        TextDelta(0, "efgh"),
        ToolCallStarted(0, 0, "id", "f"),
        ToolCallDelta(0, 0, "ijkl"),
    )
    seen.note(events, keep_text=False)
    assert estimated_usage(request(TextPart("x")), seen, make_target()).output_tokens == 3
    assert TextDelta(0, "efgh") not in seen.events


def test_what_an_answer_probably_costs_is_what_its_model_was_expected_to_cost() -> None:
    expected = Alternative("lab/small", estimated_cost_micros=321)
    decision = Decision("other", "default", Objective.COST, (Alternative("other"), expected), "Why not.")
    target = make_target()
    assert target.model.id == "lab/small"
    assert likely_pico(request(TextPart("x")), decision, target, 0) == 321_000_000


def test_where_that_was_not_asked_the_input_alone_counts() -> None:
    decision = Decision("lab/small", "default", Objective.COST, (Alternative("lab/small"),), "Why not.")
    asked = request(TextPart("many words " * 100))
    priced = make_target(prices=Prices(Rates(input=3_000_000, output=15_000_000)))
    usage = estimated_usage(asked, Seen(), priced)
    assert usage.output_tokens == 0
    assert likely_pico(asked, decision, priced, 0) == usage.input_tokens * 3_000_000 > 0
    assert likely_pico(asked, replace(decision, alternatives=()), make_target(prices=None), 0) is None
