"""Started by `bootstrap` in place of Lambda's own runtime: serves the gateway until the environment ends."""

import gc
import sys


def _run() -> int:
    # Imported here, so that no garbage is looked for while modules are made; see `starting`.
    from functions import settings
    from functions.gateway.starting import start
    from functions.gateway.streaming.process import main

    return main(start, settings.environment(), settings.remember_trace)


if __name__ == "__main__":
    gc.disable()
    sys.exit(_run())
