"""The folder that `sam build` takes holds what the function runs, and only that."""

import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.scripts.locate import UV, Tool, ToolMissing, locate
from infra.scripts.stage import (
    LEFT_OUT,
    TRACES,
    WRAPPER,
    NotStageable,
    check_wrapper,
    export_requirements,
    sources,
    stage,
)
from tests.support.stack import ROOT

# Of the developer's command, of servers, of tests: never on Lambda.
NOT_ON_LAMBDA = {"typer", "rich", "xllamacpp", "uvicorn", "aiohttp", "pytest", "mypy", "ministack"}


@pytest.fixture(scope="session")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage") / "gateway"
    catalog = folder.with_name("mine.toml")
    catalog.write_text("# a catalog of one's own\n", "utf-8")
    stage(ROOT, folder, locate(UV, ROOT), catalog)
    return folder


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_runs_is_there_and_nothing_else(staged: Path) -> None:
    found = files(staged)
    assert found >= {"functions/gateway/buffered.py", WRAPPER.as_posix(), "core/chat.py"}
    assert {path.partition("/")[0] for path in found} == {
        "core",
        "functions",
        "requirements.txt",
        "catalog.toml",
    }
    odd = [path for path in found if re.search(r"(^|/)(\.|__pycache__|tests?/|test_)|\.pyc$", path)]
    assert odd == []


def test_other_entry_points_are_left_out(staged: Path) -> None:
    assert not [path for path in files(staged) if path.startswith(tuple(LEFT_OUT))]


def test_modes_hold_whatever_the_umask_was(staged: Path) -> None:
    modes = {
        path.relative_to(staged).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in staged.rglob("*")
        if path.is_file()
    }
    assert modes.pop(WRAPPER.as_posix()) == 0o755
    assert set(modes.values()) == {0o644}


def test_the_wrapper_has_unix_line_ends(staged: Path) -> None:
    text = (staged / WRAPPER).read_bytes()
    assert text.startswith(b"#!")
    assert b"\r" not in text


def test_requirements_are_pinned_hashed_and_of_the_request_path(staged: Path) -> None:
    text = (staged / "requirements.txt").read_text("utf-8")
    wheels_only, *lines = text.replace("\\\n", "").splitlines()
    assert wheels_only == "--only-binary :all:"
    names = {line.partition("==")[0] for line in lines}
    assert names >= {"fastapi", "mangum", "httpx", "pydantic", "orjson", "botocore"}
    assert names & NOT_ON_LAMBDA == set()
    assert "headrace" not in names
    assert all("==" in line and "--hash=sha256:" in line for line in lines)


def test_the_libraries_of_traces_are_added_where_they_are_asked_for(staged: Path, tmp_path: Path) -> None:
    export_requirements(ROOT, tmp_path / "requirements.txt", locate(UV, ROOT), [TRACES])
    added = (tmp_path / "requirements.txt").read_text("utf-8")
    without = (staged / "requirements.txt").read_text("utf-8")
    assert set(without.splitlines()) < set(added.splitlines())
    assert "opentelemetry-sdk==" in added
    assert "opentelemetry-sdk==" not in without


def test_staging_again_leaves_nothing_of_before(tmp_path: Path) -> None:
    folder = tmp_path / "gateway"
    (folder / "core").mkdir(parents=True)
    (folder / "core/gone.py").write_text("", "utf-8")
    stage(ROOT, folder, locate(UV, ROOT))
    assert not (folder / "core/gone.py").exists()
    assert not (folder / "catalog.toml").exists()


def test_a_catalog_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotStageable, match="is not a file"):
        stage(ROOT, tmp_path / "gateway", locate(UV, ROOT), tmp_path / "no.toml")


def test_caches_notes_and_hidden_files_are_not_sources(tmp_path: Path) -> None:
    kept = ["core/a.py", "core/catalog/catalog.toml", "functions/gateway/bootstrap", "functions/rollup/handler.py"]
    dropped = [
        "core/__pycache__/a.cpython-311.pyc",
        "core/.hidden.py",
        "core/notes.md",
        "core/py.typed",
        "functions/local/main.py",
        "functions/local/deep/er.py",
        "tests/test_a.py",
    ]
    for name in [*kept, *dropped]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", "utf-8")
    assert [path.as_posix() for path in sources(tmp_path)] == kept


@pytest.mark.parametrize(
    ("content", "mode", "complaint"),
    [
        (b"#!/bin/sh\r\nexec x\r\n", 0o755, "Windows line ends"),
        (b"exec x\n", 0o755, "#!"),
        (b"#!/bin/sh\nexec x\n", 0o644, "not executable"),
        (None, 0o755, "missing"),
    ],
)
def test_a_wrapper_that_lambda_could_not_start_is_refused(
    tmp_path: Path, content: bytes | None, mode: int, complaint: str
) -> None:
    wrapper = tmp_path / "bootstrap"
    if content is not None:
        wrapper.write_bytes(content)
        wrapper.chmod(mode)
    with pytest.raises(NotStageable, match=complaint):
        check_wrapper(wrapper)


def test_a_failed_export_says_why(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname="x"\nversion="1"\n', "utf-8")
    with pytest.raises(NotStageable, match="uv export failed"):
        export_requirements(tmp_path, tmp_path / "requirements.txt", locate(UV, ROOT))


def test_a_missing_tool_is_named_with_what_makes_it(tmp_path: Path) -> None:
    tool = Tool("no-such-program", "kept/no-such-program", "make it")
    with pytest.raises(ToolMissing, match="make it"):
        locate(tool, tmp_path)


def test_the_projects_own_tool_comes_before_the_one_on_the_path(
    tmp_path: Path, program: Callable[[Path], Path]
) -> None:
    own = program(tmp_path / "kept/sh")
    assert locate(Tool("sh", "kept/sh", ""), tmp_path) == own
    other = program(tmp_path / "other/sh")
    assert locate(Tool("sh", "kept/sh", ""), tmp_path, other) == other
    assert locate(Tool("sh", "not-kept/sh", ""), tmp_path).name == "sh"


def test_a_named_tool_that_cannot_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match="not a program that can be run"):
        locate(UV, ROOT, tmp_path / "uv")


@pytest.fixture
def program() -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n", "utf-8")
        path.chmod(0o755)
        return path

    return make
