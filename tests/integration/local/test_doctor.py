"""The doctor looks at real things: files, tables, vendors, a running gateway, and one behind a proxy that buffers."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.exceptions import ClientError

from core.ports import Store
from core.sealing.local import LocalSealer
from functions.gateway.compose import open_store
from functions.local.doctor.deployment import check_address, check_key
from functions.local.doctor.examine import examine_deployment, examine_installation
from functions.local.doctor.finding import Finding, Level
from functions.local.doctor.sealing import check_sealing
from functions.local.doctor.store import check_sqlite
from functions.local.doctor.stream import check_stream
from functions.local.doctor.tables import CONFIG, LEDGER, check_table
from functions.local.keys import create_key
from functions.local.main import main
from functions.settings import Settings, read_settings
from tests.support.answers import HELLO, chunk, usage_chunk
from tests.support.away import AwayStore
from tests.support.buffering_proxy import buffering_proxy
from tests.support.clock import ManualClock
from tests.support.gateway import running_gateway
from tests.support.ministack import (
    KEY_ATTRIBUTES,
    KEYS,
    LEDGER_INDEXES,
    REGION,
    Ministack,
    create_tables,
    running_ministack,
)
from tests.support.script import Head, Never, Received, Script, Send, Wait, reply, stream
from tests.support.script import Step as ScriptStep
from tests.support.upstream import ScriptedUpstream, refusing

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEY = "sk-c4nary-0123456789"
CATALOG = """
[vendors.lab]
format = "openai"
base_url = "{upstream}/v1"
key_env = "LAB_KEY"

[[models]]
id = "lab/small"
context_tokens = 8192
max_output_tokens = 2048
hosts = [{{ vendor = "lab", upstream_model = "small-upstream", prices = {{ input = 3, output = 15 }} }}]
"""


def told(found: Sequence[Finding]) -> dict[str, list[str]]:
    """How good each thing is, the worst last."""
    seen: dict[str, list[str]] = {}
    for each in found:
        assert each.level is Level.OK or each.do
        assert KEY not in repr(each)
        seen.setdefault(each.about, []).append(each.level.value)
    return seen


async def all_of(steps: Any) -> list[Finding]:
    return [each async for step in steps for each in step.found]


# ---- what lies on this machine


def here(folder: Path, **members: Any) -> Settings:
    return read_settings({"HEADRACE_SQLITE_PATH": str(folder / "headrace.db"), **members})


async def looked_at(settings: Settings) -> Sequence[Finding]:
    store = open_store(settings)
    try:
        return await check_sqlite(settings, store)
    finally:
        await store.close()


async def test_a_database(tmp_path: Path) -> None:
    settings = here(tmp_path)
    assert told(await looked_at(settings)) == {"store": ["ok"]}
    assert not settings.sqlite_path.exists(), "looking makes nothing"
    store = open_store(settings)
    await create_key(store, "default", "tests")
    await store.close()
    (found,) = await looked_at(settings)
    assert (found.level, found.says.endswith(", 1 organisation")) == (Level.OK, True)
    settings.sqlite_path.chmod(0o644)
    assert told(await looked_at(settings)) == {"store": ["ok", "warn"]}


async def test_a_database_that_is_damaged(tmp_path: Path) -> None:
    settings = here(tmp_path)
    settings.sqlite_path.write_text("no database at all, but a text of some length" * 50)
    found = await looked_at(settings)
    assert told(found) == {"store": ["fail"]}
    settings.sqlite_path.unlink()
    store = open_store(settings)
    await create_key(store, "default", "tests")
    await store.close()
    with closing(sqlite3.connect(settings.sqlite_path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'api_key_of_org'")
        connection.commit()
    assert told(await looked_at(settings)) == {"store": ["fail"]}


async def test_a_place_where_nothing_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = here(tmp_path / "file")
    found = await looked_at(settings)
    assert told(found) == {"store": ["fail"]}


async def test_sealing(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    assert told(await check_sealing(None, None)) == {"sealing": ["warn"]}
    sealer = LocalSealer(path)
    assert told(await check_sealing(sealer, path)) == {"sealing": ["ok"]}
    assert not path.exists()
    path.write_text("A" * 43 + "=\n")
    path.chmod(0o644)
    assert told(await check_sealing(sealer, path)) == {"sealing": ["ok", "warn"]}
    path.write_text("no key\n")
    assert told(await check_sealing(LocalSealer(path), path)) == {"sealing": ["fail"]}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code of the command, and what it printed."""
    code = 0
    try:
        main(["doctor", *arguments])
    except SystemExit as ending:
        code = int(ending.code or 0)
    return code, capsys.readouterr().out


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    code, table = run(capsys)
    lines = [line.split()[:2] for line in table.splitlines()[1:] if not line.startswith(" ")]
    assert (code, {about: level for level, about in lines}["settings"]) == (0, "ok")
    assert {level for level, _ in lines} <= {"ok", "warn"}
    monkeypatch.setenv("HEADRACE_RECORD_DAYS", "0")
    code, printed = run(capsys, "--json")
    read = json.loads(printed)
    assert (code, read["ok"], [each["level"] for each in read["findings"]]) == (1, False, ["ok", "fail"])
    assert read["findings"][0]["says"] == f"version {version('headrace')}"
    assert read["findings"][0].keys() == {"about", "level", "says", "do"}
    assert run(capsys, "--key", "hr_x") == (1, "")
    assert run(capsys, "--url", "gateway.example") == (1, "")
    with refusing() as nowhere:
        code, table = run(capsys, "--url", nowhere)
    assert (code, "cannot be reached" in table) == (1, True)


async def test_an_installation(tmp_path: Path) -> None:
    async with ScriptedUpstream(reply({"data": []}), api_key=KEY, checks=False) as upstream:
        (tmp_path / "mine.toml").write_text(CATALOG.format(upstream=upstream.url))
        variables = {
            "HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db"),
            "HEADRACE_CATALOG": str(tmp_path / "mine.toml"),
            "LAB_KEY": KEY,
        }
        found = await all_of(examine_installation(variables))
        assert told(found) == {
            "settings": ["ok"],
            "store": ["ok"],
            "sealing": ["ok"],
            "catalog": ["ok"],
            "vendor lab": ["ok"],
        }
        (asked,) = upstream.received
        assert (asked.method, asked.path, asked.headers["authorization"]) == ("GET", "/v1/models", f"Bearer {KEY}")
        wrong = {**variables, "HEADRACE_TRACES": "otlp", "HEADRACE_TRACES_ENDPOINT": f"{upstream.url}/v1/traces"}
        assert told(await all_of(examine_installation(wrong)))["traces"] == ["ok"]
    found = await all_of(examine_installation(wrong))
    assert (told(found)["vendor lab"], told(found)["traces"]) == (["fail"], ["fail"])
    assert told(await all_of(examine_installation({"HEADRACE_STORE": "paper"}))) == {"settings": ["fail"]}
    (tmp_path / "mine.toml").write_text("models = 1")
    assert told(await all_of(examine_installation(variables)))["catalog"] == ["fail"]


async def test_a_clock_that_vendors_do_not_share(tmp_path: Path) -> None:
    skewed = reply({"data": []}, headers={"date": "Tue, 01 Dec 2020 10:00:00 GMT"})
    async with ScriptedUpstream(skewed, checks=False) as upstream:
        (tmp_path / "mine.toml").write_text(CATALOG.format(upstream=upstream.url))
        variables = {
            "HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db"),
            "HEADRACE_CATALOG": str(tmp_path / "mine.toml"),
            "LAB_KEY": KEY,
        }
        assert told(await all_of(examine_installation(variables)))["clock"] == ["fail"]


# ---- tables


@pytest.fixture(scope="module")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ministack]:
    with running_ministack(tmp_path_factory.mktemp("ministack")) as server:
        yield server


@pytest.fixture(scope="module")
def client(ministack: Ministack) -> "Iterator[DynamoDBClient]":
    client = ministack.client()
    create_tables(client, "config", "ledger")
    for table in ("config", "ledger"):
        client.update_continuous_backups(
            TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
    yield client
    client.close()


class Forbidding:
    """A client whose role lacks some actions."""

    def __init__(self, client: "DynamoDBClient", *actions: str) -> None:
        self._client = client
        self._actions = actions

    def __getattr__(self, name: str) -> Any:
        action = "".join(word.capitalize() for word in name.split("_"))
        if action not in self._actions:
            return getattr(self._client, name)

        def forbidden(**members: Any) -> Any:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not authorized"}}, action)

        return forbidden


def only_protection(found: Sequence[Finding]) -> bool:
    """Whether nothing is wrong but what the emulator cannot do."""
    return [each.says for each in found if each.level is not Level.OK] in ([], ["nothing keeps it from being deleted"])


def test_the_expected_shape_is_the_one_that_the_stack_makes() -> None:
    made = {index["IndexName"]: tuple(key["AttributeName"] for key in index["KeySchema"]) for index in LEDGER_INDEXES}
    assert made == LEDGER.indexes
    assert CONFIG.indexes == {}


def test_tables_as_the_stack_makes_them(client: "DynamoDBClient") -> None:
    for name, shape in (("config", CONFIG), ("ledger", LEDGER)):
        before = client.scan(TableName=name)["Items"]
        found, _ = check_table(client, name, shape)
        assert only_protection(found), found
        assert client.scan(TableName=name)["Items"] == before == []


def test_tables_that_are_missing_or_otherwise(client: "DynamoDBClient") -> None:
    client.create_table(
        TableName="bare",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=KEY_ATTRIBUTES[:1],
        BillingMode="PAY_PER_REQUEST",
    )
    client.create_table(
        TableName="half", KeySchema=KEYS, AttributeDefinitions=KEY_ATTRIBUTES, BillingMode="PAY_PER_REQUEST"
    )
    found, date = check_table(client, "nowhere", LEDGER)
    assert (told(found), date) == ({"table nowhere": ["fail"]}, None)
    assert "no such table" in found[0].says
    said = {each.says for each in check_table(client, "bare", CONFIG)[0]}
    assert "its key is pk and not pk, sk" in said
    said = {each.says for each in check_table(client, "half", LEDGER)[0]}
    assert {"it has no index by_org", "it has no index by_lease"} <= said
    assert {"what is over its time is never deleted", "it cannot be restored to a point in time"} <= said
    assert any("no stream" in each for each in said)


@pytest.mark.parametrize(
    "action",
    [
        *("DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups", "GetItem", "BatchGetItem", "Query"),
        *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"),
    ],
)
def test_a_permission_that_is_missing_is_named(client: "DynamoDBClient", action: str) -> None:
    forbidding: Any = Forbidding(client, action)
    found, _ = check_table(forbidding, "ledger", LEDGER)
    named = [each for each in found if each.says == f"dynamodb:{action} is not allowed"]
    assert len(named) == 1
    assert f"Allow dynamodb:{action}" in (named[0].do or "")
    lives_without = action in ("DescribeTimeToLive", "DescribeContinuousBackups")
    assert named[0].level is (Level.WARN if lives_without else Level.FAIL)


async def test_an_installation_on_aws(ministack: Ministack, client: "DynamoDBClient", monkeypatch: Any) -> None:
    assert client
    for name, value in {
        "AWS_ENDPOINT_URL": ministack.endpoint,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    variables = {"HEADRACE_STORE": "dynamodb", "HEADRACE_CONFIG_TABLE": "config", "HEADRACE_LEDGER_TABLE": "nowhere"}
    seen = told(await all_of(examine_installation(variables)))
    assert (seen["table nowhere"], seen["sealing"]) == (["fail"], ["warn"])
    assert seen["table config"] in (["ok"], ["warn"])
    secret = {**variables, "HEADRACE_PROVIDER_SECRET": "none-of-that-name"}
    assert told(await all_of(examine_installation(secret)))["provider keys"] == ["fail"]


async def test_an_installation_on_aws_without_a_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    variables = {"HEADRACE_STORE": "dynamodb", "HEADRACE_CONFIG_TABLE": "config", "HEADRACE_LEDGER_TABLE": "ledger"}
    found = await all_of(examine_installation(variables))
    assert told(found)["store"] == ["fail"]
    assert [each.do for each in found if each.about == "store"] == ["Set AWS_REGION."]


# ---- a gateway from outside


def slowly(received: Received) -> Sequence[ScriptStep]:
    """An answer whose second half waits."""
    send = [chunk({"content": "one"}), chunk({"content": " two"}), chunk({}, "stop"), usage_chunk()]
    first, *rest = [Send(f"data: {json.dumps(each)}\n\n".encode()) for each in send]
    head = Head(200, {"content-type": "text/event-stream"})
    return [head, first, Wait("rest"), *rest, Send(b"data: [DONE]\n\n")]


async def streamed(folder: Path, script: Script, *, is_buffered: bool) -> Finding:
    """What is said of a stream that took two seconds."""
    time, calls, begun = ManualClock(), list[float](), asyncio.Event()

    def clock() -> float:
        calls.append(time.monotonic())
        if len(calls) == 2:  # the first was when it was sent
            begun.set()
        return calls[-1]

    async with (
        ScriptedUpstream(script) as upstream,
        running_gateway(folder, upstream.url, clock=time) as running,
        buffering_proxy(running.url) as proxy,
    ):
        url = proxy.url if is_buffered else running.url
        headers = {"authorization": f"Bearer {running.token}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=10) as client:
            asking = asyncio.ensure_future(check_stream(client, "lab/small", clock))
            await (proxy.begun if is_buffered else begun).wait()
            await time.advance(2)
            upstream.barrier("rest").released.set()
            (finding,) = await asking
    return finding


async def test_a_gateway_that_streams_and_one_behind_a_proxy_that_buffers(tmp_path: Path) -> None:
    direct = await streamed(tmp_path, slowly, is_buffered=False)
    assert (direct.level, direct.says) == (
        Level.OK,
        "lab/small: first event after 0.00 s, last byte after 2.00 s",
    )
    (tmp_path / "headrace.db").unlink()
    buffered = await streamed(tmp_path, slowly, is_buffered=True)
    assert (buffered.level, "at once, though it was 2.00 s in the making" in buffered.says) == (Level.FAIL, True)


async def test_streams_that_fail(tmp_path: Path) -> None:
    cut = stream(chunk({"content": "one"}), done=False)
    async with (
        ScriptedUpstream(cut, [Head(401), Send(b"{}")]) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
    ):
        for says in ("it failed: ", "refused (502): ", "refused (404): "):
            (finding,) = await check_stream(client, "none" if "404" in says else "lab/small")
            assert (finding.level, finding.says.startswith(says)) == (Level.FAIL, True), finding
    with refusing() as nowhere:
        async with httpx.AsyncClient(base_url=nowhere) as client:
            (finding,) = await check_stream(client, "auto")
    assert "the connection broke" in finding.says


async def test_a_deployment(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        found = await all_of(examine_deployment(f"{running.url}/v1/", running.token, "lab/small"))
        # The answer of a script is there too soon to tell whether it was kept back.
        expected = {"address": ["ok"], "store": ["ok"], "clock": ["ok"], "key": ["ok"], "streaming": ["warn"]}
        assert told(found) == expected
        found = await all_of(examine_deployment(running.url, None, "auto"))
        assert told(found) == {"address": ["ok"], "store": ["ok"], "clock": ["ok"]}
        found = await all_of(examine_deployment(running.url, "hr_unknown", "auto"))
        assert (told(found)["key"], "streaming" in told(found)) == (["fail"], False)


async def test_a_deployment_that_is_not_there_or_not_ready(tmp_path: Path) -> None:
    stores: list[AwayStore] = []

    def away(store: Store) -> Any:
        stores.append(AwayStore(store))
        return stores[0]

    with refusing() as nowhere:
        assert told(await all_of(examine_deployment(nowhere, "hr_x", "auto"))) == {"address": ["fail"]}
        async with running_gateway(tmp_path, nowhere, replace_store=away) as running, running.client() as client:
            stores[0].away |= {"ping", "workspace"}
            is_there, found = await check_address(client)
            assert (is_there, told(found)) == (True, {"address": ["ok"], "store": ["fail"], "clock": ["ok"]})
            is_taken, found = await check_key(client)
            assert (is_taken, told(found)) == (False, {"key": ["fail"]})
    others = reply({"hello": "from something else"}, headers={"date": "Tue, 01 Dec 2020 10:00:00 GMT"})
    async with ScriptedUpstream(others, checks=False) as other:
        assert told(await all_of(examine_deployment(other.url, "hr_x", "auto"))) == {"address": ["fail"]}
    mute = reply({"status": "ok"}, headers={"date": "Tue, 01 Dec 2020 10:00:00 GMT"})
    async with ScriptedUpstream(mute, [Never()], checks=False) as other:
        async with httpx.AsyncClient(base_url=other.url, timeout=0.2) as client:
            assert told((await check_address(client))[1]) == {"address": ["fail"]}
    async with ScriptedUpstream(mute, checks=False) as other:
        async with httpx.AsyncClient(base_url=other.url) as client:
            found = (await check_address(client))[1]
    assert told(found) == {"address": ["ok", "warn"], "store": ["ok"], "clock": ["fail"]}
