"""What is taken out of an answer is a contiguous part of it and parses; nothing is ever edited."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import ResponseFormat
from core.extract import MOST_STARTS, Extracted, Root, expected_root, extract, is_document

DOCUMENT = '{"city": "Rome", "code": "```x```"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"```json\n{DOCUMENT}\n```", Extracted(DOCUMENT, "fence")),
        (f"```\n{DOCUMENT}```", Extracted(DOCUMENT, "fence")),
        (f"```{DOCUMENT}```", Extracted(DOCUMENT, "fence")),
        (f"```json\n\n  {DOCUMENT}\n```", Extracted(DOCUMENT, "fence")),
        (f"````markdown\n```json\n{DOCUMENT}\n```\n````", Extracted(DOCUMENT, "fence")),
        (f"~~~~\n```json\n{DOCUMENT}\n```\n~~~~", Extracted(DOCUMENT, "fence")),
        (f"````\n{DOCUMENT}\n````", Extracted(DOCUMENT, "fence")),
        (f"```\n{DOCUMENT}\n`````", Extracted(DOCUMENT, "fence")),
        (f"~~~json\n{DOCUMENT}\n~~~", Extracted(DOCUMENT, "fence")),
        (f"````\n{DOCUMENT}\n```", Extracted(DOCUMENT, "commentary")),
        (f"```\n{DOCUMENT}\n~~~", Extracted(DOCUMENT, "commentary")),
        (f"~~~\n{DOCUMENT}\n```", Extracted(DOCUMENT, "commentary")),
        (f"~~\n{DOCUMENT}\n~~", Extracted(DOCUMENT, "commentary")),
        (f"````json\n{DOCUMENT}\n````\nNot this: {{}}", Extracted(DOCUMENT, "fence")),
        (f"Here it is:\n```json\n{DOCUMENT}\n```\nAnything else?", Extracted(DOCUMENT, "fence")),
        (f"Sure! {DOCUMENT} Hope that helps.", Extracted(DOCUMENT, "commentary")),
        (f"In {{braces}} first, then {DOCUMENT}", Extracted(DOCUMENT, "commentary")),
        (f'First {{"a": 1}}, no: {DOCUMENT}', Extracted(DOCUMENT, "commentary")),
        (f"{DOCUMENT} See [1].", Extracted(DOCUMENT, "commentary")),
        (f'```json\n{{"a": 1}}\n```\nBetter:\n```json\n{DOCUMENT}\n```', Extracted(DOCUMENT, "fence")),
        (f"```python\nprint(1)\n```\nand {DOCUMENT}", Extracted(DOCUMENT, "commentary")),
        (f"```json\n{DOCUMENT} // a remark\n```", Extracted(DOCUMENT, "commentary")),
        ("```json\n[1, 2]\n```", None),
        ("```json\n{'city': 'Rome'}\n```", None),
        ('{"a": NaN}', None),
        ('{"a": 1', None),
        ("no document at all", None),
        ("", None),
    ],
)
def test_one_object_is_found(text: str, expected: Extracted | None) -> None:
    assert extract(text, "object") == expected


@pytest.mark.parametrize(
    ("text", "root", "expected"),
    [
        ("The list: [1, 2]", "array", Extracted("[1, 2]", "commentary")),
        ('{"a": 1} and [3]', "array", Extracted("[3]", "commentary")),
        ("```\n42\n```", "any", Extracted("42", "fence")),
        ('```\n"yes"\n```', "any", Extracted('"yes"', "fence")),
        ("It is 42.", "any", None),
        ("It is [1] or {}.", "any", Extracted("{}", "commentary")),
    ],
)
def test_other_roots(text: str, root: Root, expected: Extracted | None) -> None:
    assert extract(text, root) == expected


@pytest.mark.parametrize(
    ("format", "root"),
    [
        (ResponseFormat("json_object"), "object"),
        (ResponseFormat("json_schema"), "object"),
        (ResponseFormat("json_schema", schema={"properties": {}}), "object"),
        (ResponseFormat("json_schema", schema={"type": "object"}), "object"),
        (ResponseFormat("json_schema", schema={"type": "array"}), "array"),
        (ResponseFormat("json_schema", schema={"type": "string"}), "any"),
        (ResponseFormat("json_schema", schema={"type": ["object", "null"]}), "any"),
    ],
)
def test_the_root_that_a_format_asks_for(format: ResponseFormat, root: Root) -> None:
    assert expected_root(format) == root


@pytest.mark.parametrize(
    "text", ["{" * 100_000, "[" * 100_000, "```\n" * 10_000 + "x", "`" * 100_000, "~" * 100_000, "~~~`" * 10_000]
)
def test_hostile_answers_cost_a_bounded_number_of_tries(text: str) -> None:
    assert extract(text, "any") is None


def test_a_document_beyond_the_last_try_is_not_found() -> None:
    assert extract("{ " * MOST_STARTS + DOCUMENT, "object") is None


def test_a_document_is_recognised_as_a_whole() -> None:
    assert is_document(f" {DOCUMENT} ")
    assert not is_document(f"{DOCUMENT} .")
    assert not is_document("Infinity")
    assert not is_document("[" * 100_000)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
prose = st.text(st.characters(exclude_characters="`~{}[]"), max_size=30)

pieces = st.lists(st.sampled_from([*'`~{}[]":,0a\n \\', "```", "````", "~~~"]), max_size=40).map("".join)


@given(st.dictionaries(st.text(), values, max_size=3), prose, prose, st.sampled_from("`~"), st.integers(3, 6))
def test_a_wrapped_object_comes_out_unchanged(
    value: dict[str, object], before: str, after: str, sign: str, length: int
) -> None:
    document, fence = json.dumps(value), sign * length
    assert extract(f"{before}{document}{after}", "object") == Extracted(document, "commentary")
    assert extract(f"{before}\n{fence}json\n{document}\n{fence}\n{after}", "object") == Extracted(document, "fence")


@given(pieces, st.sampled_from(["object", "array", "any"]))
def test_what_is_taken_is_a_part_of_the_answer_and_parses(text: str, root: Root) -> None:
    found = extract(text, root)
    if found is not None:
        assert found.text in text
        parsed = json.loads(found.text)
        assert root == "any" or isinstance(parsed, dict if root == "object" else list)
