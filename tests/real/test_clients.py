"""Programs written with real clients, as their documentation has them, run unmodified against a running gateway.

Each prints JSON lines. With the scripted upstream behind it what it prints is known to the letter and stands beside it,
in `NAME.expected`; with a real model behind it only the words differ.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import KNOWING, TINY, Served
from tests.real.environments import CLIENTS, prepared, program_path, run

# What only a model that knows the right answer can do: no random words follow a prompt, break off or think.
NEED_ANSWERS = {
    ("instructor", "asked_again.py"),
    ("openai_node", "run_tools.mjs"),
    *((path.parent.name, path.name) for path in CLIENTS.glob("*/faults.*") if path.suffix != ".expected"),
}
PROGRAMS = sorted((path.parent.name, path.name) for path in CLIENTS.glob("*/*") if path.suffix in (".py", ".mjs"))
ID = re.compile(r"(req-|chatcmpl-)[0-9a-f]{32}")
PREFIXES = {"/v1": "chatcmpl-", "/api/v1/inference": "req-"}

pytestmark = pytest.mark.timeout(1_200)  # the first test of a client installs it


def programs(*, with_real_model: bool) -> list[Any]:
    chosen = [each for each in PROGRAMS if not (with_real_model and each in NEED_ANSWERS)]
    return [pytest.param(*each, id="/".join(each).partition(".")[0]) for each in chosen]


def printed(served: Served, client: str, program: str, prefix: str, model: str) -> list[Any]:
    command = prepared(client)
    path = program_path(client, program)
    seen = len(served.log)
    try:
        output = run([*command, str(path)], path.parent, served.environment(prefix, model))
    except pytest.fail.Exception as failure:
        pytest.fail(f"{failure.msg}\nThe gateway's log:\n{''.join(served.log[seen:])}")
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def expected(client: str, program: str) -> list[Any]:
    text = (CLIENTS / client / Path(program).with_suffix(".expected")).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def without_ids(line: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The line with `ID` for ids that have their form: the surface's for answers, `req-` for requests."""

    def is_id(name: str, value: Any) -> bool:
        found = ID.fullmatch(value) if isinstance(value, str) else None
        return found is not None and found[1] == (prefix if name == "id" else "req-")

    return {name: "ID" if is_id(name, value) else value for name, value in line.items()}


def shape(value: Any) -> Any:
    """What a value is, without saying what it says."""
    match value:
        case dict():
            return {name: shape(inner) for name, inner in value.items()}
        case list():
            return sorted({str(shape(inner)) for inner in value})
        case bool():
            return value
        case int() | float():
            return "number"
        case _:
            return type(value).__name__


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("client", "program"), programs(with_real_model=False))
def test_a_client_prints_what_it_must(served: Served, client: str, program: str, prefix: str) -> None:
    lines = printed(served, client, program, prefix, KNOWING)
    assert [without_ids(line, PREFIXES[prefix]) for line in lines] == expected(client, program)
    assert served.upstream.refused == []


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("client", "program"), programs(with_real_model=True))
def test_a_client_works_with_a_real_model(served: Served, client: str, program: str, prefix: str) -> None:
    lines = printed(served, client, program, prefix, TINY)
    assert [shape(line) for line in lines] == [shape(line) for line in expected(client, program)]
