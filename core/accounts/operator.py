"""The operator's key: `hro_` and what follows the prefix of callers' keys, so that neither passes for the other.

Only its SHA-256 is configured; nobody else keeps it.
"""

import hmac
from typing import Final

from core.accounts.keys import PREFIX, digest, is_well_formed, make_key
from core.errors import AuthenticationFailed, NotFound

OPERATOR_PREFIX: Final = "hro_"


def make_operator_key(random_bytes: bytes) -> str:
    """A new key; as `make_key`, from as many random bytes."""
    return OPERATOR_PREFIX + make_key(random_bytes).removeprefix(PREFIX)


def check_operator(token: str | None, configured: str | None) -> None:
    """Return if the token is the operator's key. How long that takes does not tell how much of it is right.

    Args:
        token: As it was sent, or None.
        configured: The SHA-256 of the key, in hex; None where there is no operator.

    Raises:
        NotFound: There is no operator, so there is nothing here.
        AuthenticationFailed: It is not the key, or none.
    """
    if configured is None:
        raise NotFound("There is no such endpoint. See /docs for those there are.", code="endpoint_not_found")
    if not token:
        raise AuthenticationFailed("No operator key was sent. Send it in the header 'Authorization: Bearer hro_...'.")
    is_formed = token.startswith(OPERATOR_PREFIX) and is_well_formed(PREFIX + token.removeprefix(OPERATOR_PREFIX))
    if not (hmac.compare_digest(digest(token), configured) and is_formed):
        raise AuthenticationFailed("This is not the key of this gateway's operator.")
