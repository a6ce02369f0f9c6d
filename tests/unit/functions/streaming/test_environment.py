"""Lambda's variables, as it sets them and as it does not."""

import pytest

from functions.gateway.streaming.environment import EnvironmentInvalid, RuntimeEnvironment

ADDRESS = {"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001"}


def read(**variables: str) -> RuntimeEnvironment:
    return RuntimeEnvironment.from_environ(ADDRESS | variables)


def test_a_plain_function() -> None:
    environment = read(
        AWS_LAMBDA_INITIALIZATION_TYPE="on-demand",
        AWS_LAMBDA_FUNCTION_NAME="gateway",
        AWS_LAMBDA_FUNCTION_VERSION="$LATEST",
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE="1024",
        AWS_LAMBDA_LOG_GROUP_NAME="/aws/lambda/gateway",
        AWS_LAMBDA_LOG_STREAM_NAME="2026/11/30/[$LATEST]abc",
    )
    assert environment == RuntimeEnvironment(
        "127.0.0.1:9001",
        function_name="gateway",
        function_version="$LATEST",
        memory_mb=1024,
        log_group="/aws/lambda/gateway",
        log_stream="2026/11/30/[$LATEST]abc",
    )


@pytest.mark.parametrize(
    ("kind", "snap_start"),
    [
        ("snap-start", True),
        ("on-demand", False),
        ("provisioned-concurrency", False),
        ("lambda-managed-instances", False),
    ],
)
def test_only_one_kind_of_start_is_a_snapshot(kind: str, snap_start: bool) -> None:
    assert read(AWS_LAMBDA_INITIALIZATION_TYPE=kind).snap_start is snap_start


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("64", 64), ("", 1)])
def test_concurrency(text: str, count: int) -> None:
    assert read(AWS_LAMBDA_MAX_CONCURRENCY=text).max_concurrency == count


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "\u0662"])
def test_a_concurrency_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(EnvironmentInvalid, match="AWS_LAMBDA_MAX_CONCURRENCY"):
        read(AWS_LAMBDA_MAX_CONCURRENCY=text)


def test_without_a_runtime_api_there_is_no_environment() -> None:
    with pytest.raises(EnvironmentInvalid, match="AWS_LAMBDA_RUNTIME_API"):
        RuntimeEnvironment.from_environ({})


@pytest.mark.parametrize(
    ("name", "level"),
    [("", "INFO"), ("debug", "DEBUG"), ("TRACE", "DEBUG"), ("WARN", "WARNING"), ("FATAL", "CRITICAL"), ("odd", "INFO")],
)
def test_lambdas_log_levels_are_pythons(name: str, level: str) -> None:
    variables = {"AWS_LAMBDA_LOG_LEVEL": name} if name else {}
    assert read(**variables).log_level == level
