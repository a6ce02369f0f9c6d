"""What the README says is true: its examples run, its commands exist, its links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.catalog.loader import load_catalog
from functions.local.catalog.demo import DEMO_MODEL
from functions.local.main import app
from tests.support.answers import text_answer
from tests.support.command import serving
from tests.support.gateway import CATALOG
from tests.support.upstream import ScriptedUpstream

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_sdk_example_prints_the_answer_as_written(tmp_path: Path) -> None:
    (example,) = blocks("python")
    catalog = tmp_path / "demo.toml"
    with ScriptedUpstream(text_answer("Because", " of", " scattering.")) as upstream:
        catalog.write_text(CATALOG.format(upstream=upstream.url).replace("lab/small", DEMO_MODEL))
        with serving(tmp_path / "data", "--no-demo", "--catalog", str(catalog)) as dev:
            program = example.replace("http://127.0.0.1:8080", dev.url).replace('"hr_..."', f'"{dev.token}"')
            assert program.count(dev.url) == program.count(dev.token) == 1
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("Because of scattering.", 0), done.stderr


@pytest.mark.parametrize("named", ["headrace orgs", "headrace usage"])
def test_the_commands_run_as_written(tmp_path: Path, named: str) -> None:
    (block,) = [each for each in blocks("sh") if named in each]
    environment = {"HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db")}
    if "headrace orgs" not in block:
        assert CliRunner().invoke(app, ["orgs", "create", "acme"], env=environment).exit_code == 0
    for line in block.splitlines():
        piped, _, command = line.rpartition(" | ")
        _, *arguments = shlex.split(command, comments=True)
        stdin = shlex.split(piped)[1] if piped else None
        done = CliRunner().invoke(app, arguments, env=environment, input=stdin)
        assert done.exit_code == 0, (line, done.output, done.exception)


def test_the_catalog_example_is_one() -> None:
    (example,) = blocks("toml")
    catalog = load_catalog([("README.md", example)], lambda vendor: vendor.name == "lab")
    assert [model.id for model in catalog.models] == ["lab/qwen3-8b"]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"^make ([a-z-]+)", README, re.MULTILINE))))
def test_commands_are_targets(target: str) -> None:
    assert re.search(rf"^{target}:.*## ", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
