"""What holds for every golden transcript of every format, and for every format's decoder whatever it is sent."""

from collections.abc import Iterable

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog.model import Format
from core.providers.base import Outgoing, Prepared, StreamDecoder
from core.providers.registry import provider
from tests.support import converse_checks
from tests.support.examples import times
from tests.support.golden import Case, cases, event_form, failure_form
from tests.support.laws import (
    answered,
    check_nothing_else_escapes,
    check_splits_never_show,
    check_truncation_is_never_silent,
    check_whole_is_fold,
    decoded,
)
from tests.support.splitting import pieces
from tests.support.targets import make_target, make_vendor
from tests.support.vendors import anthropic_checks, gemini_checks
from tests.support.vendors.openai_wire import type_problems

CASES = [case for wire in Format for case in cases(wire)]


def full_id(case: Case) -> str:
    return f"{case.format.value}/{case.name}"


each_case = pytest.mark.parametrize("case", CASES, ids=full_id)
each_format = pytest.mark.parametrize("wire", Format, ids=lambda wire: wire.value)


def decoder(wire: Format) -> StreamDecoder:
    target = make_target(vendor=make_vendor(format=wire))
    return provider(wire).decoder(Outgoing(target, "", {}, b""), 200, {})


@each_case
def test_a_transcript_gives_its_events(case: Case) -> None:
    outcome = decoded(case.decoders()(), [case.data])
    expected = case.json("expected.json")
    assert [event_form(event) for event in outcome.events] == expected["events"]
    assert failure_form(outcome.error) == expected.get("error")


@each_case
def test_a_transcript_says_where_it_is_from(case: Case) -> None:
    assert case.about["source"]


@pytest.mark.shows("whole equals stream")
@pytest.mark.parametrize("case", [case for case in CASES if case.has("whole.json")], ids=full_id)
def test_a_whole_answer_is_the_fold_of_its_stream(case: Case) -> None:
    new = case.decoders()
    whole = (case.folder / "whole.json").read_bytes()
    check_whole_is_fold(answered(new(), [case.data]), answered(new(), [whole]))


@pytest.mark.parametrize("case", [case for case in CASES if case.has("sent.json")], ids=full_id)
def test_a_request_becomes_its_body(case: Case) -> None:
    sent = provider(case.format).encode(case.request, case.target, Prepared(turns=case.turns_before()))
    assert orjson.loads(sent.body) == case.json("sent.json")


@each_case
def test_a_request_becomes_a_body_that_its_host_takes(case: Case) -> None:
    target = case.target
    sent = provider(case.format).encode(case.request, target, Prepared(turns=case.turns_before()))
    body = orjson.loads(sent.body)
    problems: Iterable[str] = ()
    match case.format:
        case Format.OPENAI:
            problems = type_problems(body, target)
        case Format.ANTHROPIC:
            problems = anthropic_checks.problems(body, target)
        case Format.GEMINI:
            problems = gemini_checks.problems(body, target)
        case Format.BEDROCK:
            problems = converse_checks.problems("us.lab.small-v1:0", body)
    assert list(problems) == []


@pytest.mark.shows("any split of the bytes")
@each_case
@given(data=st.data())
@settings(max_examples=times(0.2))
def test_how_bytes_are_cut_never_shows(case: Case, data: st.DataObject) -> None:
    check_splits_never_show(case.decoders(), case.data, data.draw(pieces(case.data)))


@pytest.mark.shows("truncation at every byte")
@each_case
def test_truncation_is_never_silent(case: Case) -> None:
    check_truncation_is_never_silent(case.decoders(), case.data)


@each_format
@given(st.lists(st.binary(max_size=60), max_size=5))
def test_arbitrary_bytes_give_events_or_a_failure(wire: Format, reads: list[bytes]) -> None:
    check_nothing_else_escapes(lambda: decoder(wire), reads)


@each_format
@given(data=st.data(), at=st.integers(0, 10_000), put=st.binary(max_size=4), gone=st.integers(0, 8))
def test_damaged_transcripts_give_events_or_a_failure(
    wire: Format, data: st.DataObject, at: int, put: bytes, gone: int
) -> None:
    case = data.draw(st.sampled_from(cases(wire)))
    at %= len(case.data) or 1
    check_nothing_else_escapes(case.decoders(), [case.data[:at] + put + case.data[at + gone :]])
