"""Both stores for every contract."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.ports import Store
from tests.contracts.backends import Backend, DynamoBackend, SqliteBackend
from tests.support.ministack import Ministack, running_ministack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ministack]:
    with running_ministack(tmp_path_factory.mktemp("ministack")) as server:
        yield server


@pytest.fixture(scope="session")
def dynamodb_client(ministack: Ministack) -> "Iterator[DynamoDBClient]":
    client = ministack.client()
    yield client
    client.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> SqliteBackend:
    return SqliteBackend(tmp_path)


@pytest.fixture
def dynamodb(ministack: Ministack, dynamodb_client: "DynamoDBClient") -> DynamoBackend:
    return DynamoBackend(ministack, dynamodb_client, *ministack.tables(dynamodb_client))


@pytest.fixture(params=["sqlite", "dynamodb"])
def backend(request: pytest.FixtureRequest) -> Backend:
    chosen: Backend = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
async def store(backend: Backend) -> AsyncIterator[Store]:
    made = backend.store()
    yield made
    await made.close()
