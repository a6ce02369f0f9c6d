"""A store that can be away: its methods raise, hang or work as the test says."""

import asyncio
from collections import defaultdict
from typing import Any

from core.errors import StoreUnavailable
from core.ports import Store


class AwayStore:
    """Passes calls on to a store unless they are named in `away` (raise) or `stuck` (no answer until `free`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.away: set[str] = set()
        self.stuck: set[str] = set()
        self.calls: list[str] = []
        self._hanging: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._freed = asyncio.Event()

    async def hangs(self, name: str) -> None:
        """Return once a call of that name got stuck."""
        await self._hanging[name].wait()

    def free(self) -> None:
        """Let go of what is stuck: it is passed on after all."""
        self.stuck.clear()
        self._freed.set()
        self._freed = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def passed_on(*args: Any, **members: Any) -> Any:
            self.calls.append(name)
            if name in self.away or "*" in self.away:
                raise StoreUnavailable("The store cannot be reached. Try again.", retry_after_s=1)
            if name in self.stuck:
                self._hanging[name].set()
                await self._freed.wait()
            return await method(*args, **members)

        return passed_on
