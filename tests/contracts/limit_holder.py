"""A process of its own that takes of a limit, says so, and holds it until it is killed.

python limit_holder.py PATH
"""

import asyncio
import sys
from pathlib import Path

from core.store.sqlite import SqliteStore
from tests.contracts.limit_values import asking
from tests.contracts.values import NOW_MS, open_record


async def main(path: Path) -> None:
    store = SqliteStore(path)
    await store.open(open_record(1, lease_until_ms=NOW_MS))
    await store.reserve(asking(1), {})
    print("held", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
