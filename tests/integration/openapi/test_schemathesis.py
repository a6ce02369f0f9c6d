"""Random requests made from the document: nothing fails inside, and every answer is as the document says."""

import copy
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode

from core.surfaces.surface import SURFACES
from tests.support.answers import HELLO
from tests.support.gateway import Running
from tests.support.schemas import document
from tests.support.served import served_gateway
from tests.support.upstream import ScriptedUpstream

CONFIG = schemathesis.Config.from_dict(
    {
        # A random key would only ever be refused.
        "generation": {"with-security-parameters": False},
        # A schema cannot know which models there are, what they can do and which policies a key has; what it can say
        # about a body is held against the gateway elsewhere.
        "checks": {"positive_data_acceptance": {"enabled": False}},
    }
)
AnyCase: TypeAlias = Case[Any]
ALL_OF_IT = schemathesis.pytest.from_fixture("described")

OPERATIONS = [
    pytest.param(path, method, mode, id=f"{operation['operationId']}-{mode.value}")
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
    for mode in GenerationMode
    # Nothing else can be wrong: a path has any text in it.
    if mode is GenerationMode.POSITIVE or "requestBody" in operation or "query" in str(operation.get("parameters"))
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedUpstream(HELLO))
        yield stack.enter_context(served_gateway(tmp_path_factory.mktemp("gateway"), upstream.url))
        assert upstream.refused == []


@pytest.fixture(scope="module")
def described() -> schemathesis.BaseSchema:
    """The document without the rules between fields: together they are more than the generator can keep to."""
    told = copy.deepcopy(document())
    for surface in SURFACES:
        del told["components"]["schemas"][f"{surface.name}.ChatRequest"]["allOf"]
    return schemathesis.openapi.from_dict(told, config=CONFIG)


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_answers_to_random_requests(
    running: Running, described: schemathesis.BaseSchema, path: str, method: str, mode: GenerationMode
) -> None:
    operation = described[path][method.upper()]
    most = 30 if path.endswith("/chat/completions") else 10

    @settings(max_examples=most, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def check(case: AnyCase) -> None:
        ask(case, running)

    check()


@pytest.mark.slow
@pytest.mark.timeout(3600)
@ALL_OF_IT.parametrize()
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
def test_answers_to_every_request_that_can_be_thought_of(case: AnyCase, running: Running) -> None:
    ask(case, running)


def ask(case: AnyCase, running: Running) -> None:
    if isinstance(case.body, dict) and isinstance(name := case.body.get("model"), str) and 0 < len(name) <= 256:
        case.body["model"] = "lab/small"
    # In capitals, as the library looks for it when it asks whether a key was sent.
    case.call_and_validate(base_url=running.url, headers={"Authorization": f"Bearer {running.token}"})
