"""A real DynamoDB over the wire, on this machine: ministack in a process of its own, and our two tables in it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        AttributeDefinitionTypeDef,
        GlobalSecondaryIndexUnionTypeDef,
        KeySchemaElementTypeDef,
    )

REGION = "eu-central-1"

# How often it is asked whether it is up, and for how long each time until it is asked again.
ASKED = 600
PAUSE_S = 0.1

KEYS: "list[KeySchemaElementTypeDef]" = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]
KEY_ATTRIBUTES: "list[AttributeDefinitionTypeDef]" = [
    {"AttributeName": "pk", "AttributeType": "S"},
    {"AttributeName": "sk", "AttributeType": "S"},
]
LEDGER_ATTRIBUTES: "list[AttributeDefinitionTypeDef]" = [
    *KEY_ATTRIBUTES,
    {"AttributeName": "org_shard", "AttributeType": "S"},
    {"AttributeName": "request_id", "AttributeType": "S"},
    {"AttributeName": "open_shard", "AttributeType": "S"},
    {"AttributeName": "lease_until_ms", "AttributeType": "N"},
]
LEDGER_INDEXES: "list[GlobalSecondaryIndexUnionTypeDef]" = [
    {
        "IndexName": "by_org",
        "KeySchema": [
            {"AttributeName": "org_shard", "KeyType": "HASH"},
            {"AttributeName": "request_id", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    },
    {
        "IndexName": "by_lease",
        "KeySchema": [
            {"AttributeName": "open_shard", "KeyType": "HASH"},
            {"AttributeName": "lease_until_ms", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["created_ms", "settled_ms"]},
    },
]


class Ministack:
    """A running ministack."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.endpoint = f"http://127.0.0.1:{port}"

    def client(self, endpoint: str | None = None, **config: Any) -> "DynamoDBClient":
        """A client for it (or for what stands in front of it); `config` is botocore's."""
        return boto3.Session().client(
            "dynamodb",
            endpoint_url=endpoint or self.endpoint,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(max_pool_connections=16, **config),
        )

    def tables(self, client: "DynamoDBClient") -> tuple[str, str]:
        """Two new tables, for configuration and ledger."""
        name = uuid4().hex[:12]
        create_tables(client, f"config-{name}", f"ledger-{name}")
        return f"config-{name}", f"ledger-{name}"


def create_tables(client: "DynamoDBClient", config_table: str, ledger_table: str) -> None:
    """Make the tables as the template does."""
    client.create_table(
        TableName=config_table,
        KeySchema=KEYS,
        AttributeDefinitions=KEY_ATTRIBUTES,
        BillingMode="PAY_PER_REQUEST",
    )
    client.create_table(
        TableName=ledger_table,
        KeySchema=KEYS,
        AttributeDefinitions=LEDGER_ATTRIBUTES,
        GlobalSecondaryIndexes=LEDGER_INDEXES,
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for table in (config_table, ledger_table):
        client.update_time_to_live(
            TableName=table,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"},
        )


@contextmanager
def running_ministack(folder: Path) -> Iterator[Ministack]:
    """Start it on a free port of 127.0.0.1, keep its files in `folder`, stop it in the end."""
    port = free_port()
    log = folder / "ministack.log"
    environment = os.environ | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",  # it would listen on a fixed port
        "TMPDIR": str(folder),
        "LOG_LEVEL": "WARNING",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "ministack"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
        )
    try:
        _wait_until_up(process, port, log)
        yield Ministack(port)
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait_until_up(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    for _ in range(ASKED):
        with closing(socket.socket()) as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            process.wait(PAUSE_S)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"ministack did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")
