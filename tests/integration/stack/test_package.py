"""One real `sam build`: the package holds nothing but what runs, for the machine that runs it.

Takes the locked wheels from the package registry, or from uv's cache of them.
"""

import ast
import csv
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from infra.scripts.build import RUNTIME, Tools, build, compile_all, find_compiler, zipped_bytes
from infra.scripts.locate import SAM, UV, ToolMissing, locate
from infra.scripts.stage import WRAPPER, sources
from infra.scripts.trim import SERVICES, UNUSED
from tests.support.stack import ROOT, tool

LIMIT = 25_000_000
# Bytecode makes the package less than twice as large; this build has none, so that its size does
# not depend on which interpreters the machine has.
LIMIT_WITHOUT_BYTECODE = LIMIT // 2

AARCH64 = 183  # e_machine of ELF

# Modules that the package may name without having them, and why that is right.
ABSENT: dict[str, str] = {}

pytestmark = [pytest.mark.xdist_group("sam-build"), pytest.mark.timeout(600)]


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tool("sam")
    tools = Tools(locate(UV, ROOT), locate(SAM, ROOT), compiler=None)
    return build(ROOT, tmp_path_factory.mktemp("build"), tools)


def contents(folder: Path) -> list[tuple[str, int, str]]:
    """Path, mode and hash of every file, in order."""
    return [
        (
            path.relative_to(folder).as_posix(),
            stat.S_IMODE(path.stat().st_mode),
            sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def test_a_second_build_is_the_same(package: Path, tmp_path: Path) -> None:
    """In another folder, at another time, with what the first one left in caches; the nested templates included."""
    tools = Tools(locate(UV, ROOT), locate(SAM, ROOT), compiler=None)
    again = build(ROOT, tmp_path, tools)
    first, second = contents(package.parent), contents(again.parent)
    assert second == first
    assert {"template.yaml", "Watcher/template.yaml", "Edge/template.yaml"} <= {path for path, _, _ in first}


def files(package: Path) -> set[Path]:
    return {path.relative_to(package) for path in package.rglob("*") if path.is_file()}


def distributions(package: Path) -> dict[str, Path]:
    return {folder.name.partition("-")[0]: folder for folder in package.glob("*.dist-info")}


def test_every_file_is_ours_or_of_a_locked_dependency(package: Path) -> None:
    recorded = set()
    for folder in distributions(package).values():
        with (folder / "RECORD").open(encoding="utf-8", newline="") as record:
            recorded |= {Path(row[0]) for row in csv.reader(record)}
    assert files(package) - set(sources(ROOT)) - recorded == set()


def test_all_of_our_sources_are_there_unchanged(package: Path) -> None:
    for source in sources(ROOT):
        assert (package / source).read_bytes() == (ROOT / source).read_bytes()


def test_all_functions_share_the_package(package: Path) -> None:
    built = (package.parent / "template.yaml").read_text("utf-8")
    assert re.findall(r"CodeUri: (\S+)", built) == [package.name] * 3


def test_dependencies_are_those_of_the_request_path(package: Path) -> None:
    exported = (package.parents[2] / ".stage/gateway/requirements.txt").read_text("utf-8")
    pinned = {re.sub(r"[-_.]+", "_", name) for name in re.findall(r"^([\w.-]+)==", exported, re.MULTILINE)}
    assert distributions(package).keys() <= pinned
    assert {"fastapi", "mangum", "httpx", "pydantic", "orjson", "botocore"} <= distributions(package).keys()


def test_binaries_are_for_the_functions_python_and_processor(package: Path) -> None:
    binaries = [path for path in files(package) if ".so" in path.suffixes]
    assert binaries
    tag = re.compile(rf"\.(cpython-{RUNTIME[0]}{RUNTIME[1]}-aarch64-linux-gnu|abi3)\.so$")
    for binary in binaries:
        head = (package / binary).read_bytes()[:20]
        assert head[:4] == b"\x7fELF", binary
        assert int.from_bytes(head[18:20], "little") == AARCH64, binary
        assert tag.search(binary.name), binary


def test_the_wrapper_can_be_started(package: Path) -> None:
    wrapper = package / WRAPPER
    assert stat.S_IMODE(wrapper.stat().st_mode) == 0o755
    assert b"\r" not in wrapper.read_bytes()


def test_lambdas_user_can_read_everything(package: Path) -> None:
    for path in package.rglob("*"):
        needed = 0o555 if path.is_dir() else 0o444
        assert path.stat().st_mode & needed == needed, path


def test_nothing_that_does_not_run_is_left(package: Path) -> None:
    assert [name for name in UNUSED if (package / name).exists()] == []
    assert [path.name for path in package.glob(".*")] == []
    assert [path for path in files(package) if path.suffix == ".pyc"] == []
    described = {folder.name for folder in (package / "botocore/data").iterdir() if folder.is_dir()}
    assert described == SERVICES


def test_the_package_is_small(package: Path) -> None:
    assert zipped_bytes(package) < LIMIT_WITHOUT_BYTECODE


def test_what_is_left_of_botocore_makes_every_client(package: Path) -> None:
    """All of it is plain Python, so the interpreter of the tests can run it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from botocore import session\n"
        "assert session.__file__.startswith(sys.argv[1])\n"
        "for name in sys.argv[2:]:\n"
        "    session.Session().create_client("
        "name, 'us-east-1', aws_access_key_id='a', aws_secret_access_key='b')\n"
    )
    command = [sys.executable, "-I", "-B", "-S", "-c", code, str(package), *sorted(SERVICES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_everything_that_our_sources_import_is_there(package: Path) -> None:
    missing = set()
    for source in sources(ROOT):
        if source.suffix == ".py":
            tree = ast.parse((ROOT / source).read_text("utf-8"))
            for module in imported(tree, source):
                root = module.partition(".")[0]
                if root not in sys.stdlib_module_names | ABSENT.keys() and not has(package, module):
                    missing.add(f"{source}: {module}")
    assert missing == set()


def imported(node: ast.AST, source: Path) -> Iterator[str]:
    """Modules that are imported when the code runs; not those for the type checker alone."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, level=0):
            yield module or ""
        case ast.ImportFrom(module=module, level=level):
            package = ".".join(source.parts[:-level])
            yield f"{package}.{module}" if module else package
        case _:
            for child in ast.iter_child_nodes(node):
                yield from imported(child, source)


def has(package: Path, module: str) -> bool:
    root, *inner = module.split(".")
    if root not in {"core", "functions"}:
        # Of a dependency only the first part: it may build the others itself.
        inner = []
    path = package.joinpath(root, *inner)
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()


def test_bytecode_is_of_the_functions_python_and_names_lambdas_paths(tmp_path: Path) -> None:
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("BYTECODE NOT TRIED: no Python {}.{} here".format(*RUNTIME))
    (tmp_path / "core").mkdir()
    (tmp_path / "core/a.py").write_text("x = 1\n", "utf-8")
    compile_all(tmp_path, compiler)
    (compiled,) = tmp_path.rglob("*.pyc")
    assert compiled.name == "a.cpython-{}{}.pyc".format(*RUNTIME)
    content = compiled.read_bytes()
    assert b"/var/task/core/a.py" in content
    # Checked neither by time stamp nor by hash: flags 0b01.
    assert content[4:8] == b"\x01\0\0\0"


@pytest.mark.slow  # what the gate measures without bytecode leaves room for it
def test_with_bytecode_it_is_small_enough_and_the_same_every_time(package: Path, tmp_path: Path) -> None:
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("BYTECODE NOT TRIED: no Python {}.{} here".format(*RUNTIME))
    for name in ("first", "second"):
        shutil.copytree(package, tmp_path / name)
        compile_all(tmp_path / name, compiler)
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    assert zipped_bytes(tmp_path / "first") < LIMIT


def test_a_compiler_of_another_version_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho cpython 3 9\n", "utf-8")
    other.chmod(0o755)
    with pytest.raises(ToolMissing, match=r"not a Python 3\.13"):
        find_compiler(other)
