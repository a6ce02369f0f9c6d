"""Rows add up to the totals that they are made of, whatever they are grouped by and however many a page has."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.surfaces.usage_question import Group, UsageQuestion, parse_usage_question
from core.surfaces.usage_rows import COLUMNS, needed, report, usage_list
from core.totals import NOTHING, QUARTER_MS, Bucket, By, Counts, Total, summed
from functions.gateway.usage import csv_table, zone_of

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
QUARTER = int(FIRST.timestamp()) * 1000 // QUARTER_MS
SPAN = range(QUARTER, QUARTER + 62 * 96)
ZONES = ["UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns"]

counts = st.builds(Counts, *[st.integers(0, 99) for _ in COLUMNS])
totals = st.lists(
    st.builds(
        Total,
        st.builds(Bucket, st.sampled_from(SPAN), st.sampled_from("kl"), st.sampled_from(["", "m", "n"]), st.just("")),
        counts,
    ),
    max_size=40,
)
groups = st.lists(st.sampled_from(Group), min_size=1, unique=True).map(tuple)
questions = st.builds(
    lambda groups, zone, limit: UsageQuestion(SPAN, groups, ZoneInfo(zone), zone, limit),
    groups,
    st.sampled_from(ZONES),
    st.integers(1, 7),
)


def pages(question: UsageQuestion, found: list[Total]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    page = report(question, found)
    rows += map(dict, page.rows)
    while page.next_cursor is not None:
        assert len(page.rows) == question.limit
        told = {"cursor": [page.next_cursor], "limit": [str(question.limit)]}
        page = report(parse_usage_question(told, 0, zone_of), found)
        rows += map(dict, page.rows)
    return rows


@given(totals, questions)
def test_pages_together_are_the_whole_report(found: list[Total], question: UsageQuestion) -> None:
    whole = report(replace(question, limit=1_000), found)
    assert pages(question, found) == [*whole.rows]
    assert whole.next_cursor is None


@given(totals, questions)
def test_rows_add_up_to_the_totals(found: list[Total], question: UsageQuestion) -> None:
    rows = pages(question, summed(found, needed(question.groups)))
    sums = sum((total.counts for total in found), NOTHING)
    assert {name: sum(row[name] for row in rows) for name in COLUMNS} == {
        name: getattr(sums, count) for name, count in COLUMNS.items()
    }
    named = [tuple(row[group.value] for group in question.groups) for row in rows]
    assert len(set(named)) == len(named)


@given(st.sampled_from(SPAN), st.sampled_from(ZONES))
def test_a_moment_is_counted_in_its_own_day_and_hour(quarter: int, zone: str) -> None:
    question = UsageQuestion(SPAN, (Group.DAY, Group.HOUR), ZoneInfo(zone), zone)
    (row,) = report(question, [Total(Bucket(quarter), Counts(requests=1))]).rows
    moment = datetime.fromtimestamp(quarter * 900, ZoneInfo(zone))
    assert row["day"] == moment.date().isoformat()
    hour = datetime.fromisoformat(row["hour"])
    assert timedelta(0) <= moment - hour < timedelta(hours=2)
    assert hour.minute == 0
    assert row["hour"][:13] == moment.isoformat()[:13]


def test_an_hour_that_comes_twice_is_two_rows() -> None:
    """2026-10-25 in Berlin: 02:00 in summer time, and again in winter time."""
    zone = ZoneInfo("Europe/Berlin")
    first = int(datetime(2026, 10, 25, 0, 0, tzinfo=UTC).timestamp()) // 900
    found = [Total(Bucket(first + 4 * number), Counts(requests=1)) for number in range(2)]
    rows = report(UsageQuestion(SPAN, (Group.HOUR,), zone, "Europe/Berlin"), found).rows
    assert [row["hour"] for row in rows] == ["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00"]


def test_what_a_request_does_not_have_is_null_and_first() -> None:
    found = [Total(Bucket(QUARTER, "k", model, ""), Counts(requests=1)) for model in ("m", "")]
    rows = report(UsageQuestion(SPAN, (Group.MODEL, Group.TASK, Group.KEY), UTC, "UTC"), found).rows
    assert [(row["model"], row["task"], row["key"]) for row in rows] == [(None, None, "k"), ("m", None, "k")]


@pytest.mark.parametrize(
    ("groups", "by"),
    [
        ((Group.DAY, Group.HOUR), {By.TIME}),
        ((Group.MODEL, Group.KEY), {By.MODEL, By.KEY}),
        ((Group.TASK,), {By.TASK}),
    ],
)
def test_totals_are_told_apart_by_what_is_needed(groups: tuple[Group, ...], by: set[By]) -> None:
    assert needed(groups) == by


def test_the_answer_says_what_it_covers() -> None:
    question = UsageQuestion(range(4, 8), (Group.MODEL,), UTC, "UTC", limit=1)
    found = [Total(Bucket(4, model=name), Counts(cost_micros=7)) for name in "ab"]
    page = report(question, found)
    answer = usage_list(question, page, 4_500_999)
    assert answer == {
        "object": "list",
        "from": 3_600,
        "to": 7_200,
        "group_by": ["model"],
        "tz": "UTC",
        "data": page.rows,
        "complete_until": 4_500,
        "has_more": True,
        "next_cursor": page.next_cursor,
    }
    assert usage_list(question, page, None)["complete_until"] is None


def test_a_table_has_the_names_of_its_columns_first() -> None:
    question = UsageQuestion(range(4, 8), (Group.MODEL,), UTC, "UTC")
    found = [Total(Bucket(4, model='a,"b"'), Counts(requests=2, cost_micros=7)), Total(Bucket(4), Counts(requests=1))]
    head, *rows = csv_table(usage_list(question, report(question, found), None)).split("\r\n")
    assert head.split(",") == ["model", *COLUMNS]
    assert rows[0] == ",1" + ",0" * 11
    assert rows[1] == '"a,""b""",2' + ",0" * 10 + ",7"
