"""The environments of one function: a request takes one that has room, or a new one; dead ones are replaced."""

import asyncio

from functions.local.emulator.call import Call
from functions.local.emulator.environment import Environment, Function


class Throttled(Exception):
    """As many invocations run as may run at a time."""


class Fleet:
    """As many environments as are needed, and no more than allowed.

    Args:
        function: What runs in them.
        most: The most environments.
    """

    def __init__(self, function: Function, most: int) -> None:
        self._function = function
        self._most = most
        self._starting = asyncio.Lock()
        self.environments: list[Environment] = []

    async def invoke(self, event: bytes) -> Call:
        """Have an event handled.

        Raises:
            Throttled: All environments are busy, and there may be no more.
            OSError: The function's program cannot be run.
        """
        async with self._starting:
            self.environments = [each for each in self.environments if not each.is_gone]
            free = next((each for each in self.environments if each.room > 0), None)
            return (free or await self._new()).invoke(event)

    async def _new(self) -> Environment:
        if sum(not each.is_over for each in self.environments) >= self._most:
            raise Throttled
        new = Environment(self._function)
        await new.start()
        self.environments.append(new)
        return new

    async def close(self) -> None:
        """End all of them; what they have not answered is lost."""
        await asyncio.gather(*(each.stop() for each in self.environments))
