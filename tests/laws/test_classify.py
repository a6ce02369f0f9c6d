"""Laws of facts and classifier: they hold for any text, and nothing that is long takes long."""

import math

from hypothesis import given
from hypothesis import strategies as st

from core.chat import ChatRequest, Message, Role
from core.routing.classify import LONG_CONTEXT, TOOL_USE, VISION, classify
from core.routing.facts import Facts, facts_of
from core.routing.features import features
from core.routing.weights import LANE, ZERO, Weights, read_weights, shipped_weights, write_weights
from core.routing.window import MOST, MOST_INSTRUCTIONS, asked
from core.tokens import SAMPLED_CHARACTERS, estimated_text_tokens

WEIGHTS = shipped_weights()
TEXTS = st.text(st.characters(), max_size=400)
PIECES = st.sampled_from(["translate ", "这是", "कृपया ", "x = 3\n", '"', ": ", "\n- ", "?", "hola ", "\ud800", "🙂"])
MIXED = st.one_of(TEXTS, st.lists(PIECES, max_size=60).map("".join))
FACTS = st.builds(
    Facts,
    prompt_tokens=st.integers(0, 3_000_000),
    tools=st.integers(0, 3),
    tool_forced=st.booleans(),
    tool_loop=st.booleans(),
    images=st.integers(0, 3),
    thinking=st.sampled_from([None, True, False]),
    text=MIXED,
)


@given(FACTS)
def test_probabilities_are_probabilities(facts: Facts) -> None:
    found = classify(facts, WEIGHTS)
    assert math.isclose(sum(found.probabilities.values()), 1.0)
    assert all(0.0 <= share <= 1.0 for share in found.probabilities.values())
    assert found.confidence == max(found.probabilities.values()) == found.probabilities[found.task]
    assert set(found.probabilities) == {*WEIGHTS.outputs[:-1], TOOL_USE, VISION, LONG_CONTEXT}
    assert 0.0 <= found.complexity <= 1.0
    assert classify(facts, WEIGHTS) == found


@given(st.lists(st.tuples(st.sampled_from(list(Role)), MIXED), max_size=6))
def test_any_conversation_has_facts(turns: list[tuple[Role, str]]) -> None:
    messages = tuple(Message(role, text, {}) for role, text in turns)
    facts = facts_of(ChatRequest(model="auto", messages=messages, written={}))
    assert facts.prompt_tokens >= 4 * len(turns)
    assert len(facts.text) <= MOST + MOST_INSTRUCTIONS + 100


@given(MIXED, st.integers(1, 60), st.integers(0, 3_000))
def test_however_long_a_prompt_is_only_so_much_is_looked_at(text: str, times: int, more: int) -> None:
    whole = text * times + "x" * more
    assert len(asked(ChatRequest(model="auto", messages=(Message(Role.USER, whole, {}),), written={}))) <= MOST + 2


@given(MIXED)
def test_features_have_no_doubles(text: str) -> None:
    shape, words = features(text, WEIGHTS.cues)
    assert len(set(shape)) == len(shape)
    assert len(set(words)) == len(words)


@given(MIXED)
def test_every_text_has_tokens_and_no_more_than_bytes(text: str) -> None:
    tokens = estimated_text_tokens(text)
    assert (tokens == 0) == (text == "")
    assert tokens <= 1 + 2 * len(text.encode("utf-8", "replace"))


@given(
    st.sampled_from(["one two three. ", "eins, zwei, drei! ", "一二三四。", "def f(x):\n    return x\n", "раз два "])
)
def test_a_sampled_text_is_estimated_like_a_whole_one(piece: str) -> None:
    count = SAMPLED_CHARACTERS // len(piece)
    whole, sampled = estimated_text_tokens(piece * count), estimated_text_tokens(piece * count * 10)
    assert abs(sampled - 10 * whole) <= 0.02 * sampled


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.lists(st.integers(-127, 127), min_size=3, max_size=3)),
    st.lists(st.text(min_size=1, max_size=3), unique=True),
)
def test_packed_sums_are_plain_sums(plain: dict[str, list[int]], asked_for: list[str]) -> None:
    rows = {
        name: sum((value + ZERO) << (LANE * lane) for lane, value in enumerate(values))
        for name, values in plain.items()
    }
    weights = Weights(
        outputs=("a", "b", "complexity"),
        rows=rows,
        cues={"word": "a"},
        bias=(1.0, 2.0, 3.0),
        shape_scales=(1.0, 2.0, 4.0),
        word_scales=(0.5, 1.0, 2.0),
        temperature=1.0,
        digest="",
    )
    weights = read_weights(write_weights(weights))
    known = [plain[name] for name in asked_for if name in plain]
    sums = [sum(values[lane] for values in known) for lane in range(3)]
    root = (len(known) or 1) ** -0.5
    expected = [
        weights.bias[lane] + weights.shape_scales[lane] * sums[lane] + weights.word_scales[lane] * root * sums[lane]
        for lane in range(3)
    ]
    assert weights.scores(asked_for, asked_for) == expected
