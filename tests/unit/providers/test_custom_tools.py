import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import CustomTool
from core.providers.custom_tools import as_function, unwrapped, wrapped


def test_a_free_text_tool_becomes_a_function_with_one_string() -> None:
    function = as_function(CustomTool("shell", "Runs a command."))
    assert (function.name, function.description) == ("shell", "Runs a command.")
    assert function.parameters is not None
    assert function.parameters["required"] == ["input"]
    assert function.parameters["properties"]["input"]["type"] == "string"


def test_a_grammar_is_described() -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a"'}}
    parameters = as_function(CustomTool("t", format=grammar)).parameters
    assert parameters is not None
    assert 'lark grammar:\nstart: "a"' in parameters["properties"]["input"]["description"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_survives_the_way_there_and_back(text: str) -> None:
    assert unwrapped(wrapped(text)) == text
    assert json.loads(wrapped(text)) == {"input": text}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", ""),
        ("ls -l", "ls -l"),
        ('{"input": "ls', '{"input": "ls'),
        ('{"command": "ls"}', '{"command": "ls"}'),
        ('["ls"]', '["ls"]'),
        ('{"input": {"a": 1}}', '{"a":1}'),
    ],
)
def test_what_a_model_writes_instead_is_the_text(arguments: str, text: str) -> None:
    assert unwrapped(arguments) == text
