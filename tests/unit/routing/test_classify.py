"""The classifier: what it makes of words and of facts, and how well it does on prompts that it never saw."""

from dataclasses import replace

import pytest

from bench.routing import near_duplicates, tasks
from bench.routing.prompts import GRADES, Prompt, read_prompts
from bench.routing.train import digest
from core.routing.classify import Classified, classify
from core.routing.facts import Facts
from core.routing.features import features
from core.routing.weights import SHIPPED, read_weights, shipped_weights, write_weights

WEIGHTS = shipped_weights()
TEXT = "Translate into German: where is the next bus stop?"


def found(text: str = TEXT, **members: object) -> Classified:
    return classify(Facts(**{"prompt_tokens": 20, "text": text, **members}), WEIGHTS)  # type: ignore[arg-type]  # members of many types


def test_words_tell_the_task() -> None:
    assert found().task == "translation"
    assert found("Write a Python function that sorts a list of names.").task == "code"
    assert found("帮我把这句话翻译成英文。我明天不来").task == "translation"
    assert found("hallo, na wie geht's dir heute?").task == "chat"


def test_tools_images_and_length_are_facts() -> None:
    assert found(tools=2).task == "tool_use"
    assert found(tools=2).confidence < found(tools=2, tool_forced=True).confidence
    assert found(tool_loop=True).task == "tool_use"
    assert found(images=1).task == "vision"
    assert found(prompt_tokens=400_000).task == "long_context"
    assert found(prompt_tokens=2_000).task == "translation"
    assert found(prompt_tokens=2_000).probabilities["long_context"] < 0.001


def test_facts_take_their_share_and_leave_the_rest_to_the_words() -> None:
    both = found(tools=1, images=1)
    assert both.task == "vision"
    assert both.probabilities["tool_use"] > both.probabilities["translation"] > 0.05
    assert sum(both.probabilities.values()) == pytest.approx(1.0)


def test_what_a_request_demands_makes_it_no_easier() -> None:
    plain = found("hi").complexity
    assert plain < 0.3
    for members in ({"tools": 1}, {"tool_loop": True}, {"thinking": True}, {"prompt_tokens": 90_000}):
        assert found("hi", **members).complexity > plain
    hard = "Prove that every bounded sequence of real numbers has a convergent subsequence, and discuss the converse."
    assert found(hard).complexity > 0.6


def test_the_shipped_weights_are_of_the_data_that_lies_beside_their_recipe() -> None:
    assert WEIGHTS.digest == digest(), "run `python -m bench.routing.train`"


def test_weights_survive_their_file() -> None:
    data = SHIPPED.read_bytes()
    assert write_weights(read_weights(data)) == data
    assert len(data) < 1_500_000


def test_tasks_are_told_on_sources_that_were_held_out() -> None:
    judged = tasks.judge(read_prompts("held_out"), WEIGHTS)
    assert tasks.macro_f1(judged) >= 0.80
    assert min(tasks.f1_by_task(judged).values()) >= 0.70
    assert tasks.calibration_error(judged) < 0.10
    error, correlation = tasks.complexity_error(judged)
    assert error < 0.15
    assert correlation > 0.6
    shares = tasks.unchanged_by_rewording(judged, WEIGHTS)
    assert len(shares) == 5
    assert sum(share * count for share, count in shares.values()) >= 0.9 * sum(count for _, count in shares.values())


def test_the_prompts_are_many_of_many_kinds_and_the_held_out_ones_stand_alone() -> None:
    train, held_out = read_prompts("train"), read_prompts("held_out")
    every = [*train, *held_out]
    assert len(every) >= 2_000
    assert len({prompt.language for prompt in every}) >= 8
    assert len({prompt.source for prompt in train}) >= 8
    assert len({prompt.source for prompt in held_out}) >= 2
    assert {prompt.task for prompt in held_out} == set(WEIGHTS.outputs[:-1])
    assert {prompt.complexity for prompt in every} == set(GRADES)
    assert len({prompt.text for prompt in every}) == len(every)
    assert near_duplicates.crossing() == []


def test_the_search_for_near_duplicates_finds_them() -> None:
    one = Prompt("a", "qa", "en", 0.25, "How long does it take to boil an egg?")
    other = replace(one, source="b", text="how long does it take to boil an egg hard")
    third = replace(one, source="b", text="Why is the sea salty?")
    assert list(near_duplicates.near_duplicates([one, other, third])) == [(one, other)]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Is it late?", "#asks"),
        ('"Who goes there?" asks the guard. Answer him.', "#quoted first"),
        ("*opens the door*", "#acts"),
        ("Make a list of these:\n- one\n- two\n- three\n" + "and so on " * 10, "#item>2"),
        ("Shorten this: " + "a long story without an end " * 20, "#long body"),
        ("", "#len0"),
    ],
)
def test_the_shape_of_a_text(text: str, mark: str) -> None:
    assert mark in features(text, {})[0]


def test_what_was_pasted_is_told_from_what_is_asked() -> None:
    pasted = "the river rose in the night and took the bridge with it " * 3
    _, words = features(f"Summarise for my boss:\n{pasted}\nin two lines please", {})
    assert {"boss", "two", "please", "~river"} <= set(words)
    assert "river" not in words
    _, quoted = features('Is "all the best to you" formal?', {})
    assert {"formal", "~best"} <= set(quoted)
    _, nothing_else = features('"all the best to you"', {})
    assert "best" in nothing_else


def test_cues_are_words_beginnings_and_pairs() -> None:
    cues = {"riddle": "reasoning", "trans*": "translation", "in french": "translation", "翻译": "translation"}
    for text in ("a riddle", "translating it", "say it in French", "请翻译这个"):
        assert any(mark.startswith("#some:") for mark in features(text, cues)[0])
    marks, _ = features("translated, translating, translation: " + "some riddle that goes on and on " * 5, cues)
    assert {"#many:translation", "#pasted:reasoning"} <= set(marks)
