"""The machine's own time."""

import asyncio
import time
from collections.abc import Callable


class SystemClock:
    """The clock that everything outside the tests runs on."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep_until(self, moment: float) -> None:
        """Return once `monotonic()` has reached `moment`."""
        await asyncio.sleep(max(0.0, moment - time.monotonic()))

    def call_at(self, moment: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        """Call back once `monotonic()` has reached `moment`."""
        return asyncio.get_running_loop().call_later(max(0.0, moment - time.monotonic()), callback)
