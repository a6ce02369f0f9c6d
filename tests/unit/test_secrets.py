"""Where provider keys come from, and what is said when they do not."""

from types import SimpleNamespace

import pytest

from core.catalog.model import Auth
from core.errors import AccountFailure
from core.providers.base import Credential
from core.secrets import REFRESH_S, Secrets
from tests.support.clock import ManualClock
from tests.support.targets import make_vendor

KEYED = make_vendor(auth=Auth.BEARER, key_env="LAB_API_KEY")
OPEN = make_vendor()
SIGNED = make_vendor(auth=Auth.SIGV4)


async def test_a_key_comes_from_the_environment() -> None:
    secrets = Secrets({"LAB_API_KEY": "sk-1"}, ManualClock())
    assert secrets.has(KEYED)
    assert (await secrets.credential(KEYED)).key == "sk-1"


async def test_a_vendor_without_a_key_needs_none() -> None:
    secrets = Secrets({}, ManualClock())
    assert secrets.has(OPEN)
    assert await secrets.credential(OPEN) == Credential()


async def test_a_missing_key_is_the_operators_fault_and_named_for_them_alone() -> None:
    secrets = Secrets({}, ManualClock())
    assert not secrets.has(KEYED)
    with pytest.raises(AccountFailure) as failure:
        await secrets.credential(KEYED)
    assert "LAB_API_KEY" in failure.value.detail
    assert "LAB_API_KEY" not in failure.value.message


async def test_the_secret_wins_over_the_environment_and_is_read_again_after_a_while() -> None:
    clock = ManualClock()
    texts = iter(['{"LAB_API_KEY": "first"}', '{"LAB_API_KEY": "second"}'])
    secrets = Secrets({"LAB_API_KEY": "environment"}, clock, lambda: next(texts))
    assert (await secrets.credential(KEYED)).key == "first"
    await clock.advance(REFRESH_S - 1)
    assert (await secrets.credential(KEYED)).key == "first"
    await clock.advance(1)
    assert (await secrets.credential(KEYED)).key == "second"


async def test_a_secret_that_cannot_be_read_again_stays_as_it_was() -> None:
    clock = ManualClock()
    texts = iter(['{"LAB_API_KEY": "first"}', "not json"])
    secrets = Secrets({}, clock, lambda: next(texts))
    await secrets.load()
    await clock.advance(REFRESH_S)
    assert (await secrets.credential(KEYED)).key == "first"


async def test_a_secret_that_was_never_read_is_an_account_failure() -> None:
    def unreadable() -> str:
        raise PermissionError("denied")

    with pytest.raises(AccountFailure) as failure:
        await Secrets({}, ManualClock(), unreadable).load()
    assert failure.value.detail == "PermissionError"


async def test_requests_that_are_signed_take_the_processs_credentials() -> None:
    found = SimpleNamespace(access_key="AKID", secret_key="secret", token="session")
    secrets = Secrets({}, ManualClock(), aws_credentials=lambda: found)
    assert secrets.has(SIGNED)
    credential = await secrets.credential(SIGNED)
    assert (credential.access_key, credential.secret_key, credential.session_token) == ("AKID", "secret", "session")
    assert not Secrets({}, ManualClock()).has(SIGNED)
    with pytest.raises(AccountFailure):
        await Secrets({}, ManualClock(), aws_credentials=lambda: None).credential(SIGNED)


def test_a_credential_never_shows_itself() -> None:
    assert "sk-1" not in repr(Credential(key="sk-1"))
