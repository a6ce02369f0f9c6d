"""The stack, transformed once for all tests of it, and deployed once in an emulated account."""

import json
from collections.abc import Iterator

import pytest

from core.accounts.keys import ENTROPY_BYTES, digest
from core.accounts.operator import make_operator_key
from tests.support.deployed import SECRET, Account, Cloud, Deployed
from tests.support.ministack import REGION, running_ministack
from tests.support.recorded_aws import recorded_aws
from tests.support.stack import Stack, Transformed, transformed

OPERATOR = make_operator_key(bytes(range(ENTROPY_BYTES)))
NARROW = {"AllowedCidrs": "192.0.2.0/24,2001:db8::/32", "Deployment": "AllAtOnce"}


@pytest.fixture(scope="session")
def stacks() -> Transformed:
    return transformed({}, NARROW)


@pytest.fixture(scope="session")
def source(stacks: Transformed) -> Stack:
    """The template as it is written."""
    return stacks.source


@pytest.fixture(scope="session")
def stack(stacks: Transformed) -> Stack:
    """What AWS makes of it."""
    return stacks.stacks[0]


@pytest.fixture(scope="session")
def narrow(stacks: Transformed) -> Stack:
    """What AWS makes of it for a few callers, and without care."""
    return stacks.stacks[1]


@pytest.fixture(scope="session")
def watch(stacks: Transformed) -> Stack:
    return stacks.others["infra/watch.yaml"]


@pytest.fixture(scope="session")
def edge(stacks: Transformed) -> Stack:
    return stacks.others["infra/edge.yaml"]


@pytest.fixture(scope="session")
def data(stacks: Transformed) -> Stack:
    return stacks.others["infra/data.yaml"]


@pytest.fixture(scope="session")
def cloud(stacks: Transformed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with running_ministack(tmp_path_factory.mktemp("ministack")) as server:
        yield Cloud(server, stacks)


@pytest.fixture(scope="session")
def deployed(cloud: Cloud, stack: Stack) -> Deployed:
    """With what every deployment has: the providers' keys, and an operator."""
    secrets = cloud.client("secretsmanager")
    secrets.create_secret(Name=SECRET, SecretString=json.dumps({"LAB_KEY": "sk-lab"}))
    secrets.close()
    given = {"ProviderSecretName": SECRET, "OperatorKeyHash": digest(OPERATOR), "LogLevel": "ERROR"}
    return cloud.deploy(stack, "headrace", **given)


@pytest.fixture
def account(cloud: Cloud, deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """Where whatever boto3 makes a client for is noted."""
    with recorded_aws(cloud.server.port) as aws:
        for name, value in {
            "AWS_ENDPOINT_URL": aws.endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
        }.items():
            monkeypatch.setenv(name, value)
        yield Account(cloud, aws, deployed)
