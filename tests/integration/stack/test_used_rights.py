"""What the functions do on AWS, found by letting them do all of it, is what their roles let them do, and no more.

They do it in an emulated account in which the template was deployed: with the settings that it gives them, on the
tables and with the key that it makes.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from core.store.dynamodb import DynamoStore
from core.tenant import Limits, Organisation
from functions.gateway.compose import Gateway
from functions.local.keys import create_key
from functions.rollup.handler import RollupHandler
from functions.settings import read_settings
from functions.sweeper.handler import SweeperHandler
from tests.contracts.values import open_record
from tests.integration.stack.conftest import OPERATOR
from tests.support.answers import chunk, usage_chunk
from tests.support.deployed import Account
from tests.support.recorded_aws import Right, rights
from tests.support.script import Received, Step, reply, stream
from tests.support.stack import Stack, granted
from tests.support.table_stream import to_be_counted
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.xdist_group("deployed")

PLENTY = Limits(day_micros=10**12, minute_requests=10**6, parallel=10**3)
LATER_S = 2**32  # when every lease has passed
CHAT = "/api/v1/inference/chat/completions"
QUESTION = {"role": "user", "content": "Look."}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
CALL = {"index": 0, "id": "up-call", "type": "function", "function": {"name": "look", "arguments": "{}"}}

CATALOG = """
[vendors.lab]
format = "openai"
base_url = "{upstream}/v1"
key_env = "LAB_KEY"
quirks = ["reasoning_back"]

[[models]]
id = "lab/small"
context_tokens = 8192
max_output_tokens = 2048
abilities = {{ tools = true, thinking = "always" }}
[[models.hosts]]
vendor = "lab"
upstream_model = "small"
prices = {{ input = 3, output = 15 }}
"""

# What a statement of a role is about -> what a call that was noted is about.
PLACES = {
    json.dumps({"Fn::GetAtt": ["ConfigTable", "Arn"]}): "config",
    json.dumps({"Fn::GetAtt": ["LedgerTable", "Arn"]}): "ledger",
    json.dumps({"Fn::Sub": "${LedgerTable.Arn}/index/by_org"}): "ledger/index/by_org",
    json.dumps({"Fn::Sub": "${LedgerTable.Arn}/index/by_lease"}): "ledger/index/by_lease",
    json.dumps({"Fn::GetAtt": ["SealingKey", "Arn"]}): "key",
}

# What AWS itself does in a function's name, and no code of ours: the log, the stream that calls the rollup, the queues
# for what failed, the key that encrypts tables.
OF_AWS = ("LogGroup", "StreamArn", "/stream/", "Failures", "EncryptionKeyId")

# The same once more, where the table, the key or the secret is the operator's own.
GIVEN = {"table/${ConfigTableName}": "config", "key/${SealingKeyId}": "key", "secret:${ProviderSecretName}": "secret"}


def script(received: Received) -> Sequence[Step]:
    match received.json.get("user"):
        case "fails":
            return reply({"error": {"message": "busy"}}, 503)
        case "calls":
            thought, call = chunk({"reasoning_content": "Hm."}), chunk({"tool_calls": [CALL]})
            return stream(thought, call, chunk({}, "tool_calls"), usage_chunk())
        case _:
            return stream(chunk({"content": "Seen."}), chunk({}, "stop"), usage_chunk())


@asynccontextmanager
async def a_gateway(account: Account, upstream: ScriptedUpstream, token: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway that has just started."""
    own_catalog = (("test.toml", CATALOG.format(upstream=upstream.url)),)
    variables = account.deployed.variables["GatewayFunction"]
    gateway = Gateway(read_settings(variables), variables, own_catalog=own_catalog)
    await gateway.connect()
    transport = httpx.ASGITransport(gateway.app)
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as client:
        yield client
    await gateway.close()


async def ask(
    client: httpx.AsyncClient, *more: Any, status: int = 200, named: str | None = None, **members: Any
) -> Any:
    headers = {} if named is None else {"idempotency-key": named}
    body = {"model": "lab/small", "messages": [QUESTION, *more], "tools": [TOOL], **members}
    answer = await client.post(CHAT, json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer


async def call(client: httpx.AsyncClient) -> list[Any]:
    """The rest of the history after a tool call, as a client keeps it who does not know of thinking."""
    message = (await ask(client, user="calls")).json()["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "Nothing."}
    return [{"role": "assistant", "tool_calls": message["tool_calls"]}, result]


async def callers_do_everything(account: Account, upstream: ScriptedUpstream, token: str) -> None:
    async with a_gateway(account, upstream, token) as client:
        for path in ("/readyz", "/v1/models", "/v1/usage", "/v1/credits"):
            assert (await client.get(path)).status_code == 200
        # The first answer that is kept has the client of KMS made, which a busy machine may take too long for.
        await ask(client, named="warm")
        request_id = (await ask(client, named="one")).json()["routing"]["request_id"]
        await ask(client, stream=True)
        history = await call(client)
        for score in (0.5, 1):
            rated = await client.post(f"/v1/routing-decisions/{request_id}/feedback", json={"score": score})
            assert rated.status_code == 200, rated.text
        for path in ("/v1/routing-decisions", f"/v1/routing-decisions/{request_id}"):
            assert (await client.get(path)).status_code == 200
        assert (await client.post("/v1/route", json={"model": "auto", "messages": [QUESTION]})).status_code == 200
        await ask(client, user="fails", status=502)
    # Another process opens what the first one sealed.
    async with a_gateway(account, upstream, token) as client:
        await ask(client, named="one")
        await ask(client, *history)


OPERATORS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/organisations", None),
    ("POST", "/organisations", {"id": "acme"}),
    ("PATCH", "/organisations/acme", {"name": "Acme"}),
    ("POST", "/organisations/acme/payments", {"id": "one", "micros": 5}),
    ("POST", "/organisations/acme/payments", {"id": "one", "micros": 5}),
    ("PUT", "/plans/big", {"name": "Big"}),
    ("GET", "/plans", None),
    ("DELETE", "/plans/big", None),
    ("POST", "/organisations/acme/keys", {"name": "a key"}),
    ("GET", "/organisations/acme/keys", None),
    ("PUT", "/organisations/acme/policies/cheap", {"optimize": "cost"}),
    ("DELETE", "/organisations/acme/policies/cheap", None),
    ("PUT", "/organisations/acme/own-keys/lab", {"key": "sk-own-0123456789"}),
    ("DELETE", "/organisations/acme/own-keys/lab", None),
    ("PUT", "/organisations/acme/catalog", {"toml": "models = []"}),
    ("DELETE", "/organisations/acme/catalog", None),
    ("DELETE", "/organisations/acme", None),
)


async def the_operator_does_everything(account: Account, upstream: ScriptedUpstream) -> None:
    async with a_gateway(account, upstream, OPERATOR) as client:
        made: list[str] = []
        for method, path, body in OPERATORS:
            answer = await client.request(method, f"/admin/v1{path}", json=body)
            assert answer.status_code == 200, (path, answer.text)
            if path.endswith("/keys") and method == "POST":
                made.append(answer.json()["id"])
                place = f"/admin/v1{path}/{made[0]}"
                for verb in ("rotate", "revoke"):
                    assert (await client.post(f"{place}/{verb}")).status_code == 200
                assert (await client.delete(place)).status_code == 200


async def with_a_key(account: Account) -> str:
    """A caller's key under limits of its own and of its organisation."""
    store = account.store()
    await store.save_organisation(Organisation("default", "Default", 0, limits=PLENTY))
    token, key = await create_key(store, "default", "tests")
    await store.save_key(replace(key, limits=PLENTY))
    await store.close()
    return token


def allowed(stack: Stack, role: str) -> set[Right]:
    """What a role lets the code do, in words of `PLACES`."""
    found = set()
    for resource, actions in granted(stack.of_type("AWS::IAM::Role")[role]).items():
        if any(word in resource for word in OF_AWS):
            continue
        place = PLACES.get(resource) or next(place for name, place in GIVEN.items() if name in resource)
        found |= {(action, place) for action in actions}
    return found


async def test_the_gateway_may_do_what_it_does(account: Account, stack: Stack) -> None:
    token = await with_a_key(account)
    async with ScriptedUpstream(script) as upstream:
        await callers_do_everything(account, upstream, token)
        by_callers = account.used()
        await the_operator_does_everything(account, upstream)
    assert by_callers | account.used() == allowed(stack, "GatewayRole")
    # What is given only where there is an operator, callers do not need.
    assert not by_callers & {(action, "config") for action in ("dynamodb:PutItem", "dynamodb:DeleteItem")}


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def tables_of(account: Account, function: str) -> tuple[str, str]:
    settings = read_settings(account.deployed.variables[function])
    return settings.config_table or "", settings.ledger_table or ""


async def test_the_functions_behind_it_may_do_what_they_do(account: Account, stack: Stack) -> None:
    token = await with_a_key(account)
    async with ScriptedUpstream(script) as upstream, a_gateway(account, upstream, token) as client:
        await ask(client)
    store = account.store()
    # Of a process that died with it.
    await store.open(replace(open_record(1), org="default"))
    changes = to_be_counted(account.cloud.server, account.deployed.tables[1])
    account.used()

    rollup = RollupHandler(lambda: DynamoStore(*tables_of(account, "RollupFunction")))
    assert await asyncio.to_thread(rollup, {"Records": changes[:1]}, None) == {"batchItemFailures": []}
    assert account.used() == allowed(stack, "RollupRole")

    sweeper = SweeperHandler(lambda: DynamoStore(*tables_of(account, "SweeperFunction")), now=lambda: LATER_S)
    assert (await asyncio.to_thread(sweeper, {}, Context()))["settled"] == 1
    assert account.used() == allowed(stack, "SweeperRole")
    await store.close()


@pytest.mark.parametrize(
    ("target", "body", "needed"),
    [
        ("DynamoDB_20120810.GetItem", {"TableName": "t"}, [("dynamodb:GetItem", "t")]),
        ("DynamoDB_20120810.Query", {"TableName": "t", "IndexName": "i"}, [("dynamodb:Query", "t/index/i")]),
        ("DynamoDB_20120810.BatchGetItem", {"RequestItems": {"t": {}}}, [("dynamodb:BatchGetItem", "t")]),
        (
            "DynamoDB_20120810.TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "t"}}, {"ConditionCheck": {"TableName": "u"}}]},
            [("dynamodb:PutItem", "t"), ("dynamodb:ConditionCheckItem", "u")],
        ),
        ("TrentService.Decrypt", {"CiphertextBlob": "x"}, [("kms:Decrypt", "")]),
    ],
)
def test_a_call_needs_the_rights_that_aws_asks_for(target: str, body: dict[str, Any], needed: list[Right]) -> None:
    assert [*rights(target, body)] == needed
