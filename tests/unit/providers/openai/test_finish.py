"""Why an answer ended: total over what the installed SDK knows, so that something new is noticed."""

from typing import get_args

import pytest
from openai.types.chat.chat_completion import Choice

from core.chat import FinishReason
from core.providers.openai.finish import FINISH, finish_reason

KNOWN = frozenset(get_args(Choice.model_fields["finish_reason"].annotation))
DEPRECATED = "function_call"  # the name of `tool_calls` for callers who sent `functions`


@pytest.mark.parametrize("word", sorted(KNOWN))
def test_every_word_of_the_sdk_is_its_own(word: str) -> None:
    assert FINISH[word].value == ("tool_calls" if word == DEPRECATED else word)


def test_callers_are_told_nothing_else() -> None:
    assert {reason.value for reason in FinishReason} == KNOWN - {DEPRECATED}


@pytest.mark.parametrize(("word", "reason"), [("Length", FinishReason.LENGTH), ("nobody's", FinishReason.STOP)])
def test_other_spellings_and_words(word: str, reason: FinishReason) -> None:
    assert finish_reason(word) is reason
