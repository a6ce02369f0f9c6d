"""Started by `bootstrap` in place of Lambda's own runtime: serves the gateway until the environment ends."""

import sys

from functions import settings
from functions.gateway.streaming.contract import Gateway
from functions.gateway.streaming.process import main


def _prepare() -> Gateway:
    # Imported here and not above, so that a failing import is reported to Lambda as a failed start.
    from functions.gateway.compose import prepare

    variables = settings.environment()
    return prepare(settings.read_settings(variables), variables)


if __name__ == "__main__":
    sys.exit(main(_prepare, settings.environment(), settings.remember_trace))
