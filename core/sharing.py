"""Tells other processes of hosts that failed here, and learns from them; no request ever waits for it.

What is shared is until when a host is out of use, and how long its first token takes where nobody here has measured it.
Error rates, and who tries a host again, stay with each process. A process that has just begun is blind until it has
asked once.
"""

from math import inf
from typing import Final

from core.errors import StoreUnavailable
from core.ports import Clock, SharedHealth
from core.routing.board import HealthBoard
from core.waiting import Background, finish_by

REFRESH_S: Final = 10.0
"""How old what was learnt from others may get, in seconds, and the pause after a failure."""

EXCHANGE_S: Final = 1.0
"""How long an exchange may take, in seconds: on Lambda the next request waits for its end."""


class Sharing:
    """The exchange between one board and the store.

    Args:
        board: What this process knows.
        store: Where processes meet.
        clock: Unix time, since a frozen process's other clock may stand still.
        background: Where the exchange goes on after the response.
    """

    def __init__(self, board: HealthBoard, store: SharedHealth, clock: Clock, background: Background) -> None:
        self._board = board
        self._store = store
        self._clock = clock
        self._background = background
        self._asked_at = -inf
        self._failed_at = -inf
        self._under_way = False

    def after_response(self) -> None:
        """Exchange news in the background, if there are any, or if it is time to ask for those of others."""
        now = self._clock.now()
        is_time = now - self._asked_at >= REFRESH_S or bool(self._board.news())
        if is_time and not self._under_way and now - self._failed_at >= REFRESH_S:
            self._under_way = True
            self._background.start(self._exchange())

    async def keep_up(self) -> None:
        """Go on exchanging news for as long as a server runs, with requests or without."""
        while True:
            if not self._under_way:
                self._under_way = True
                await self._exchange()
            await self._clock.sleep_until(self._clock.monotonic() + REFRESH_S)

    async def _exchange(self) -> None:
        now = self._clock.now()
        try:
            await finish_by(self._clock, self._clock.monotonic() + EXCHANGE_S, self._ask_and_tell(now))
        except (StoreUnavailable, TimeoutError):
            self._failed_at = now
        finally:
            self._under_way = False

    async def _ask_and_tell(self, now: float) -> None:
        # What others have told already need not be told again, so they are asked first.
        if now - self._asked_at >= REFRESH_S:
            self._board.learn(await self._store.told_health(round(now * 1000)))
            self._asked_at = now
        news = self._board.news()
        if news:
            await self._store.tell_health(news, round(now * 1000))
            self._board.told(news)
