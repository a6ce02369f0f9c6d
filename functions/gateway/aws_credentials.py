"""The process's AWS credentials, for vendors whose calls are signed with them."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
"""One of these is set where a process was given credentials."""


class AwsCredentials:
    """Reads credentials as they are now; blocking, and called from several threads.

    A session takes tens of milliseconds to make and knows when its credentials have to be fetched anew, so one is made
    at the first call and kept.

    Args:
        make_session: Makes a boto3 session, or what has its `get_credentials`.
    """

    def __init__(self, make_session: Callable[[], Any]) -> None:
        self._make_session = make_session
        self._lock = Lock()
        self._found: Any = None

    def __call__(self) -> Any:
        """The credentials, frozen for one signature; None while there are none."""
        with self._lock:
            if self._found is None:
                self._found = self._make_session().get_credentials()
        return None if self._found is None else self._found.get_frozen_credentials()


def aws_credentials(variables: Mapping[str, str]) -> AwsCredentials | None:
    """The reader for a process with these variables; None where they say that it has no credentials.

    Only where they do: boto3 would otherwise ask the instance metadata service, and wait for it where there is none.
    """
    return AwsCredentials(_session) if any(variables.get(name) for name in VARIABLES) else None


def _session() -> Any:
    import boto3  # slow to import, and needed by few

    return boto3.Session()
