"""A pytest plugin that makes the scenario matrix of the tests that ran: `pytest -p tests.support.matrix_plugin`.

With `--collect-only` it is made of the tests that there are; `--matrix-document` writes it to docs/ too.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from core.catalog.model import Format
from tests.support.matrix import DOCUMENT, Cell, Matrix, document

_PROPERTY = "shows"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--matrix-document", action="store_true", help="write the scenario matrix to docs/matrix.md")


def pytest_configure(config: pytest.Config) -> None:
    """Add what collects."""
    config.pluginmanager.register(_Collector(config), "scenario-matrix")


def shown_by(item: pytest.Item) -> Iterator[Cell]:
    """The cells that a test shows: by its marks and by its golden transcript, for the format that it is about."""
    callspec = getattr(item, "callspec", None)
    params: list[Any] = list(callspec.params.values()) if callspec else []
    wires = [wire for param in params if isinstance(wire := getattr(param, "format", param), Format)]
    for param in params:
        if isinstance(wire := getattr(param, "format", None), Format):
            for what in getattr(param, "shows", ()):
                yield wire.value, what
    for mark in item.iter_markers(_PROPERTY):
        about = [mark.kwargs["format"]] if "format" in mark.kwargs else wires
        for wire in about:
            for what in mark.args:
                yield wire.value, what


class _Collector:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._matrix = Matrix()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        others: list[pytest.Item] = []
        for item in items:
            cells = sorted(set(shown_by(item)))
            item.user_properties.append((_PROPERTY, cells))
            (kept if cells else others).append(item)
            if config.option.collectonly:
                self._matrix.add(cells, is_good=True)
        config.hook.pytest_deselected(items=others)
        items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            for name, cells in report.user_properties:
                if name == _PROPERTY and isinstance(cells, list):
                    self._matrix.add(map(tuple, cells), is_good=report.passed)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("scenario matrix")
        for line in self._matrix.table(counts=True):
            terminalreporter.write_line(line)
        for problem in self._matrix.problems():
            terminalreporter.write_line(problem, red=True)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self._config, "workerinput"):
            return  # the controller has them all
        if self._config.getoption("--matrix-document"):
            DOCUMENT.write_text(document(self._matrix), "utf-8")
        if self._matrix.problems():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
