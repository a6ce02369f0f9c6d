"""The scenario matrix of the tests that there are: no empty cell without a reason, and the document says the same."""

from pathlib import Path

import pytest

from core.catalog.model import Format
from tests.support.golden import Case, cases
from tests.support.matrix import DOCUMENT, TESTS, Matrix, document
from tests.support.matrix_plugin import shown_by

# What a caller sends is shown by what is sent for it.
REQUESTS = {"images in", "PDF in", "audio in", "JSON schema", "JSON object", "thinking sent back"}
SHOWING = [TESTS / "laws" / "test_transcripts.py", *sorted(Path(__file__).parent.glob("test_*.py"))]


@pytest.fixture
def matrix(request: pytest.FixtureRequest) -> Matrix:
    """Made of the tests of this session."""
    items, option = request.session.items, request.config.option
    is_partial = option.keyword or any("::" in arg for arg in request.config.args)
    if is_partial or not {*SHOWING} <= {item.path for item in items}:
        pytest.skip("THE SCENARIO MATRIX WAS NOT CHECKED: not all tests that it is made of were collected")
    made = Matrix()
    for item in items:
        made.add(shown_by(item), is_good=True)
    return made


def test_no_cell_is_empty_without_a_reason(matrix: Matrix) -> None:
    assert matrix.problems() == []


def test_the_document_says_what_is_shown(matrix: Matrix) -> None:
    assert DOCUMENT.read_text("utf-8") == document(matrix), "run `make matrix`"


@pytest.mark.parametrize(
    "case",
    [case for wire in Format for case in cases(wire) if REQUESTS & {*case.shows}],
    ids=lambda case: f"{case.format.value}/{case.name}",
)
def test_what_is_sent_is_part_of_a_transcript_that_shows_it(case: Case) -> None:
    assert case.has("sent.json")


class TestMatrix:
    def test_what_is_wrong_is_told(self) -> None:
        made = Matrix()
        made.add([("openai", "text"), ("openai", "no such thing"), ("gemini", "refusal")], is_good=True)
        made.add([("bedrock", "text")], is_good=False)
        problems = made.problems()
        assert "bedrock text: 1 tests failed" in problems
        assert "openai unicode: nothing shows it, and no reason is given" in problems
        assert "gemini refusal: is shown, and a reason why not is given" in problems
        assert "openai no such thing: is not in matrix.toml" in problems

    def test_a_cell_has_its_count_its_failures_or_a_note(self) -> None:
        made = Matrix()
        made.add([("openai", "audio out"), ("openai", "text")], is_good=True)
        made.add([("gemini", "text")], is_good=False)
        rows = {line.split("|")[1].strip(): line for line in made.table(counts=True) if line.startswith("|")}
        assert [cell.strip() for cell in rows["text"].split("|")[2:6]] == ["1", "EMPTY", "FAILED 1", "EMPTY"]
        assert rows["audio out"].split("|")[3].strip().startswith("no (")
