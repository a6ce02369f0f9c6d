"""The store that the settings name, for one command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.ports import Store
from functions.gateway.compose import open_store
from functions.settings import environment, read_settings

T = TypeVar("T")


def with_store(work: Callable[[Store], Awaitable[T]]) -> T:
    """Do something with the store, and close it.

    Raises:
        SettingsError: The settings are wrong.
        StoreUnavailable: The store cannot be reached.
    """

    async def run() -> T:
        store = open_store(read_settings(environment()))
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())
