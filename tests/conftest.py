"""Settings for every test: hypothesis profiles, and what keeps tests/real/ out of the gate.

Markers, timeouts, warnings and the socket ban are configured in pyproject.toml.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REAL = Path(__file__).parent / "real"

settings.register_profile(
    "gate",
    derandomize=True,
    max_examples=40,
    deadline=None,
    # How fast examples are drawn depends on what else the machine does.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    derandomize=False,
    max_examples=5_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import tests/real/ only when the command line names it: its clients are not installed."""
    if collection_path != REAL:
        return None
    named = (config.invocation_params.dir / arg.partition("::")[0] for arg in config.args)
    return None if any(path.resolve().is_relative_to(REAL) for path in named) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in tests/real/, and let it out into the network."""
    for item in items:
        if item.path.is_relative_to(REAL):
            item.add_marker("real")
            item.add_marker("enable_socket")
