"""The reader that the other architecture tests stand on sees through aliases."""

import ast

import pytest

from tests.architecture.source import imports, references, within


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\nasyncio.sleep(1)",
        "import asyncio as a\na.sleep(1)",
        "from asyncio import sleep\nsleep(1)",
        "from asyncio import sleep as pause\nasync def f():\n    await pause(1)",
        "def f():\n    import asyncio\n    wait = asyncio.sleep",
    ],
)
def test_a_name_is_found_however_it_was_imported(code: str) -> None:
    assert "asyncio.sleep" in {found.name for found in references(ast.parse(code))}


def test_a_call_comes_with_its_arguments() -> None:
    calls = [found.call for found in references(ast.parse("f(7)\ng"))]
    assert [ast.unparse(call) for call in calls if call] == ["f(7)"]


def test_an_attribute_of_any_expression_keeps_its_name() -> None:
    names = {found.name for found in references(ast.parse("make().setattr('a', 1)"))}
    assert "?.setattr" in names


def test_imports_are_found_at_every_depth() -> None:
    code = "import os.path\nfrom time import time\ndef f():\n    import random"
    assert {found.name for found in imports(ast.parse(code))} == {"os.path", "time.time", "random"}


def test_within_does_not_confuse_names_that_begin_alike() -> None:
    assert within("os.environ", "os")
    assert within("os", "os")
    assert not within("ossaudiodev", "os")
