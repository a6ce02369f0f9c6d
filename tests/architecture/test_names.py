"""A file is named for what it is about, not for being useful."""

import re

from tests.architecture.source import python_files

SAYS_NOTHING = re.compile(r"(.*_)?(utils?|helpers?|managers?)|base_.*")


def test_no_module_is_a_drawer() -> None:
    parts = {
        (path, part)
        for path in python_files("core", "functions", "infra", "bench", "tests")
        for part in path.removesuffix(".py").split("/")
    }
    assert sorted(path for path, part in parts if SAYS_NOTHING.fullmatch(part)) == []
