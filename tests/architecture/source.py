"""Reads the project's own Python files, so that tests can say what may stand in them."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a file uses, with import aliases resolved: `sleep` may be `asyncio.sleep`."""

    line: int
    name: str
    call: ast.Call | None = None  # set where the name is called


def python_files(*folders: str) -> list[str]:
    """The Python files below these top-level folders, as paths from the root."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def fresh(path: str) -> ast.Module:
    """One file of the project as a syntax tree of one's own."""
    return ast.parse((ROOT / path).read_text("utf-8"), path)


@cache
def parse(path: str) -> ast.Module:
    """One file of the project as a syntax tree, which is everybody's: it must stay as it is."""
    return fresh(path)


@cache
def imports(tree: ast.AST) -> Sequence[Reference]:
    """Everything imported, wherever the import stands: `from a import b` gives `a.b`."""
    return [*_imports(tree)]


@cache
def references(tree: ast.AST) -> Sequence[Reference]:
    """Every dotted name that is used, calls with their arguments."""
    return [*_references(tree)]


def within(name: str, banned: str) -> bool:
    """Whether a dotted name is the banned one or something inside it."""
    return name == banned or name.startswith(f"{banned}.")


def _imports(tree: ast.AST) -> Iterator[Reference]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Reference(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                yield Reference(node.lineno, f"{node.module}.{alias.name}")


def _references(tree: ast.AST) -> Iterator[Reference]:
    aliases = _aliases(tree)
    called = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and (dotted := _dotted(node)):
            head, dot, rest = dotted.partition(".")
            name = aliases.get(head, head) + dot + rest
            yield Reference(node.lineno, name, called.get(node))


def _aliases(tree: ast.AST) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head or '?'}.{node.attr}"
    return ""
