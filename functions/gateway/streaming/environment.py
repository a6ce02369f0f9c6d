"""What Lambda tells a runtime through environment variables; never reads them itself, a mapping is handed in."""

from collections.abc import Mapping
from dataclasses import dataclass


class EnvironmentInvalid(ValueError):
    """A variable that Lambda sets is missing or is not what Lambda documents."""


@dataclass(frozen=True, slots=True)
class RuntimeEnvironment:
    """Lambda's variables, read once (AWS Lambda developer guide, "Defined runtime environment variables").

    Args:
        api_address: Host and port of the Runtime API.
        snap_start: Whether this environment becomes a snapshot. Lambda never says so together with provisioned
            concurrency: the variable has one value.
        max_concurrency: How many invocations Lambda sends at a time; 1 except on Managed Instances.
        log_level: Lowest level that is logged, by its name.
        memory_mb: Configured memory in MB.
    """

    api_address: str
    snap_start: bool = False
    max_concurrency: int = 1
    log_level: str = "INFO"
    function_name: str = ""
    function_version: str = ""
    memory_mb: int = 0
    log_group: str = ""
    log_stream: str = ""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "RuntimeEnvironment":
        """Read the variables.

        Raises:
            EnvironmentInvalid: The Runtime API's address is missing, or a number is none.
        """
        api_address = environ.get("AWS_LAMBDA_RUNTIME_API", "")
        if not api_address:
            raise EnvironmentInvalid("AWS_LAMBDA_RUNTIME_API is not set: this program is started by Lambda.")
        return cls(
            api_address=api_address,
            snap_start=environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start",
            max_concurrency=_count(environ, "AWS_LAMBDA_MAX_CONCURRENCY", 1),
            log_level=_level(environ.get("AWS_LAMBDA_LOG_LEVEL", "INFO")),
            function_name=environ.get("AWS_LAMBDA_FUNCTION_NAME", ""),
            function_version=environ.get("AWS_LAMBDA_FUNCTION_VERSION", ""),
            memory_mb=_count(environ, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", 0),
            log_group=environ.get("AWS_LAMBDA_LOG_GROUP_NAME", ""),
            log_stream=environ.get("AWS_LAMBDA_LOG_STREAM_NAME", ""),
        )


def _count(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit()) or int(text) < default:
        raise EnvironmentInvalid(f"{name} is {text!r}: a whole number of at least {default} is expected.")
    return int(text)


# Lambda's names on the left are those that Python's logging does not have.
_LEVELS = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "CRITICAL"}
_KNOWN = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def _level(name: str) -> str:
    level = _LEVELS.get(name.upper(), name.upper())
    return level if level in _KNOWN else "INFO"
