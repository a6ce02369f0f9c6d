"""The app's lifespan, run once for a whole environment; never around a request."""

import asyncio
import logging
from typing import Any

from mangum.types import ASGI, Message

log = logging.getLogger(__name__)


class LifespanFailed(RuntimeError):
    """The app says that it cannot start, or could not stop."""


class Lifespan:
    """Starts and stops an ASGI app. An app without lifespan is as good as one with an empty one.

    Args:
        app: The ASGI app.
    """

    def __init__(self, app: ASGI) -> None:
        self._app = app
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._told: dict[str, asyncio.Event] = {"startup": asyncio.Event(), "shutdown": asyncio.Event()}
        self._problem: str | None = None
        self._task: asyncio.Task[None] | None = None
        self.state: dict[str, Any] = {}
        """What the app leaves for its requests."""

    async def startup(self) -> None:
        """Start the app.

        Raises:
            LifespanFailed: The app says that it cannot.
        """
        self._task = asyncio.create_task(self._run())
        await self._ask("startup")

    async def shutdown(self) -> None:
        """Stop the app, if it was started.

        Raises:
            LifespanFailed: The app says that it could not.
        """
        if self._task is not None:
            await self._ask("shutdown")

    async def _ask(self, phase: str) -> None:
        self._inbox.put_nowait({"type": f"lifespan.{phase}"})
        await self._told[phase].wait()
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise LifespanFailed(problem)

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        try:
            await self._app(scope, self._inbox.get, self._send)
        except Exception as error:
            # A failure that the app announced is raised where it is waited for; one without a word means that the
            # app has no lifespan (ASGI specification, "Lifespan Protocol").
            log.info("the app's lifespan ended", extra={"fields": {"reason": type(error).__name__}})
        finally:
            for event in self._told.values():
                event.set()

    async def _send(self, message: Message) -> None:
        phase, _, outcome = message["type"].removeprefix("lifespan.").partition(".")
        if phase not in self._told or outcome not in ("complete", "failed"):
            raise RuntimeError(f"{message['type']!r} is no message of a lifespan")
        if outcome == "failed":
            lines = message.get("message", "").strip().splitlines()
            self._problem = f"the app's {phase} failed: {lines[-1] if lines else 'it gave no reason'}"
        self._told[phase].set()
