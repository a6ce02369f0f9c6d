"""AWS credentials are found once and renewed by themselves, from however many threads."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from botocore.credentials import Credentials, RefreshableCredentials

from functions.gateway.aws_credentials import VARIABLES, AwsCredentials, aws_credentials

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Sessions:
    """Counts the sessions that are made; each finds the same credentials."""

    def __init__(self, *found: Any) -> None:
        self.made = 0
        self._found = [*found]

    def __call__(self) -> "Sessions":
        self.made += 1
        return self

    def get_credentials(self) -> Any:
        return self._found.pop(0) if len(self._found) > 1 else self._found[0]


def test_one_session_is_made_for_all_threads() -> None:
    sessions, threads = Sessions(Credentials("id", "secret", "token")), 8
    read, together = AwsCredentials(sessions), Barrier(threads)

    def ask(_: int) -> str:
        together.wait(10)
        access_key: str = read().access_key
        return access_key

    with ThreadPoolExecutor(threads) as pool:
        assert list(pool.map(ask, range(threads))) == ["id"] * threads
    assert sessions.made == 1


def test_credentials_that_run_out_are_renewed_by_the_session_that_is_kept() -> None:
    now, renewed = [NOW], []

    def renew() -> dict[str, str]:
        renewed.append(now[0])
        expiry = (now[0] + timedelta(hours=1)).isoformat()
        return {"access_key": "id-1", "secret_key": "s", "token": "t", "expiry_time": expiry}

    found = RefreshableCredentials(
        "id-0", "s", "t", NOW + timedelta(hours=1), renew, "test", time_fetcher=lambda: now[0]
    )
    sessions = Sessions(found)
    read = AwsCredentials(sessions)
    assert [read().access_key, read().access_key] == ["id-0", "id-0"]
    now[0] += timedelta(hours=2)
    assert read().access_key == "id-1"
    assert (renewed, sessions.made) == ([now[0]], 1)


def test_none_are_looked_for_again() -> None:
    read = AwsCredentials(Sessions(None, Credentials("id", "secret")))
    assert read() is None
    assert read().access_key == "id"


@pytest.mark.parametrize("name", VARIABLES)
def test_they_are_read_where_a_variable_says_that_there_are_some(name: str) -> None:
    assert aws_credentials({name: "x"}) is not None
    assert aws_credentials({name: ""}) is None
    assert aws_credentials({}) is None
