"""What may be asked of the usage report, and what is said of what may not."""

import base64
import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.errors import InvalidRequest
from core.surfaces.usage_question import LARGEST_LIMIT, USUAL_LIMIT, Group, cursor_of, parse_usage_question
from core.totals import QUARTER_MS
from functions.gateway.usage import zone_of

NOW = datetime(2026, 11, 30, 12, 20, tzinfo=UTC).timestamp()


def ask(now_s: float = NOW, **parameters: str | list[str]) -> Any:
    told = {name.rstrip("_"): [value] if isinstance(value, str) else value for name, value in parameters.items()}
    return parse_usage_question(told, now_s, zone_of)


def refusal(**parameters: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as refused:
        ask(NOW, **parameters)
    return refused.value


def quarter(year: int, month: int, day: int, hour: int = 0, minute: int = 0, zone: str = "UTC") -> int:
    moment = datetime(year, month, day, hour, minute, tzinfo=ZoneInfo(zone))
    return int(moment.timestamp()) * 1000 // QUARTER_MS


def test_by_default_it_is_the_month_so_far_by_day() -> None:
    question = ask()
    assert question.quarters == range(quarter(2026, 11, 1), quarter(2026, 11, 30, 12, 30))
    assert (question.groups, question.zone_name, question.limit) == ((Group.DAY,), "UTC", USUAL_LIMIT)
    assert question.after is None


def test_the_month_is_that_of_the_zone_and_of_the_last_moment_that_is_meant() -> None:
    there = ask(tz="America/New_York", to="2026-11-01T00:00:00")
    assert there.quarters.start == quarter(2026, 10, 1, zone="America/New_York")
    assert there.quarters.stop == quarter(2026, 11, 1, zone="America/New_York")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2026-11-02", quarter(2026, 11, 2)),
        ("2026-11-02T10:15:00Z", quarter(2026, 11, 2, 10, 15)),
        ("2026-11-02T10:15:00+02:00", quarter(2026, 11, 2, 8, 15)),
        ("2026-11-02T10:29:59", quarter(2026, 11, 2, 10, 15)),
        ("1793577600", quarter(2026, 11, 2)),
        ("20261102", quarter(2026, 11, 2)),
    ],
)
def test_moments_have_three_forms(given: str, meant: int) -> None:
    if given == "20261102":  # eight digits are seconds, not a date without hyphens
        meant = 20261102 // 900
    assert ask(from_=given, group_by="model").quarters.start == meant


def test_dates_without_an_offset_are_those_of_the_zone() -> None:
    question = ask(from_="2026-11-02", to="2026-11-03T00:00", tz="Asia/Kolkata")
    assert question.quarters == range(
        quarter(2026, 11, 2, zone="Asia/Kolkata"), quarter(2026, 11, 3, zone="Asia/Kolkata")
    )


def test_groups_are_named_together_or_one_by_one() -> None:
    assert ask(group_by="model, key").groups == (Group.MODEL, Group.KEY)
    assert ask(group_by=["task", "model,task"]).groups == (Group.TASK, Group.MODEL)
    assert ask(group_by="").groups == (Group.DAY,)


@pytest.mark.parametrize(
    ("param", "parameters"),
    [
        ("from", {"from_": "yesterday"}),
        ("from", {"from_": "2026-13-01"}),
        ("from", {"from_": "-5"}),
        ("from", {"from_": "1.5"}),
        ("from", {"from_": "99999999999"}),
        ("from", {"from_": "999999999999"}),
        ("from", {"from_": "0001-01-01T00:00:00+14:00"}),
        ("from", {"from_": ""}),
        ("from", {"from_": "2026-12-05"}),
        ("from", {"from_": "2026-11-03", "to": "2026-11-03"}),
        ("from", {"from_": "2026-01-01", "group_by": "hour"}),
        ("from", {"from_": "2020-01-01", "group_by": "day,model"}),
        ("from", {"from_": ["2026-11-01", "2026-11-02"]}),
        ("to", {"to": "soon"}),
        ("group_by", {"group_by": "org"}),
        ("group_by", {"group_by": "model,hours"}),
        ("tz", {"tz": "Mars/Olympus"}),
        ("tz", {"tz": "../UTC"}),
        ("tz", {"tz": "Europe"}),
        ("tz", {"tz": "\0"}),
        ("limit", {"limit": "0"}),
        ("limit", {"limit": str(LARGEST_LIMIT + 1)}),
        ("limit", {"limit": "ten"}),
        ("limit", {"limit": "²"}),
        ("cursor", {"cursor": "not one"}),
        ("cursor", {"cursor": "ä"}),
        ("cursor", {"cursor": "AAAA"}),
    ],
)
def test_what_is_wrong_is_named(param: str, parameters: Any) -> None:
    refused = refusal(**parameters)
    assert (refused.status, refused.param) == (400, param)
    assert refused.message.count("'") >= 2 or "days" in refused.message


@pytest.mark.parametrize("name", ["group-by", "format", ""])
def test_a_parameter_that_there_is_not_is_refused(name: str) -> None:
    refused = refusal(**{name: "x"})
    assert (refused.status, refused.code, refused.param) == (400, "invalid_value", name)
    assert "There are: from, to, group_by, tz, cursor, limit." in refused.message


def test_a_long_time_may_be_asked_for_where_it_makes_few_rows() -> None:
    assert len(ask(from_="0", group_by="model").quarters) > 10**6


def test_a_cursor_goes_on_with_the_report_that_it_is_of() -> None:
    first = ask(group_by="day,model", tz="Europe/Berlin", limit="2")
    cursor = cursor_of(first, (739_585, "a/b"))
    then = ask(NOW + 90_000, cursor=cursor, limit="7")
    assert then.quarters == first.quarters
    assert (then.groups, then.zone_name) == (first.groups, first.zone_name)
    assert (then.after, then.limit) == ((739_585, "a/b"), 7)
    assert ask(cursor=cursor, tz="Europe/Berlin", group_by="day,model").after == then.after


@pytest.mark.parametrize(("name", "value"), [("tz", "UTC"), ("group_by", "day")])
def test_a_cursor_is_of_no_other_report(name: str, value: str) -> None:
    cursor = cursor_of(ask(group_by="day,model", tz="Europe/Berlin"), (739_585, "a/b"))
    assert refusal(**{"cursor": cursor, name: value}).param == name


@pytest.mark.parametrize(
    "change",
    [
        {"after": None},
        {"after": ["a/b", 1]},
        {"after": [1]},
        {"after": "ab"},
        {"tz": 5},
        {"from": None},
    ],
)
def test_a_cursor_that_was_changed_is_refused(change: dict[str, Any]) -> None:
    cursor = cursor_of(ask(group_by="day,model"), (739_585, "a/b"))
    told = json.loads(base64.urlsafe_b64decode(cursor + "=="))
    changed = base64.urlsafe_b64encode(json.dumps({**told, **change}).encode()).decode()
    assert refusal(cursor=changed).param == "cursor"


def test_a_cursor_whose_inside_was_changed_names_what_is_wrong() -> None:
    told = {"from": "0", "to": "900", "group_by": "planet", "tz": "UTC", "after": []}
    cursor = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
    assert refusal(cursor=cursor).param == "group_by"
