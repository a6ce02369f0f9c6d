"""What the runtime loop needs from the gateway that it runs."""

from collections.abc import Callable
from typing import Protocol

from mangum.types import ASGI


class Gateway(Protocol):
    """A gateway in its second phase of life: prepared, and told when to open and close what it needs.

    `prepare()` made it without opening a socket, so it may sleep in a snapshot until `connect()`.
    """

    @property
    def app(self) -> ASGI:
        """The ASGI 3 application."""
        ...

    @property
    def header_prefix(self) -> str:
        """What the names of its own response headers begin with."""
        ...

    async def connect(self) -> None:
        """Open clients, read credentials, seed randomness. Runs once, after a restore where there is one."""
        ...

    async def after_response(self) -> None:
        """Do what was put off until the caller has the last byte. Cancelled when its time is up.

        Where one environment serves several invocations at once, it runs once for each of them, side by side.
        """
        ...

    async def close(self) -> None:
        """Close what `connect()` opened. Runs once, when the environment ends."""
        ...


Prepare = Callable[[], Gateway]
"""Makes the gateway; imports happen in here, so that a failing one is reported to Lambda."""
