"""What the code imports is what pyproject.toml declares, each with its purpose beside it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions

from tests.architecture.source import ROOT, Reference, fresh, imports, python_files

TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
PROJECT = tomllib.loads(TEXT)
OURS = {"core", "functions"}
DISTRIBUTIONS = packages_distributions()
TYPES_ONLY = ("TYPE_CHECKING", "typing.TYPE_CHECKING")

# Imported by name although another package brings it.
COMES_WITH = {
    "starlette": "fastapi",  # its requests and responses are FastAPI's own
    "botocore": "boto3",  # its errors and client settings are boto3's own
}

# Imported where a setting says so, and not before.
WITH_AN_EXTRA = {"functions/gateway/traces.py"}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", each, maxsplit=1)[0].lower() for each in requirements}


BASE = names(PROJECT["project"]["dependencies"])
EXTRAS = {name for extra in PROJECT["project"]["optional-dependencies"].values() for name in names(extra)}


def at_run_time(tree: ast.Module) -> ast.Module:
    """The module without what only the type checker reads; the tree is changed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in TYPES_ONLY:
            node.body = []
    return tree


def at_import(tree: ast.Module) -> Iterator[Reference]:
    """The imports that run as soon as the module is imported."""
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from imports(statement)


def undeclared(path: str, found: Iterable[Reference], allowed: set[str]) -> Iterator[str]:
    for each in found:
        top = each.name.partition(".")[0]
        if top in OURS or top in sys.stdlib_module_names:
            continue
        candidates = {name.lower().replace("_", "-") for name in DISTRIBUTIONS.get(top, [top])}
        candidates.add(COMES_WITH.get(top, top))
        if not candidates & allowed:
            yield f"{path}:{each.line} imports {each.name}"


def test_everything_imported_is_declared() -> None:
    found: list[str] = []
    for path in python_files("core", "functions"):
        found += undeclared(path, imports(at_run_time(fresh(path))), BASE | EXTRAS)
    assert found == []


def test_the_functions_start_without_any_extra() -> None:
    found: list[str] = []
    for path in python_files("core", "functions"):
        if not path.startswith("functions/local/") and path not in WITH_AN_EXTRA:
            found += undeclared(path, at_import(at_run_time(fresh(path))), BASE)
    assert found == []


def test_every_dependency_says_what_it_is_for() -> None:
    lines = [line.strip() for line in TEXT.split("[build-system]")[0].splitlines()]
    listed = [line for line in lines if re.match(r'"[\w.\[\]-]+.*",', line)]
    unexplained = [line for line in listed if "#" not in line]
    # These say it themselves.
    explained = {'"headrace[server]",', '"headrace[local,traces]",', '"pytest",'}
    assert [line for line in unexplained if line not in explained] == []
