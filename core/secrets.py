"""Provider credentials: from the environment or from one secret in Secrets Manager, read again after a while."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from core.catalog.model import Auth, Vendor
from core.errors import AccountFailure
from core.ports import Clock
from core.providers.base import Credential

REFRESH_S = 300.0


class Secrets:
    """Finds the credential of a vendor.

    Args:
        variables: The environment; a vendor's `key_env` names its variable.
        clock: For reading the secret again after five minutes.
        read_secret: Gives the secret's text (a JSON object by variable name), or None where there is no such secret.
            It blocks, so it runs in a thread.
        aws_credentials: Gives the process's AWS credentials, for vendors that are signed for; it blocks too.
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        clock: Clock,
        read_secret: Callable[[], str] | None = None,
        aws_credentials: Callable[[], Any] | None = None,
    ) -> None:
        self._variables = variables
        self._clock = clock
        self._read_secret = read_secret
        self._aws_credentials = aws_credentials
        self._secret: Mapping[str, str] = {}
        self._read_at: float | None = None

    async def load(self) -> None:
        """Read the secret, if there is one and it was not read lately.

        Raises:
            AccountFailure: It cannot be read and was never read before.
        """
        if self._read_secret is None:
            return
        now = self._clock.monotonic()
        if self._read_at is not None and now - self._read_at < REFRESH_S:
            return
        try:
            text = await asyncio.to_thread(self._read_secret)
            values = orjson.loads(text)
            self._secret = {str(name): str(value) for name, value in values.items()}
        except Exception as error:
            if self._read_at is None:
                raise AccountFailure(
                    "The gateway's provider keys could not be read.", detail=f"{type(error).__name__}"
                ) from error
        self._read_at = now

    def has(self, vendor: Vendor) -> bool:
        """Whether the vendor can be called: it needs no key, or its key is there."""
        if vendor.auth is Auth.NONE or self._value(vendor.key_env):
            return True
        return vendor.auth is Auth.SIGV4 and self._aws_credentials is not None

    async def credential(self, vendor: Vendor) -> Credential:
        """The vendor's credential.

        Raises:
            AccountFailure: There is none.
        """
        await self.load()
        if vendor.auth is Auth.NONE:
            return Credential()
        key = self._value(vendor.key_env)
        if key:
            return Credential(key=key)
        if vendor.auth is Auth.SIGV4 and self._aws_credentials is not None:
            found = await asyncio.to_thread(self._aws_credentials)
            if found is not None:
                return Credential(access_key=found.access_key, secret_key=found.secret_key, session_token=found.token)
        raise AccountFailure(
            "The model's host cannot be used at the moment. Name another model.",
            detail=f"no credential for {vendor.name}: set {vendor.key_env or 'AWS credentials'}",
        )

    def _value(self, name: str | None) -> str | None:
        return None if name is None else self._secret.get(name) or self._variables.get(name)
