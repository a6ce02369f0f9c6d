"""What a cold start imports, among the packages that are deployed: which modules, since times vary with the machine.

`python -m bench.cold_start` measures what they cost.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from infra.scripts.locate import UV, locate
from infra.scripts.stage import export_requirements
from tests.support.lambda_child import ROOT

STARTED = """
import asyncio, json, sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

absent = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Absent)
import functions.gateway.streaming.process
from functions.gateway.starting import start

async def connected():
    await gateway.connect()
    import fastapi.openapi.models as models
    from pydantic import BaseModel
    built = models.Info.__pydantic_complete__, "defer_build" in BaseModel.model_config
    assert models.Info(title="a", version="1").title == "a"
    print(json.dumps({"modules": [*sys.modules], "built": built}))
    await gateway.close()

gateway = start()
asyncio.run(connected())
"""

DYNAMODB = {
    "HEADRACE_STORE": "dynamodb",
    "HEADRACE_CONFIG_TABLE": "config",
    "HEADRACE_LEDGER_TABLE": "ledger",
    "HEADRACE_KMS_KEY": "alias/sealing",
    "AWS_DEFAULT_REGION": "eu-central-1",
}

# Module -> when it is needed instead.
LATER = {
    "core.catalog.schema": "a catalog file of one's own",
    "core.catalog.file": "a catalog file of one's own",
    "tomllib": "a catalog file of one's own",
    "difflib": "a mistyped name",
    "functions.gateway.openapi": "/docs and /openapi.json",
    "functions.local": "the command, which is not deployed",
    "cryptography": "the first value that is sealed",
    "pydantic.v1": "nothing: FastAPI looks for its models where a route declares parameters",
    "opentelemetry.sdk": "traces, where the settings ask for them",
    "rich": "the command",
    "click": "the command",
    "typer": "the command",
    "uvicorn": "a server",
    "aiohttp": "a server",
    "pytest": "tests",
}


@pytest.fixture(scope="module")
def absent(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is installed here and not deployed, as JSON."""
    exported = tmp_path_factory.mktemp("export") / "requirements.txt"
    export_requirements(ROOT, exported, locate(UV, ROOT))
    deployed = {name.lower() for name in re.findall(r"^([\w.-]+)==", exported.read_text("utf-8"), re.MULTILINE)}
    names = packages_distributions().items()
    return json.dumps([top for top, of in names if not {each.lower().replace("_", "-") for each in of} & deployed])


def started(folder: Path, absent: str, variables: dict[str, str]) -> tuple[set[str], list[bool]]:
    command = [sys.executable, "-c", STARTED, absent]
    environment = {"PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return set(told["modules"]), told["built"]


@pytest.mark.parametrize(
    ("variables", "also_later"),
    [(DYNAMODB, {"sqlite3", "core.store.sqlite"}), ({}, {"boto3", "botocore.session", "core.store.dynamodb"})],
    ids=["dynamodb", "sqlite"],
)
def test_a_start_imports_nothing_that_it_does_not_need(
    tmp_path: Path, absent: str, variables: dict[str, str], also_later: set[str]
) -> None:
    modules, (built, deferred) = started(tmp_path, absent, variables)
    assert modules & (LATER.keys() | also_later) == set()
    assert "core.service" in modules
    # FastAPI's models of documents are there and not built; everybody else's are built as ever.
    assert (built, deferred) == (False, False)
