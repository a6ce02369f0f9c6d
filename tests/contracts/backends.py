"""The two stores as the contracts meet them: a place that keeps things, and any number of stores that use it."""

import asyncio
import sqlite3
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from core.ports import Store
from core.store.dynamodb import DynamoStore
from core.store.dynamodb_limits import Pause, no_pause
from core.store.sqlite import SqliteStore
from functions.rollup.handler import RollupHandler
from tests.support.ministack import Ministack, free_port
from tests.support.table_stream import to_be_counted

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Plain = dict[str, Any]


class Backend(Protocol):
    """A place, empty at first."""

    def store(self, retention_days: int = 90) -> Store:
        """A store that uses it, as another process would."""
        ...

    def away(self) -> Store:
        """A store of the same kind that cannot reach anything."""
        ...

    async def count(self) -> None:
        """Let what counts settled records behind the store's back do it now."""
        ...

    def plant_record(self, item: Plain) -> None:
        """Put a record's plain item there, as version 1 laid it out."""
        ...

    def plant_key(self, item: Plain) -> None: ...

    def plant_organisation(self, item: Plain) -> None: ...

    def plant_tool_turn(self, org: str, call_id: str, expires_ms: int, item: Plain) -> None: ...

    def entries_with(self, text: str) -> list[str]:
        """Every entry there in which that text stands, packed or not, as something that can be read."""
        ...


# As the first released version made it; never edited.
SQLITE_1 = """
CREATE TABLE record (n INTEGER PRIMARY KEY, org TEXT NOT NULL, request_id TEXT NOT NULL,
    lease_until_ms INTEGER NOT NULL, settled INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
    item TEXT NOT NULL, UNIQUE (org, request_id));
CREATE INDEX record_open ON record (lease_until_ms) WHERE settled = 0;
CREATE TABLE api_key (digest TEXT PRIMARY KEY, org TEXT NOT NULL, created_ms INTEGER NOT NULL,
    id TEXT NOT NULL, item TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX api_key_of_org ON api_key (org, created_ms, id);
CREATE TABLE organisation (id TEXT PRIMARY KEY, item TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tool_turn (org TEXT NOT NULL, call_id TEXT NOT NULL, expires_ms INTEGER NOT NULL,
    item TEXT NOT NULL, PRIMARY KEY (org, call_id));
CREATE INDEX tool_turn_expiry ON tool_turn (expires_ms);
PRAGMA user_version = 1;
"""
NEVER_MS = 2**45


@dataclass(frozen=True, slots=True)
class SqliteBackend:
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "headrace.db"

    def store(self, retention_days: int = 90) -> SqliteStore:
        # Machines that test are busy: a write may wait long for another store.
        return SqliteStore(self.path, busy_ms=20_000, retention_days=retention_days)

    def away(self) -> SqliteStore:
        blocked = self.folder / "a-file"
        blocked.touch()
        return SqliteStore(blocked / "headrace.db")

    async def count(self) -> None:
        pass  # it is done with the settle

    def plant_record(self, item: Plain) -> None:
        settled = "settled_ms" in item
        place = (item["org"], item["request_id"], item["lease_until_ms"], settled, NEVER_MS)
        columns = "org, request_id, lease_until_ms, settled, expires_ms, item"
        self._insert(f"record ({columns}) VALUES (?, ?, ?, ?, ?, ?)", *place, _json(item))

    def plant_key(self, item: Plain) -> None:
        place = (item["digest"], item["org"], item["created_ms"], item["id"])
        self._insert("api_key VALUES (?, ?, ?, ?, ?)", *place, _json(item))

    def plant_organisation(self, item: Plain) -> None:
        self._insert("organisation VALUES (?, ?)", item["id"], _json(item))

    def plant_tool_turn(self, org: str, call_id: str, expires_ms: int, item: Plain) -> None:
        self._insert("tool_turn VALUES (?, ?, ?, ?)", org, call_id, expires_ms, _json(item))

    def entries_with(self, text: str) -> list[str]:
        connection = sqlite3.connect(self.path)
        found = [line for line in connection.iterdump() if text in line]
        connection.close()
        return found

    def _insert(self, what: str, *values: object) -> None:
        new = not self.path.exists()
        connection = sqlite3.connect(self.path)
        if new:
            connection.executescript(SQLITE_1)
        with connection:
            connection.execute(f"INSERT INTO {what}", values)
        connection.close()


@dataclass(frozen=True, slots=True)
class DynamoBackend:
    server: Ministack
    client: "DynamoDBClient"
    config_table: str
    ledger_table: str

    def store(
        self,
        retention_days: int = 90,
        client: "Callable[[], DynamoDBClient] | None" = None,
        pause: Pause = no_pause,
    ) -> DynamoStore:
        return DynamoStore(
            self.config_table,
            self.ledger_table,
            client=client or (lambda: self.client),
            retention_days=retention_days,
            pause=pause,
        )

    def away(self) -> DynamoStore:
        nobody = f"http://127.0.0.1:{free_port()}"
        once = {"total_max_attempts": 1}
        return self.store(client=lambda: self.server.client(nobody, retries=once))

    async def count(self) -> None:
        changes = to_be_counted(self.server, self.ledger_table)
        answer = await asyncio.to_thread(RollupHandler(self.store), {"Records": changes}, None)
        assert answer == {"batchItemFailures": []}

    def plant_record(self, item: Plain) -> None:
        shards = {"open_shard": {"S": "OPEN#0"}}
        if "settled_ms" in item:
            shards = {"settled_ms": {"N": str(item["settled_ms"])}}
        self._put(
            self.ledger_table,
            pk={"S": f"REQ#{item['request_id']}"},
            sk={"S": f"ORG#{item['org']}"},
            org_shard={"S": f"ORG#{item['org']}#0"},
            request_id={"S": item["request_id"]},
            lease_until_ms={"N": str(item["lease_until_ms"])},
            expires_at={"N": str(NEVER_MS // 1000)},
            item={"S": _json(item)},
            **shards,
        )

    def plant_key(self, item: Plain) -> None:
        name = f"KEY#{item['digest']}"
        self._put(self.config_table, pk={"S": name}, sk={"S": "KEY"}, item={"S": _json(item)})
        pointer = {"S": f"ORG#{item['org']}"}
        self._put(self.config_table, pk=pointer, sk={"S": name}, to={"S": "KEY"})

    def plant_organisation(self, item: Plain) -> None:
        name = f"ORG#{item['id']}"
        self._put(self.config_table, pk={"S": name}, sk={"S": "ORG"}, item={"S": _json(item)})
        self._put(self.config_table, pk={"S": "ORGS"}, sk={"S": name}, to={"S": "ORG"})

    def plant_tool_turn(self, org: str, call_id: str, expires_ms: int, item: Plain) -> None:
        self._put(
            self.ledger_table,
            pk={"S": f"TOOL#{org}#{call_id}"},
            sk={"S": f"ORG#{org}"},
            call_id={"S": call_id},
            expires_ms={"N": str(expires_ms)},
            expires_at={"N": str(expires_ms // 1000)},
            item={"S": _json(item)},
        )

    def entries_with(self, text: str) -> list[str]:
        found = []
        for table in (self.config_table, self.ledger_table):
            for page in self.client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
                for item in page["Items"]:
                    packed = item.get("item", {})
                    told = f"{item} {zlib.decompress(packed['B']) if 'B' in packed else b''!r}"
                    if text in told:
                        found.append(told)
        return found

    def _put(self, table: str, **item: Any) -> None:
        self.client.put_item(TableName=table, Item=item)


def _json(item: Plain) -> str:
    return orjson.dumps(item).decode()
