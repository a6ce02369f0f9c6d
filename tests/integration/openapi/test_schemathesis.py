"""Random requests made from the document: nothing fails inside, and every answer is as the document says."""

import copy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode

from core.accounts.keys import ENTROPY_BYTES, digest
from core.accounts.operator import make_operator_key
from core.surfaces.surface import SURFACES
from tests.support.gateway import Running
from tests.support.many_choices import answer
from tests.support.schemas import document
from tests.support.served import served_gateway
from tests.support.upstream import ScriptedUpstream

AnyCase: TypeAlias = Case[Any]

OPERATOR_KEY = make_operator_key(bytes(range(ENTROPY_BYTES)))
OPERATOR_HASH = digest(OPERATOR_KEY)

# What can be said in a schema of the bodies that are accepted is held against the gateway elsewhere; which models there
# are, what they can do and which policies a key has, no schema can say.
UNSAID = "positive_data_acceptance"

CONFIG = schemathesis.Config.from_dict(
    {
        "generation": {"with-security-parameters": False},  # a random key would only ever be refused
        "checks": {UNSAID: {"enabled": False}},
    }
)

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
        upstream = stack.enter_context(ScriptedUpstream(answer))
        folder = tmp_path_factory.mktemp("gateway")
        yield stack.enter_context(served_gateway(folder, upstream.url, {"HEADRACE_OPERATOR_KEY_SHA256": OPERATOR_HASH}))
        assert upstream.refused == []


def described() -> dict[str, Any]:
    """The document as the generator can use it.

    Only one model is known, and there are no rules between fields: together they are more than it can keep to.
    """
    told = copy.deepcopy(document())
    for surface in SURFACES:
        request = told["components"]["schemas"][f"{surface.name}.ChatRequest"]
        request["properties"]["model"] = {"enum": ["lab/small"]}
        del request["allOf"]
    return told


@pytest.fixture(scope="module")
def api() -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(described(), config=CONFIG)


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_answers_to_random_requests(
    running: Running, api: schemathesis.BaseSchema, path: str, method: str, mode: GenerationMode
) -> None:
    most = 12 if path.endswith("/chat/completions") else 1 if path.startswith("/admin/") else 3

    @settings(max_examples=most, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(api[path][method.upper()].as_strategy(generation_mode=mode))
    def check(case: AnyCase) -> None:
        # In capitals, as the library looks for it when it asks whether a key was sent.
        token = OPERATOR_KEY if path.startswith("/admin/") else running.token
        case.call_and_validate(base_url=running.url, headers={"Authorization": f"Bearer {token}"})

    check()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_answers_to_every_request_that_can_be_thought_of(running: Running, tmp_path: Path) -> None:
    document_file = tmp_path / "openapi.json"
    document_file.write_bytes(orjson.dumps(described()))
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", str(document_file), "--url", running.url]
    command += ["--header", f"Authorization: Bearer {running.token}", "--exclude-checks", UNSAID]
    command += ["--max-examples", "100", "--generation-with-security-parameters", "false", "--no-color"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
