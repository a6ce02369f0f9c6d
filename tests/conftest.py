"""Settings for every test: hypothesis profiles, and what keeps tests/real/ out of the gate.

Markers, timeouts, warnings and the socket ban are configured in pyproject.toml.
"""

import os
from pathlib import Path

import pytest
from _pytest.nodeid import NodeId
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
REAL = TESTS / "real"

# Their tests take long where every line is watched, and what they reach, smaller tests reach too.
UNMEASURED = [
    TESTS / name
    for name in (
        "architecture",
        *(f"laws/test_{name}_format.py" for name in ("anthropic", "bedrock", "gemini", "openai")),
        *(f"laws/test_{name}_requests.py" for name in ("anthropic", "gemini")),
        *(f"laws/test_{name}.py" for name in ("caller_stream", "policies", "routing", "surface", "transcripts")),
        *(
            f"integration/{folder}"
            for folder in ("catalog", "clients", "lambda", "local", "openapi", "readme", "stack")
        ),
        *(
            f"integration/formats/test_{name}.py"
            for name in ("conversation", "leaving", "memory", "silence", "statuses")
        ),
        *(f"integration/gateway/test_{name}.py" for name in ("chat", "faults", "killed", "slow_hosts", "soak")),
    )
]

settings.register_profile(
    "gate",
    derandomize=True,
    max_examples=20,
    deadline=None,
    # How fast examples are drawn depends on what else the machine does.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "brief",  # for a second run, on another Python
    settings.get_profile("gate"),
    max_examples=5,
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by the folder that they lie in, and name their groups; tests/real/ is let out into the network."""
    if getattr(config.option, "loadgroup", False):  # `--dist loadgroup`, in a worker
        for item in items:
            _name_group(item)
    for item in items:
        if item.path.is_relative_to(REAL):
            item.add_marker("real")
            item.add_marker("enable_socket")
        elif any(item.path.is_relative_to(folder) for folder in UNMEASURED):
            item.add_marker("no_cover")


def _name_group(item: pytest.Item) -> None:
    """Put a test's `xdist_group` where the scheduler looks for it.

    xdist 3.8 does so itself, but into an attribute that pytest 9.2 has no more: without this the mark has no effect.
    """
    for mark in item.iter_markers("xdist_group"):
        suffix = f"@{mark.args[0]}"
        if not item.nodeid.endswith(suffix):
            item._id = NodeId.parse(item.nodeid + suffix)
