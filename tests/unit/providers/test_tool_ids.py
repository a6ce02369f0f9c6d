from hypothesis import given
from hypothesis import strategies as st

from core.chat import Message, Role, ToolCall
from core.providers.tool_ids import OPENAI_IDS, SHORT_IDS, IdForm, mapped_ids

IDS = st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=6)
FORMS = st.sampled_from([OPENAI_IDS, SHORT_IDS])


def history(*ids: str) -> list[Message]:
    calls = [Message(Role.ASSISTANT, None, {}, tool_calls=(ToolCall(each, "f", "{}"),)) for each in ids]
    results = [Message(Role.TOOL, "", {}, tool_call_id=each) for each in ids]
    return [turn for pair in zip(calls, results, strict=True) for turn in pair]


@given(IDS, FORMS, st.dictionaries(st.text(max_size=9), st.sampled_from(["a", "b"])))
def test_every_id_gets_one_that_fits_and_no_two_share_it(ids: list[str], form: IdForm, known: dict[str, str]) -> None:
    sent = mapped_ids(history(*ids), form, known)
    assert set(sent) == set(ids)
    assert len(set(sent.values())) == len(sent)
    assert all(form.takes(sent[each]) for each in ids if each not in known)


@given(IDS, FORMS)
def test_a_longer_history_changes_nothing(ids: list[str], form: IdForm) -> None:
    earlier = mapped_ids(history(*ids[:-1]), form, {})
    assert earlier.items() <= mapped_ids(history(*ids), form, {}).items()


def test_good_ids_stay() -> None:
    assert mapped_ids(history("call_1"), OPENAI_IDS, {}) == {"call_1": "call_1"}
    assert mapped_ids(history("abcDEF123"), SHORT_IDS, {}) == {"abcDEF123": "abcDEF123"}


def test_bad_characters_and_lengths_are_mended() -> None:
    sent = mapped_ids(history("functions.f:0", "x" * 41), OPENAI_IDS, {})
    assert sent["functions.f:0"].startswith("functions_f_0_")
    assert sent["x" * 41].startswith("x" * 30 + "_")
    assert len(sent["x" * 41]) == 40


def test_an_upstream_gets_its_own_ids_back_also_odd_ones() -> None:
    assert mapped_ids(history("call_1"), OPENAI_IDS, {"call_1": "functions.f:0"}) == {"call_1": "functions.f:0"}


def test_ids_that_an_upstream_used_twice_do_not_go_back_twice() -> None:
    sent = mapped_ids(history("call_1", "call_2"), OPENAI_IDS, {"call_1": "same", "call_2": "same"})
    assert sent == {"call_1": "same", "call_2": "call_2"}


def test_an_id_that_is_taken_gives_way() -> None:
    sent = mapped_ids(history("call_1", "call_2"), OPENAI_IDS, {"call_1": "call_2"})
    assert sent["call_1"] == "call_2"
    assert sent["call_2"].startswith("call_2_")
