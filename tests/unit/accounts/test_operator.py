"""The operator's key is like no caller's, and is known by its hash alone."""

import pytest

from core.accounts.keys import ENTROPY_BYTES, digest, is_well_formed
from core.accounts.operator import check_operator, make_operator_key
from core.errors import AuthenticationFailed, GatewayError, NotFound

KEY = make_operator_key(bytes(range(ENTROPY_BYTES)))
OTHER = make_operator_key(bytes(range(1, ENTROPY_BYTES + 1)))


def test_it_is_no_callers_key() -> None:
    assert KEY.startswith("hro_")
    assert not is_well_formed(KEY)


def test_the_key_is_let_in() -> None:
    check_operator(KEY, digest(KEY))


@pytest.mark.parametrize("token", [None, "", "word", OTHER, KEY[:-1], KEY.replace("hro_", "hr_")])
def test_nothing_else_is(token: str | None) -> None:
    with pytest.raises(AuthenticationFailed):
        check_operator(token, digest(KEY))


def test_a_word_is_no_key_although_its_hash_is_configured() -> None:
    with pytest.raises(AuthenticationFailed):
        check_operator("word", digest("word"))


@pytest.mark.parametrize("token", [None, KEY])
def test_without_an_operator_there_is_no_door(token: str | None) -> None:
    with pytest.raises(GatewayError) as refused:
        check_operator(token, None)
    assert isinstance(refused.value, NotFound)
    assert refused.value.code == "endpoint_not_found"
