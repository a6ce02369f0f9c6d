"""What Lambda keeps of a failure."""

import json

import pytest

from functions.gateway.streaming.failures import Failure, failure_at_start, failure_of
from functions.local.emulator.contract import parse_error


class Un_even3(Exception):
    pass


class Überlauf(Exception):
    pass


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), "Function.ValueError"),
        (Un_even3(), "Function.Uneven"),
        (Überlauf(), "Function.Berlauf"),
        (type("_1", (Exception,), {})(), "Function.Unknown"),
    ],
)
def test_its_type_is_one_that_lambda_keeps(error: Exception, kind: str) -> None:
    failure = failure_of(raised(error), "It failed.")
    document = parse_error(failure.document(), failure.type)
    assert document["errorType"] == failure.type == kind


def test_it_says_where_and_not_what() -> None:
    failure = failure_of(raised(ValueError("a prompt")), "It failed.")
    assert "a prompt" not in failure.document().decode()
    assert [frame.rpartition("/")[2] for frame in failure.frames] == [
        f"test_failures.py:{raised.__code__.co_firstlineno + 2} raised"
    ]


def test_at_the_start_it_says_what() -> None:
    failure = failure_at_start(raised(ImportError("No module named 'x'")))
    assert (failure.type, failure.message) == ("Function.ImportError", "ImportError: No module named 'x'")
    assert failure_at_start(OSError(), "Runtime.AfterRestoreError").type == "Runtime.AfterRestoreError"


def test_the_document_has_lambdas_members() -> None:
    told = json.loads(Failure("Runtime.Odd", "words", ("a", "b")).document())
    assert told == {"errorMessage": "words", "errorType": "Runtime.Odd", "stackTrace": ["a", "b"]}
