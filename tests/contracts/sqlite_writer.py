"""A process of its own that writes to a database file, and says what was acknowledged, until it is done or killed.

    python sqlite_writer.py PATH FIRST COUNT

Prints one line for each record: its number, and whether this process was the one that settled it.
"""

import asyncio
import sys
from pathlib import Path

from core.store.sqlite import SqliteStore
from tests.contracts.values import final, open_record


async def main(path: Path, first: int, count: int) -> None:
    store = SqliteStore(path, busy_ms=30_000)
    for number in range(first, first + count):
        record = open_record(number)
        await store.open(record)
        won = await store.settle(final(record))
        print(number, won, flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
